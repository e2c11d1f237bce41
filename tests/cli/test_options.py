"""The kinds of values that options take."""

from inspect import signature

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.options import BuildOptions
from agent.cli import lab, model
from agent.cli.options import flat, names, once, pair, weighted
from agent.errors import UsageError
from agent.lab import StudyOptions
from agent.lab.paper.subject import Options as PaperOptions

WORDS = st.from_regex(r"[a-z][a-z0-9_]*", fullmatch=True)


@given(st.lists(WORDS))
def test_names_are_what_was_joined(words: list[str]) -> None:
    """With and without white space."""
    assert names(",".join(words)) == names(" , ".join(words)) == tuple(words)
    assert flat([names(word) for word in words]) == frozenset(words)


@given(WORDS, st.text(min_size=1))
def test_a_pair_is_split_at_the_first_sign(name: str, value: str) -> None:
    """A value may have more of them."""
    if value.strip():
        assert pair(f"{name}={value}") == (name, value.strip())


@pytest.mark.parametrize("text", ["", "=", "a", "a=", "=a", " = ", "a= "])
def test_half_a_pair_is_none(text: str) -> None:
    """Neither side may be empty."""
    with pytest.raises(UsageError):
        pair(text)


@given(WORDS, st.floats(allow_nan=False, allow_infinity=False))
def test_a_weight_is_the_number_that_was_written(name: str, number: float) -> None:
    """To the last digit."""
    assert weighted(f"{name}={number!r}") == (name, number)


@pytest.mark.parametrize("text", ["nan", "-nan", "inf", "-inf", "Infinity", "1e999"])
def test_what_is_not_finite_is_refused(text: str) -> None:
    """Here already: what is not equal to itself would later look like two values."""
    with pytest.raises(UsageError, match=f"'{text}' is not a finite number"):
        weighted(f"gender={text}")


@given(st.lists(st.tuples(WORDS, st.integers(0, 2))))
def test_a_name_has_one_value(pairs: list[tuple[str, int]]) -> None:
    """The same twice is no contradiction, two values are."""
    if len({name for name, _ in pairs}) == len(set(pairs)):
        assert once("--know", pairs) == dict(pairs)
    else:
        with pytest.raises(UsageError):
            once("--know", pairs)


# The options that a command takes by name itself; it hands all others on.
HANDED_ON = [
    (lab.attack, StudyOptions, {"as_json", "data", "out", "limits", "samples"}),
    (lab.paper, PaperOptions, {"as_json", "model", "log", "out", "processes"}),
    (model.build, BuildOptions, {"as_json", "out", "sensitivities", "describe", "resume"}),
]


@pytest.mark.parametrize(("command", "takes", "own"), HANDED_ON)
def test_what_is_handed_on_is_a_field(
    command: click.Command, takes: type[object], own: set[str]
) -> None:
    """Of the value that takes it, by its name."""
    given = {each.name for each in command.params}
    assert own <= given
    assert given - own <= set(signature(takes).parameters)
    assert given - own
