"""Tests of agent.daemon.deciding."""
