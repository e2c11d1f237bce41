"""Tests of the screen of recipients."""
