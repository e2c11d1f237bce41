"""Tests of the search service."""
