"""Studies: reproduce the paper, attack the agent, draw the figures (the extra `lab`)."""
