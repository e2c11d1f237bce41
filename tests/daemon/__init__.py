"""Tests of agent.daemon."""
