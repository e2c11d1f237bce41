"""What opens the vault: key slots, and the secrets that open these."""
