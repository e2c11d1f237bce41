"""Tests of agent.daemon.policing."""
