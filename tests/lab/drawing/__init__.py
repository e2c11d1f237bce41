"""Tests of agent.lab.drawing."""
