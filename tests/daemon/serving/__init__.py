"""Tests of agent.daemon.serving."""
