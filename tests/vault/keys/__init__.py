"""Tests of agent.vault.keys."""
