"""A search engine that listens: searx, and SearXNG, with a plugin for the two headers."""
