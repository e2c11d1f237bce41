"""What both plugins do before and after a search, with what searx and SearXNG have in common.

The header is heard for this one search only. The page's own form, and so the next address, keeps
what the user had set.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from flask import after_this_request, g

from examples.searxng.adapter import asked_of, categories_for, language_for
from examples.shared_attributes import ACCEPT, SHARED, accepting, heard

if TYPE_CHECKING:
    from collections.abc import Collection

NAME = "Shared attributes"
DESCRIPTION = "Sets language and categories of a search by what its header Shared-Attributes tells."
_HERE = "shared_attributes"  # in what Flask keeps for one request

log = logging.getLogger("searx.shared_attributes")


def before(request: Any, search: Any, languages: Collection[str]) -> None:  # noqa: ANN401
    """Say what can be used, and search by what the request's header tells.

    ``languages``: the codes that the engine offers. A language or category that the user chose
    stays. What is wrong with a header is logged without its content, and ignored.
    """
    asked = asked_of(languages)

    def announced(answer: Any) -> Any:  # noqa: ANN401
        answer.headers[ACCEPT] = accepting(asked)
        answer.vary.add(SHARED)
        return answer

    after_this_request(announced)
    lines = [each.encode("latin-1", "replace") for each in request.headers.getlist(SHARED)]
    told = heard(lines, asked)
    if told.ignored:
        log.warning("ignored of %s: %s", SHARED, "; ".join(told.ignored))
    query = search.search_query
    language, more = query.lang, []
    if query.lang in _usual(request):
        language = language_for(told.values, query.lang, languages)
    everything = {each.category for each in query.engineref_list} == {"general"}
    if everything and "engines" not in request.form:
        more = _engines(categories_for(told.values), request.preferences, query.engineref_list)
    changes = [f"language {language}"] if language != query.lang else []
    changes += sorted({f'category "{each.category}" added' for each in more})
    setattr(g, _HERE, (query.lang, query.engineref_list, changes))
    query.lang, query.engineref_list = language, [*query.engineref_list, *more]


def after(search: Any) -> str:  # noqa: ANN401
    """Put back what the user had set; return what was changed, as a sentence, or nothing."""
    query = search.search_query
    query.lang, query.engineref_list, changes = g.pop(_HERE, (query.lang, query.engineref_list, []))
    return f"Adapted to what you shared: {', '.join(changes)}" if changes else ""


def _usual(request: Any) -> set[str]:  # noqa: ANN401
    """List the languages of a search in which nobody chose one: the engine's, the browser's."""
    from searx import settings

    best = request.accept_languages.best or ""
    return {"all", "auto", settings["search"].get("default_lang"), best, best.partition("-")[0]}


def _engines(names: Collection[str], preferences: Any, besides: Collection[Any]) -> list[Any]:  # noqa: ANN401
    """List the engines of categories that there are, as far as this user may and would."""
    from searx.engines import categories
    from searx.webadapter import get_engineref_from_category_list, validate_engineref_list

    there = [each for each in names if each in categories]
    found = get_engineref_from_category_list(there, preferences.engines.get_disabled())
    new = {each.name: each for each in reversed(found)}  # one of two categories once
    for each in besides:
        new.pop(each.name, None)
    valid: list[Any]
    valid, _, _ = validate_engineref_list([*new.values()], preferences)
    return valid
