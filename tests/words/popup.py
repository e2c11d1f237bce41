"""The popup's words, generated: `python -m tests.words.popup` writes them anew.

Titles of attributes and values are those of the shipped models; those of the second and third facts
of a kind follow from that of the first. Where two of them give an attribute of one name different
titles, the popup, which does not know the model, shows the name.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent.model.attributes import Attribute
from agent.model.file import read, shipped_models
from agent.words.titles import REASONS, WHY_NOTHING, value_title
from policy.services import assistants
from tests.house.tree import ROOT

PLACE = ROOT / "agent" / "browser_extension" / "popup" / "words.js"
HEAD = "/** Generated from agent/words by `python -m tests.words.popup`: change it there. */\n"


def words() -> str:
    """Return the whole module."""
    attributes = [each for path in shipped_models() for each in read(path).attributes]
    first = [each for each in attributes if not each.further]
    titles = {name: {e.title for e in first if e.name == name} for name in names(first)}
    tables: dict[str, Mapping[Any, object]] = {
        "WHY_NOTHING": {**WHY_NOTHING},
        "ASSISTANTS": {
            each.address: {"name": each.name, "recipient": each.recipient} for each in assistants()
        },
        "REASONS": {**REASONS},
        "TITLES": {name: min(found) for name, found in titles.items() if len(found) == 1},
        "VALUES": {
            value: title
            for each in attributes
            for value in each.values
            if (title := value_title(value)) != value.replace("_", " ")
        },
        "VALUES_OF": {
            name: own
            for name in names(attributes)
            if (own := own_titles([each for each in attributes if each.name == name]))
        },
    }
    texts = (
        f"export const {name} = {json.dumps(table, indent=2, ensure_ascii=False)};\n"
        for name, table in tables.items()
    )
    return "\n".join([HEAD, *texts])


def names(attributes: Sequence[Attribute]) -> list[str]:
    return [*dict.fromkeys(each.name for each in attributes)]


def own_titles(attributes: Sequence[Attribute]) -> dict[str, str]:
    """Return the titles of the values of attributes of one name that are not those of any."""
    pairs = [(each.title, value) for each in attributes for value in each.values]
    titles = {value: value_title(value, title) for title, value in pairs}
    return {value: title for value, title in titles.items() if title != value_title(value)}


if __name__ == "__main__":
    PLACE.write_text(words())
