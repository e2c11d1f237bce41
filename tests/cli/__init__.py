"""The command line: what it prints, what it refuses, and with which exit code."""
