"""Recipients that get nothing, in one rule."""

import tomllib
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent.managed_rules import MOST_REFUSED, allowed, refused
from agent.daemon.consent.preferences import Instruction
from agent.errors import UsageError
from policy.match import Rulebook
from policy.read import LARGEST
from policy.toml_scan import comments
from tests.daemon.policies import PLAIN, START, after, policy_of

HOSTS = ("a.example", "b.example", "c.test", "192.0.2.7", "shops")
GROUPS = '[groups]\nshops = ["intranet"]\n'
BASES = (
    f"{PLAIN}{GROUPS}",
    f'{PLAIN}# of rules\nrule = [{{ name = "refused", recipient = "x.example", k = 3 }}]\n{GROUPS}',
    f'{PLAIN}{GROUPS}[[rule]]\nname = "refused"  # mine\nrecipient = ["b.example"]\nk = 3\n',
)
STEPS = st.lists(st.tuples(st.sampled_from(HOSTS), st.booleans()), max_size=8)


def blocked(text: str) -> set[str]:
    """Return who gets nothing, now and for ever."""
    book, day = Rulebook(policy_of(text), ()), START + timedelta(days=4000)
    hosts = {"intranet" if host == "shops" else host: host for host in HOSTS}
    return {
        name
        for host, name in hosts.items()
        if book.match(host, "", day).settings["nothing"].value is True
    }


@given(st.sampled_from(BASES), STEPS)
def test_who_was_refused_last_gets_nothing(base: str, steps: list[tuple[str, bool]]) -> None:
    """In at most one rule more than there were, and none where nobody is."""
    text, gone = base, set[str]()
    for host, away in steps:
        again = (refused if away else allowed)(text, host)
        assert (again == text) == (away == (host in gone))
        text, gone = again, gone | {host} if away else gone - {host}
        assert blocked(text) == gone
    rules, before = (tomllib.loads(each).get("rule", []) for each in (text, base))
    assert rules[: len(before)] == before
    assert len(rules) == len(before) + bool(gone)
    assert comments(text) == comments(base)


def test_a_refusal_reads_as_one() -> None:
    """And one that a denied offer wrote is as good; both are taken back by an approval."""
    text = refused(refused(PLAIN, "a.example"), "b.example")
    assert text.removeprefix(PLAIN) == (
        '\n[[rule]]\nname = "refused"\nrecipient = ["a.example", "b.example"]\nnothing = true\n'
    )
    denied = after(PLAIN, Instruction("a.example", None))
    assert refused(denied, "a.example") == denied
    lasting = after(PLAIN, Instruction("a.example", None, until=START))
    assert allowed(refused(lasting, "a.example"), "a.example").strip() == PLAIN.strip()


def test_the_list_leaves_room_for_what_the_user_says() -> None:
    """With the longest names there are."""
    names = [
        f"{'x' * 60}.{'y' * 60}.{'z' * 60}.{number:060}.example" for number in range(MOST_REFUSED)
    ]
    listed = ", ".join(f'"{name}"' for name in names)
    text = f'{PLAIN}[[rule]]\nname = "refused"\nrecipient = [{listed}]\nnothing = true\n'
    assert refused(text, names[0]) == text
    with pytest.raises(UsageError, match="1,000 recipients are refused already"):
        refused(text, "a.example")
    assert len(text) < LARGEST / 2
    assert "approved for a.example" in after(text, Instruction("a.example", "approve", ("salary",)))
