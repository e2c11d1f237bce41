"""From one request to its decision, and from the decision to an answer."""
