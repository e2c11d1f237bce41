"""What stands after the method of a call: its path with the parameters in it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from agent.errors import UsageError
from agent.wire.routes import Route

DOTS = {"", ".", ".."}  # what a server may take for a step through the path (RFC 3986, 5.2.4)


def target_of(route: Route, given: Mapping[str, Any]) -> str:
    """Return the path and query of a call; a parameter that is None is left out.

    UsageError where a part of the path is empty or dots; TypeError for a parameter that the
    route does not have.
    """
    known = {each.name: each for each in route.parameters}
    if unknown := given.keys() - known:
        raise TypeError(f"{route.name} has no parameters {sorted(unknown)}")
    texts = {name: str(value) for name, value in given.items() if value is not None}
    path = route.path
    for name, each in known.items():
        if each.where == "path":
            path = path.replace(f"{{{name}}}", _segment(name, texts.pop(name, "")))
    return f"{path}?{urlencode(texts, quote_via=quote)}" if texts else path


def _segment(name: str, text: str) -> str:
    if text in DOTS:
        raise UsageError(f"{text!r} is no {name}", f"name the {name}")
    return quote(text, safe="")
