"""People whom a model has not seen, asking a service that ranks by it."""
