"""The policy and the models, read again when they change."""
