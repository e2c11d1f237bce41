"""What the service says about each query and each result: texts.toml beside this file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent.model.attributes import Query

TEXTS = Path(__file__).parent / "texts.toml"


@dataclass(frozen=True, slots=True)
class Entry:
    """One result, as people read it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One known query: its ``name`` in the model, and ``results``, one for each intent."""

    name: str
    title: str
    text: str
    results: tuple[Entry, ...]


def questions(queries: Iterable[Query]) -> tuple[Question, ...]:
    """Look up the question of each query; one that nothing was written about has no text."""
    return tuple(_question(query) for query in queries)


def _question(query: Query) -> Question:
    written = _written().get(query.text, {})
    texts = written.get("results", {})
    results = tuple(Entry(plain(each), texts.get(each, "")) for each in query.intents)
    return Question(query.text, plain(query.title or query.text), written.get("text", ""), results)


def plain(name: str) -> str:
    """Write a name of the model as words, the first letter a capital."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


@cache
def _written() -> Mapping[str, Any]:
    return tomllib.loads(TEXTS.read_text("utf-8"))
