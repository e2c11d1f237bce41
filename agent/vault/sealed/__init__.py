"""Sealed rows in one SQLite file (../FORMAT.md)."""
