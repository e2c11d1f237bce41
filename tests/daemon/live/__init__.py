"""Tests of agent.daemon.live."""
