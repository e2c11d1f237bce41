"""The user's own values, and which of them may leave: `page` is the screen, the rest its parts."""
