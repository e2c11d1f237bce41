"""Tests of agent.daemon.desk."""
