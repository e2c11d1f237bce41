"""The browsers of this machine: the relay that they start, and what tells them of it."""
