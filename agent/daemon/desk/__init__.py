"""What waits for the user, what the user has said, and how it gets into the policy."""
