"""Tests of agent.decision."""
