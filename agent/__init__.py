"""Reticent, a person's own agent: it decides which few private facts a request may carry."""

__version__ = "0.1.0"
