"""The plugin for searx 1.1, as Debian 12 has it: a module with the names that searx looks for."""

from __future__ import annotations

from typing import Any

from searx.languages import language_codes

from examples.searxng import hooks

name, description, default_on = hooks.NAME, hooks.DESCRIPTION, True
LANGUAGES = frozenset(code for code, *_ in language_codes)


def pre_search(request: Any, search: Any) -> bool:  # noqa: ANN401
    """Adapt a search, and let it go on."""
    hooks.before(request, search, LANGUAGES)
    return True


def post_search(_request: Any, search: Any) -> bool:  # noqa: ANN401
    """Say above the results what was adapted, and let the next plugin go on."""
    if said := hooks.after(search):
        search.result_container.answers[said] = {"answer": said}
    return True
