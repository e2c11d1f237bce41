"""Tests of what is made of a search log."""
