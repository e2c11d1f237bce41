"""Encrypted at rest: key slots, a sealed store, the profile and the ledger (FORMAT.md)."""
