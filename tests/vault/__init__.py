"""Tests of agent.vault."""
