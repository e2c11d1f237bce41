"""Every threat names tests that would fail without its protection, and these exist."""

import re

from tests.house.tree import ROOT

TEXT = (ROOT / "agent/THREATS.md").read_text()


def test_each_threat_names_tests_that_exist() -> None:
    """By the number of its paragraph; a protection that no test holds is a hope."""
    paragraphs = re.findall(r"^\*\*(\d+)\. ", TEXT, re.MULTILINE)
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", TEXT, re.MULTILINE))
    assert len(paragraphs) > 15
    wrong = [each for each in paragraphs if each not in rows] + [
        each for each in rows if each not in paragraphs
    ]
    for number, row in rows.items():
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        wrong += [] if named else [number]
        wrong += [f"{file}::{name}" for file, name in named if not _exists(file, name)]
    assert wrong == []


def _exists(file: str, name: str) -> bool:
    path = ROOT / file
    text = path.read_text() if path.exists() else ""
    return re.search(rf"^(async )?def {name}\(", text, re.MULTILINE) is not None
