"""One phrase per code."""

from collections.abc import Mapping
from typing import get_args

import pytest

from agent.decision.values import Code, Reason
from agent.wire.policy import Disclose
from agent.words.outcomes import (
    BROWSER,
    BY_RULE,
    LIMITS,
    REASONS,
    RULINGS,
    WHY_NOTHING,
    breaks,
    why,
    write_policy,
)


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        (WHY_NOTHING, {*get_args(Code)}),
        (REASONS, {*get_args(Reason)}),
        (RULINGS, {*get_args(Disclose), "guarded"}),
    ],
)
def test_every_code_has_a_phrase(table: Mapping[str, object], codes: set[str]) -> None:
    """And no phrase stands for two codes."""
    assert {*table} == codes
    assert len({*table.values()}) == len(table)


@pytest.mark.parametrize("phrase", [*WHY_NOTHING.values(), *BROWSER.values(), *REASONS.values()])
def test_a_phrase_fits_behind_a_colon(phrase: str) -> None:
    """It neither ends a sentence nor breaks one."""
    assert phrase.strip(" .:;") == phrase


def test_a_reason_names_the_limit_or_the_rule_behind_it() -> None:
    """A rule only where it is the reason; anything else is shown as it is."""
    assert why("would break a limit", None, "k") == "would break a limit: k"
    assert why("never", "shops") == f"{REASONS['never']} (rule: shops)"
    assert why("worth it", "shops") == REASONS["worth it"]
    assert why("blocked") == WHY_NOTHING["blocked"]
    assert why("something new") == "something new"
    assert {*REASONS} >= BY_RULE


def test_a_limit_says_what_it_means() -> None:
    """An unknown one is named."""
    assert breaks("k") == f"breaks the limit k: {LIMITS['k']}"
    assert breaks("other") == "breaks other"


def test_a_policy_starts_with_one_line() -> None:
    """Which is shown."""
    assert write_policy("a.toml") == 'write `preset = "balanced"` into a.toml'
