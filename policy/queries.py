"""Which rules a query is meant by: few of many patterns are tried, by how they begin."""

from collections.abc import Iterable, Mapping

from policy.rules import Rule
from policy.words import Words

BEGIN = 2  # characters


class Queries:
    """Rules by the queries that they name."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Take the rules; those that name no query are found by none."""
        rules_of: dict[Words, list[Rule]] = {}
        for rule in rules:
            for words in rule.queries:
                rules_of.setdefault(words, []).append(rule)
        self._begun: dict[str, list[tuple[Words, list[Rule]]]] = {}
        for words, named in rules_of.items():
            # A query with the words has their beginning, up to the first * at the least.
            begin = words.text.partition("*")[0][:BEGIN]
            self._begun.setdefault(begin, []).append((words, named))
        self._sizes = {len(begin) for begin in self._begun}

    def find(self, query: str) -> Mapping[Rule, int]:
        """Return the rules for a spoken query, each with how specific it is there."""
        found: dict[Rule, int] = {}
        begins = {query[at : at + size] for size in self._sizes for at in range(len(query))}
        for begin in self._begun.keys() & begins:
            for words, rules in self._begun[begin]:
                if words.matches(query):
                    for rule in rules:
                        found[rule] = max(found.get(rule, 0), words.rank)
        return found
