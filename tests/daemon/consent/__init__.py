"""What the user consents to."""
