"""Tests of agent.model."""
