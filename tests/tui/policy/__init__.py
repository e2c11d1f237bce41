"""Tests of the screen of the policy."""
