"""Benchmarks: what is claimed, and the command that prints it."""
