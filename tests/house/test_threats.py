"""Every threat that is listed names tests, and these exist."""

import re

from tests.house.tree import ROOT

TEXT = (ROOT / "agent/THREATS.md").read_text()
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!threat \|)", line)]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)


def test_a_threat_names_its_tests() -> None:
    """A protection that no test holds is a hope."""
    assert len(ROWS) > 15  # an empty table would pass
    assert [row for row in ROWS if not re.search(r"`tests/[\w/]+\.py::test_\w+`", row)] == []


def test_a_test_that_is_named_exists() -> None:
    """Under this name, in this file."""
    missing = [
        f"{file}::{name}"
        for file, name in sorted({*NAMED})
        if not (ROOT / file).exists()
        or not re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)
    ]
    assert missing == []
