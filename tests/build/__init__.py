"""Tests of agent.build: small drawn tables, against definitions written out plainly."""
