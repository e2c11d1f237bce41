"""The policy language: which facts may be sent, to whom, and how much each must help."""
