"""The attack on the agent, on small made models and tables."""
