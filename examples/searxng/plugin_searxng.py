"""The plugin for SearXNG of 2025 and later. Untested: written by its documentation alone."""

from __future__ import annotations

from typing import Any

from searx.plugins import Plugin, PluginInfo
from searx.result_types import Answer
from searx.sxng_locales import sxng_locales

from examples.searxng import hooks

LANGUAGES = frozenset(code for code, *_ in sxng_locales)


class SXNGPlugin(Plugin):  # type: ignore[misc]  # searx has no types
    """Adapts each search to what its header tells."""

    id = "shared_attributes"

    def __init__(self, settings: Any) -> None:  # noqa: ANN401
        super().__init__(settings)
        self.info = PluginInfo(id=self.id, name=hooks.NAME, description=hooks.DESCRIPTION)

    def pre_search(self, request: Any, search: Any) -> bool:  # noqa: ANN401
        """Adapt a search, and let it go on."""
        hooks.before(request, search, LANGUAGES)
        return True

    def post_search(self, request: Any, search: Any) -> list[Any]:  # noqa: ANN401, ARG002
        """Say above the results what was adapted."""
        said = hooks.after(search)
        return [Answer(answer=said)] if said else []
