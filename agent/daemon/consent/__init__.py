"""What the user consents to: what waits, what was said of it, and how it is remembered."""
