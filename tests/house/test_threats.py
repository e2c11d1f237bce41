"""Every threat that is listed names tests, and these exist."""

import re

import pytest

from tests.house.tree import ROOT

TEXT = (ROOT / "agent/THREATS.md").read_text()
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!threat \|)", line)]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)


@pytest.mark.parametrize("row", ROWS)
def test_a_threat_names_its_tests(row: str) -> None:
    """A protection that no test holds is a hope."""
    assert re.search(r"`tests/[\w/]+\.py::test_\w+`", row)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_is_named_exists(file: str, name: str) -> None:
    """Under this name, in this file."""
    assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_the_page_has_rows() -> None:
    """An empty table would pass."""
    assert len(ROWS) > 15
    assert len(NAMED) > len(ROWS)
