"""Tests of the screen of the user's own values."""
