"""The policy language: what may leave, to whom, and what it must bring (FORMAT.md)."""
