"""What is built on the public faces uses nothing deeper, but for what is listed here."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.house.tree import ROOT

FACES = {"agent", "agent.tradeoff", "agent.tradeoff.study", "agent.errors"}

# By who imports it: a module, or a package with all below it. A longer list is a door that is
# missing in a face; each line says why it is none.
DEEPER = {
    "agent/lab": {
        "agent.build": "models are built from halves of the people, and of synthetic logs",
        "agent.decision.cache": "what is computed of a model is kept for the study",
        "agent.decision.engine": "a model is opened by its name or its path",
        "agent.files": "reports and logs are written whole or not at all",
        "agent.model.file": "a model is written for the processes of a study",
        "agent.model.model": "a figure of the validation, as the model's file has it",
    },
    "agent/lab/paper": {
        "agent.decision.calibration": "the curve is drawn where the respondents stand",
    },
    "agent/lab/attack": {
        "agent.decision": "the agent's memory of recipients is replayed event by event",
        "agent.model.reading": "and takes questions as it does texts that were read",
        "policy": "presets are attacked as they ship",
    },
    "examples/build_shipped_models.py": {
        "agent.build": "the shipped model is built",
        "agent.model": "and written where it ships",
    },
    "examples/draw_popup.py": {"agent": "a picture of the browser's popup, of a daemon of its own"},
    "examples/draw_requests.py": {
        "agent": "pictures of the command line and the screens, of a daemon of their own"
    },
    "examples/draw_terminal.py": {"agent": "likewise"},
    "examples/search_service/attributes.py": {
        "agent.decision.design": "it asks for what `reticent model design` recommends"
    },
    "examples/search_service": {
        "agent.decision.engine": "it opens the model that it serves by",
        "agent.model": "and reads its attributes and queries",
    },
    "examples/search_service/evaluate.py": {
        "agent.cli": "it looks as `reticent lab` does",
        "agent.lab.attack": "people who were held out send their requests as in the laboratory",
    },
    "examples/search_service/replay": {"agent.cli": "likewise", "agent.lab.attack": "likewise"},
    "examples/write_share.py": {"agent.cli": "the man page is made of what its help says"},
}


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of ours that a file imports, each named whole, or by its face."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            public = (
                getattr(import_module(node.module), "__all__", ()) if node.module in FACES else ()
            )
            names = [
                f"{node.module}.{alias.name}"
                if node.module in FACES - {"agent.errors"}
                and alias.name not in {*public, "__version__"}
                else node.module
                for alias in node.names
            ]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] in {"agent", "policy"})


def below(name: str, whole: str, sign: str) -> bool:
    """Say whether a path or module is another, or in it."""
    return name == whole or name.startswith(whole + sign)


@pytest.mark.parametrize("room", ["agent/lab", "examples"])
def test_it_uses_the_faces_alone(room: str) -> None:
    """Whoever embeds a decision, or studies one, must not need what may change."""
    own = room.replace("/", ".")
    used, excused = set(), set()
    for path in sorted((ROOT / room).rglob("*.py")):
        place = str(path.relative_to(ROOT))
        lists = [(who, what) for who, what in DEEPER.items() if below(place, who, "/")]
        for name in imported(path):
            if name in FACES or below(name, own, "."):
                continue
            found = [(who, what) for who, of in lists for what in of if below(name, what, ".")]
            excused.update(found[:1])
            if not found:
                used.add(f"{place}: {name}")
    assert used == set()
    listed = {(who, what) for who, of in DEEPER.items() for what in of if below(who, room, "/")}
    assert excused == listed
