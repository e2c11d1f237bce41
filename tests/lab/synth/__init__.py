"""Tests of agent.lab.synth."""
