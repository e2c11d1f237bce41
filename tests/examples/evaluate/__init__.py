"""The evaluation of the search service, on small made models and tables."""
