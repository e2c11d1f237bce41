"""Tests of agent.daemon.browsers."""
