"""Tests of agent.wire."""
