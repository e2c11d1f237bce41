"""A search engine that listens: its rules, and the real one."""
