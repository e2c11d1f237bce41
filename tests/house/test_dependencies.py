"""A dependency has a reason beside it and a lower bound."""

import re
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement

from tests.house.tree import PROJECT, ROOT

PINS = [Requirement(line) for line in (ROOT / ".ci/constraints.txt").read_text().splitlines()]


def declared() -> Iterator[str]:
    """Yield every requirement of the base install and of the extras, as written."""
    yield from PROJECT["project"]["dependencies"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        yield from extra


@pytest.mark.parametrize("requirement", [*declared()])
def test_a_dependency_says_why(requirement: str) -> None:
    """Who adds one explains it on the same line."""
    text = (ROOT / "pyproject.toml").read_text()
    assert re.search(rf'^    "{re.escape(requirement)}", +# \S', text, re.MULTILINE)


@pytest.mark.parametrize("requirement", [*declared()])
def test_a_dependency_has_a_lower_bound_that_the_pin_meets(requirement: str) -> None:
    """What `make` installs is within what we declare."""
    wanted = Requirement(requirement)
    assert any(bound.operator == ">=" for bound in wanted.specifier)
    (pin,) = (pin for pin in PINS if pin.name == wanted.name)
    (exact,) = pin.specifier
    assert exact.version in wanted.specifier


def test_a_pin_is_one_exact_version_from_anywhere() -> None:
    """No address of one machine's registry, and no range."""
    assert [pin.name for pin in PINS if pin.url] == []
    assert {bound.operator for pin in PINS for bound in pin.specifier} == {"=="}
    assert all(len(pin.specifier) == 1 for pin in PINS)
