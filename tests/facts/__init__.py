"""Tests of facts in the user's own words: split, weighed, compared."""
