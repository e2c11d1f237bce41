"""Tests of agent.lab."""
