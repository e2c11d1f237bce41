"""Tests of agent.lab.paper."""
