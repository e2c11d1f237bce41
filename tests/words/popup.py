"""The popup's words, generated: `python -m tests.words.popup` writes them anew.

Titles of attributes and values are those of the shipped model.
"""

import json
from collections.abc import Mapping

from agent.model.file import read, shipped_model
from agent.words.outcomes import BROWSER, BROWSER_STATES, REASONS, WHY_NOTHING
from agent.words.titles import value_title
from tests.house.tree import ROOT

PLACE = ROOT / "examples" / "browser_extension" / "popup" / "words.js"
HEAD = "/** Generated from agent/words by `python -m tests.words.popup`: change it there. */\n"


def words() -> str:
    """Return the whole module."""
    attributes = read(shipped_model()).attributes
    states = {key: {"text": text, "hint": hint} for key, (text, hint) in BROWSER_STATES.items()}
    tables: dict[str, Mapping[str, object]] = {
        "STATES": states,
        "WHY_NOTHING": dict[str, object]((*WHY_NOTHING.items(), *BROWSER.items())),
        "REASONS": REASONS,
        "TITLES": {each.name: each.title for each in attributes},
        "VALUES": {
            value: title
            for each in attributes
            for value in each.values
            if (title := value_title(value, each.title)) != value.replace("_", " ")
        },
    }
    texts = (
        f"export const {name} = {json.dumps(table, indent=2, ensure_ascii=False)};\n"
        for name, table in tables.items()
    )
    return "\n".join([HEAD, *texts])


if __name__ == "__main__":
    PLACE.write_text(words())
