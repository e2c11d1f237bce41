"""Tests of agent.lab.questions."""
