"""The line that says who asks, for a chat box or an assistant: a phrase for each fact.

Titles and values come from model files, and a model may be anybody's: to an assistant they are
text that somebody else wrote. Each is cut, and has nothing in it that steers who reads it.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from agent.words.titles import fact, value_title

LONGEST = 80  # characters of a title, a value or a phrase
SEPARATOR = ", "
REST = "else"  # the key of what is said for a value that has no phrase of its own
# Markup of prompts and pages, and letters that nobody sees, in which text can be hidden.
_STEERING = re.compile(
    "[<>\\[\\]{}`|\\\\\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"
    "\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def plain(text: str, most: int = LONGEST) -> str:
    """Return text of a model's maker in one short line: printable, without markup."""
    kept = _STEERING.sub(" ", text)
    line = " ".join("".join(each if each.isprintable() else " " for each in kept).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


@cache
def _phrases() -> Mapping[str, Mapping[str, str]]:
    """Return the phrases of values by the title of their attribute."""
    return tomllib.loads((files("agent.words") / "phrases.toml").read_text("utf-8"))


def phrase(title: str, value: str) -> str:
    """Return what a value says of a person, as a phrase that stands alone: 35 to 44 years old.

    ``title``: of the attribute. One that is not known here is named beside its value.
    """
    known = _phrases().get(title, {})
    found = known.get(value, known.get(REST))
    if found is None:
        return plain(fact(title, value))
    return plain(found.replace("{value}", value_title(value, title)))


def about(phrases: Iterable[str], whom: str = "me") -> str:
    """Return the line of these phrases, each once; empty where there are none.

    About me: 35 to 44 years old, children under 18 at home.
    """
    line = SEPARATOR.join(dict.fromkeys(phrases))
    return line and f"About {whom}: {line}"
