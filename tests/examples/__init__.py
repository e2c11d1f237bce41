"""Tests of examples/: what is there to be copied."""
