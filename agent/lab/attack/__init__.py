"""The agent under attack: what an adversary learns from what it tells, and what that brings."""
