"""Tests of agent.daemon.service."""
