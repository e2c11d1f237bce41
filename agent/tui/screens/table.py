"""Which screen stands behind which name."""

from collections.abc import Callable, Mapping
from typing import Any

from textual.screen import Screen

from agent.tui.page import Page


def _requests() -> Page:
    from agent.tui.screens.requests import Requests

    return Requests()


PAGES: Mapping[str, Callable[[], Screen[Any]]] = {"requests": _requests}
