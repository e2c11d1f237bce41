"""What the user consents to: what waits for their word, and what their word does."""
