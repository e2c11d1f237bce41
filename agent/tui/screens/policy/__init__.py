"""The policy: its problems, its rules, and which of them decided last."""
