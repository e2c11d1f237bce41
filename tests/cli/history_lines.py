"""Lines of a history."""

import json
from typing import Any

from tests.house.tree import ROOT

LINE: dict[str, Any] = {
    "at": "2026-03-02T09:00:00+01:00",
    "recipient": "a.example",
    "query": "weather",
    "asked": None,
    "disclosed": {},
}
EXAMPLES = ROOT / "examples/policies"


def line(**changes: object) -> str:
    """Return one line of a history."""
    return json.dumps({**LINE, **changes})
