"""Tests of agent.tradeoff: laws on drawn instances, against definitions written out plainly."""
