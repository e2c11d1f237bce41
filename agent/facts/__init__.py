"""Facts in the user's own words: split, given a kind and a value, compared with those stored.

Pure: texts and a model in, values out. `splitting.statements_of` makes single facts of a text.
"""

from agent.decision.values import Proposal
from agent.facts.proposals import Facts, marked, proposals, relevance
from agent.facts.splitting import statements_of

__all__ = ["Facts", "Proposal", "marked", "proposals", "relevance", "statements_of"]
