"""Tests of agent.vault.sealed."""
