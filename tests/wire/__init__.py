"""Tests of agent/wire."""
