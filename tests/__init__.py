"""The tests, one folder per room, and the house's own."""
