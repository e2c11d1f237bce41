"""Assistants: what lets them ask for the few facts about their user that help an answer.

A client of the daemon's query socket like any other. It has no keys, and does no mathematics.
"""
