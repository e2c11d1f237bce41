"""Values as somebody would write them who names them later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from unicodedata import normalize

from agent.build.columns import INTENT
from agent.build.tables import distinct_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ibis

    from agent.build.tables import Source


def clean(source: Source) -> Source:
    """Return the tables with values and intents in NFC, without white space around them.

    What is white space only is not given. Source: UAX 15.
    """
    return replace(
        source,
        users=_clean(source.users, source.persons),
        events=_clean(source.events, (*source.requests, INTENT)),
    )


def _clean(table: ibis.Table, names: Sequence[str]) -> ibis.Table:
    if not names:
        return table
    lists = distinct_values(table, names).to_pyarrow().to_pylist()[0]
    columns = {}
    for name in names:
        given = [each for each in lists[name] or [] if each is not None]
        # Engines differ in what they normalise, and in which spaces they know.
        cases = [(each, neat) for each in given if (neat := _neat(each)) != each]
        if cases:
            columns[name] = table[name].cases(*cases, else_=table[name]).nullif("")
    return table.mutate(**columns) if columns else table


def _neat(text: str) -> str:
    return normalize("NFC", text).strip()
