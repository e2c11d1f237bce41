"""What a newcomer runs, and reads."""
