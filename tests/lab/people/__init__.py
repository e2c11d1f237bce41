"""Tests of the study of people: samples, predictions, bars."""
