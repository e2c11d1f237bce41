"""Tests of the screen of requests."""
