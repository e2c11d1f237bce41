"""Errors and faults: each error comes back as what it was, and every kind has its status."""

import inspect
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import errors
from agent.errors import DaemonError, PolicyError, Problem, RefusedError, ReticentError, UsageError
from agent.wire.base import Fault, from_fields
from agent.wire.routes import KINDS, error_of, fault_of, http_status

TREE = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if issubclass(each, ReticentError) and each is not RefusedError  # it has a kind's code
]
TEXT = st.text(min_size=1, max_size=20)


def again(error: ReticentError, code: str | None = None) -> ReticentError:
    """Return what a client raises for an error of the daemon."""
    data = msgspec.json.encode(fault_of(error, code))
    return error_of(msgspec.json.decode(data, type=Fault))


@given(st.sampled_from(TREE), TEXT, TEXT, TEXT | st.none())
def test_an_error_comes_back_as_what_it_was(
    kind: type[ReticentError], what: str, hint: str, where: str | None
) -> None:
    """Its class, and all that it says."""
    if kind is PolicyError:
        error: ReticentError = PolicyError(where or "p", [Problem(3, "", what, hint)])
    else:
        error = kind(what, hint, where)
    back = again(error)
    assert type(back) is kind
    assert (back.what, back.hint, back.where) == (error.what, error.hint, error.where)


def test_a_policy_with_many_mistakes_says_the_first_and_how_many() -> None:
    """As the command line does without a daemon."""
    problems = [Problem(2, "k", "no number", "write one"), Problem(9, "a", "no", "none")]
    back = again(PolicyError("my:policy.toml", problems))
    assert str(back) == "my:policy.toml:2: k: no number (and 1 more)"
    assert back.hint == "write one"


@pytest.mark.parametrize("where", [None, "policy.toml", "policy.toml:x", ":7", "7"])
def test_a_fault_of_a_policy_without_a_line_is_none_the_less_one(where: str | None) -> None:
    """Whoever sent it."""
    back = error_of(Fault(code="policy", what="a", hint="b", where=where))
    assert isinstance(back, PolicyError)
    assert (back.what, back.hint) == ("a", "b")


def test_an_error_of_no_kind_of_its_own_is_of_the_nearest() -> None:
    """A class that is added to the tree later."""

    class NewError(UsageError):
        pass

    assert fault_of(NewError("a", "b")).code == "usage"


def test_a_nearer_kind_keeps_the_class() -> None:
    """A review that is not there is a mistake of usage, with the status that says it."""
    error = UsageError("no review 7", "see the list")
    assert fault_of(error, "not found").code == "not found"
    assert isinstance(again(error, "not found"), UsageError)


def test_an_unknown_kind_is_an_error_of_the_daemon() -> None:
    """As of a newer one."""
    back = error_of(Fault(code="out of paper", what="a", hint="b"))
    assert type(back) is DaemonError
    assert http_status("out of paper") == 500


def test_each_kind_has_one_code_and_a_status_of_failure() -> None:
    """And every error has a kind."""
    assert len({kind.code for kind in KINDS}) == len(KINDS)
    assert all(400 <= http_status(kind.code) == kind.status < 600 for kind in KINDS)
    assert {kind.error for kind in KINDS} == set(TREE)


FIELDS = st.dictionaries(st.sampled_from(Fault.__struct_fields__), st.text(max_size=3))


@given(own=FIELDS, sources=st.lists(FIELDS, max_size=3))
def test_each_field_is_of_the_first_that_has_it(
    own: dict[str, str], sources: list[dict[str, str]]
) -> None:
    """Fields that nothing has are missing, and what no field is called is left."""
    wanted: dict[str, str] = {}
    for each in (own, *sources):
        wanted = each | wanted
    values = [SimpleNamespace(**each, other=1) for each in sources]
    if not {"code", "what", "hint"} <= wanted.keys():
        with pytest.raises(TypeError):
            from_fields(Fault, *values, **own)
    else:
        assert from_fields(Fault, *values, **own) == Fault(**wanted)
