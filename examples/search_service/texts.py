"""What the service says about each query and each result: texts/*.toml beside this file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent import Query

FOLDER = Path(__file__).parent / "texts"


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
    """Return the question of each query; what no text is written for has its name for a title."""
    return tuple(_question(query) for query in queries)


def _question(query: Query) -> Question:
    written = _written()
    table = written.get(query.text, {})
    texts = written.get(table.get("results_of", query.text), {}).get("results", {})
    results = tuple(Entry(*texts.get(intent, (plain(intent), ""))) for intent in query.intents)
    title = table.get("title", plain(query.text))
    return Question(query.text, title, table.get("text", ""), results)


def plain(name: str) -> str:
    """Return a name of the model as words."""
    return name.replace("_", " ")


@cache
def _written() -> Mapping[str, Any]:
    tables: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        tables |= tomllib.loads(path.read_text("utf-8"))
    return tables
