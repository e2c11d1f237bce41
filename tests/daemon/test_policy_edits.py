"""Settings written into the policy."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.daemon.policy_api import edited
from agent.daemon.policy_file import PolicyFile, rewrite
from agent.errors import PolicyError, UsageError
from agent.wire.policy import Edited, PolicyEdit
from policy.edit import Entry, with_rule
from policy.match import Rulebook
from policy.read import is_empty_policy, load
from policy.rules import Layer, Policy
from policy.scope import Scope, places
from policy.settings import Value
from tests.daemon.doubles import MONDAY, agent_of
from tests.daemon.home import POLICY, Home
from tests.daemon.people import MODEL
from tests.policy.changes import changes

SCOPES = st.sampled_from(
    [
        PolicyEdit(recipient="Shop.example"),
        PolicyEdit(attribute="salary", expires=date(2028, 1, 1)),
        PolicyEdit(recipient="adverts", attribute="age"),
        PolicyEdit(query="new shoes"),
    ]
)


def write(edit: PolicyEdit, path: Path) -> Edited:
    """Write an edit into a file."""
    return edited(edit, MONDAY, agent_of(PolicyFile(path), MODEL, None))


def edit_of(where: Scope, **more: Any) -> PolicyEdit:  # noqa: ANN401  (of any field)
    """Return an edit for some requests."""
    return PolicyEdit(
        recipient=where.recipient,
        attribute=where.attribute,
        query=where.query,
        expires=where.expires,
        **more,
    )


@settings(max_examples=40)
@given(changes())
def test_an_edit_and_its_undoing_give_the_same_text(
    tmp_path_factory: pytest.TempPathFactory,
    change: tuple[Policy, Scope, dict[str, Value], Policy],
) -> None:
    """As the pure functions have it; where nothing of this was set for exactly these before."""
    before, where, values, after = change
    assume(not any({*values} & {*rule.settings} for rule in places(where, before)))
    assume(not is_empty_policy(before.text))
    path = tmp_path_factory.mktemp("edit") / "policy.toml"
    path.write_text(before.text)
    assert write(edit_of(where, set=values), path).changed
    assert path.read_text() == after.text
    assert not write(edit_of(where, set=values), path).changed
    assert write(edit_of(where, unset=[*values]), path).changed
    assert said(load(path)) == said(before)


def said(policy: Policy) -> list[tuple[object, ...]]:
    """Return what each rule of a file says that sets something."""
    return [
        (rule.path, rule.conditions, dict(rule.settings))
        for rule in policy.rules
        if rule.layer is Layer.FILE and rule.settings
    ]


@given(SCOPES, st.sampled_from([{"disclose": "never"}, {"sensitivity": 0.5, "guard": 1}]))
def test_set_and_unset_leave_every_character(
    tmp_path_factory: pytest.TempPathFactory, where: PolicyEdit, values: dict[str, Value]
) -> None:
    """A rule that was made for it goes with it, and its name as well."""
    path = tmp_path_factory.mktemp("edit") / "policy.toml"
    path.write_text(POLICY)
    same = {each: getattr(where, each) for each in ("recipient", "attribute", "query", "expires")}
    write(PolicyEdit(**same, set=values), path)
    assert path.read_text() != POLICY
    write(PolicyEdit(**same, unset=[*values]), path)
    assert path.read_text() == POLICY


def test_one_setting_takes_the_place_of_another(home: Home) -> None:
    """In the same rule, which stays where it was, under its name."""
    home.calls.edit_policy(PolicyEdit(recipient="shop.example", set={"k": 5}))
    edit = PolicyEdit(recipient="shop.example", set={"risk": 0.5}, unset=["k", "k"])
    assert home.calls.edit_policy(edit).changed
    (rule,) = (each for each in load(home.paths.policy).rules if each.path[:1] == ("rule",))
    assert (rule.name, dict(rule.settings)) == ("for shop.example", {"risk": 0.5})


def test_it_holds_at_once_and_what_wins_is_said(home: Home) -> None:
    """Also while the vault is locked; of the attributes of the model that is then in use."""
    done = home.calls.edit_policy(PolicyEdit(set={"disclose": "auto", "lambda": 7}))
    assert done.changed
    (win,) = done.wins
    assert (win.key, win.value, win.names) == ("disclose", "ask", ["region"])
    assert (win.rule, win.line) == ("attributes.region", 6)
    policy = home.agent.rules.policy
    assert policy is not None
    ruling = Rulebook(policy, ()).match("a.example", "", home.now.date())
    assert ruling.settings["lambda"].value == 7
    assert home.bus.kinds == ["policy"]
    assert not home.calls.edit_policy(PolicyEdit(set={"lambda": 7})).changed
    assert home.bus.kinds == ["policy"]
    shipped = home.calls.edit_policy(PolicyEdit(set={"model": "so2017", "disclose": "never"}))
    (win,) = shipped.wins
    assert win.names == ["region"]
    gone = home.calls.edit_policy(PolicyEdit(set={"model": "gone", "disclose": "ask"}))
    assert gone.wins == []


@pytest.mark.parametrize(
    ("edit", "what", "hint"),
    [
        (PolicyEdit(), "this edit changes nothing", "name a setting"),
        (PolicyEdit(set={"k": 3}, unset=["k"]), "'k' is both set and unset", "one of"),
        (PolicyEdit(set={"lamda": 4}), "unknown setting 'lamda'", "did you mean 'lambda'?"),
        (PolicyEdit(unset=["preset"]), "'preset' is not a setting of requests", "by hand"),
        (PolicyEdit(set={"k": 2.5}), "k: 2.5 is not a whole number from 1", "k is a whole"),
        (PolicyEdit(set={"k": "5"}), "k: '5' is not a whole number from 1", "5 without quotes"),
        (PolicyEdit(set={"k": True}), "k: true is not a whole number from 1", None),
        (
            PolicyEdit(set={"mode": "fast"}),
            "mode: 'fast' is not one of dynamic, standing, planned",
            None,
        ),
        (PolicyEdit(set={"k": 3}, recipient="advert"), "unknown group 'advert'", "'adverts'?"),
        (PolicyEdit(set={"k": 3}, expires=date(2020, 1, 1)), "2020-01-01 is over", "later day"),
        (PolicyEdit(unset=["k"]), "does not set 'k' for exactly this", "policy show"),
        (PolicyEdit(set={"k": 3}, attribute="age"), "would be no valid policy", "leave out"),
        (PolicyEdit(set={"k": 3}, attribute="Age"), "'Age' is not an attribute name", None),
    ],
)
def test_what_cannot_be_written_is_refused(
    home: Home, edit: PolicyEdit, what: str, hint: str | None
) -> None:
    """In the words of `reticent policy set`, and the file stays as it was."""
    with pytest.raises(UsageError) as caught:
        home.calls.edit_policy(edit)
    assert what in caught.value.what
    assert hint is None or hint in caught.value.hint
    assert home.paths.policy.read_text() == POLICY
    assert home.bus.kinds == []


def test_without_a_sound_policy_nothing_is_edited(home: Home) -> None:
    """It is not made, and one with mistakes is not made worse."""
    home.paths.policy.write_text("lamda = 4\n")
    with pytest.raises(UsageError, match="the policy file has mistakes"):
        home.calls.edit_policy(PolicyEdit(set={"k": 3}))
    home.paths.policy.unlink()
    with pytest.raises(UsageError, match="no policy file"):
        home.calls.edit_policy(PolicyEdit(set={"k": 3}))
    assert not home.paths.policy.exists()


def test_what_would_be_no_policy_is_all_said(home: Home) -> None:
    """To whoever rewrites it: every problem, and the file stays as it was."""
    wrong: dict[str, Entry] = {"name": "x", "attribute": "age", "k": 3, "memory": "forgets"}
    with pytest.raises(UsageError) as caught:
        rewrite(home.paths.policy, lambda text, _: with_rule(text, wrong))
    cause = caught.value.__cause__
    assert isinstance(cause, PolicyError)
    assert [each.key for each in cause.problems] == ["rule[1].k", "rule[1].memory"]
    assert home.paths.policy.read_text() == POLICY


def test_what_has_been_taken_out_wins_over_nothing(home: Home) -> None:
    """There is nothing that it could have decided."""
    assert home.calls.edit_policy(PolicyEdit(unset=["lambda"])).wins == []
