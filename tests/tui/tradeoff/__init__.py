"""Tests of the trade-off screen."""
