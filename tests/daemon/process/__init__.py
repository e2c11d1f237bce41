"""Tests of agent.daemon.process."""
