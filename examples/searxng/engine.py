"""An engine for searx without a network: it searches the pages of pages.toml beside it.

settings.yml names it twice, by its path: once for each ``topic``.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

engine_type = "offline"
topic = "general"  # settings.yml may set another
_PAGES = tomllib.loads(Path(__file__).with_name("pages.toml").read_text("utf-8"))["pages"]
_WORD = re.compile(r"\w+")
_TOO_SHORT = 2


def search(query: str, params: Mapping[str, Any]) -> list[dict[str, str]]:
    """Find the topic's pages that share a word with a query.

    Those in the language and region of the search come first, then those in its language, then
    those with the most words of the query.
    """
    words = {each for each in _words(query) if len(each) > _TOO_SHORT}
    language = params["language"]

    def rank(page: Mapping[str, str]) -> tuple[bool, bool, int]:
        tongue = page["language"].partition("-")[0] == language.partition("-")[0]
        return page["language"] != language, not tongue, -len(words & _words(page["content"]))

    found = [
        page
        for page in _PAGES
        if page["topic"] == topic and words & (_words(page["title"]) | _words(page["content"]))
    ]
    keys = ("title", "url", "content")
    return [{key: page[key] for key in keys} for page in sorted(found, key=rank)]


def _words(text: str) -> set[str]:
    return {*_WORD.findall(text.casefold())}
