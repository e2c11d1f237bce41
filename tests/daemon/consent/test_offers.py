"""Offers of recipients, and the searches that they bring."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent import MOST_REFUSALS
from agent.errors import LockedError, RefusedError, ReticentError, UsageError
from tests.daemon.doubles import Memory
from tests.daemon.office import TEXT, Office, open_office
from tests.decision.made import NAMES

AGE = frozenset({"age"})
REFUSED = '[[rule]]\nname = "refused"\nrecipient = ["a.example"]\nnothing = true\n'


def test_an_offer_waits_and_is_remembered_in_the_vault(office: Office) -> None:
    """By site, until it is over; approved by name while the vault is open."""
    consent, items = office.consent, Memory()
    new = office.offer("a.example", ["age", "job", "age"])
    assert (new.kind, new.names, new.query) == ("offer", ["age", "job"], "")
    with pytest.raises(LockedError):
        office.say(new, "approve")
    consent.opened(items)
    office.say(new, "approve", "days", days=2, names=["age"])
    assert consent.reviews(office.now) == []
    assert consent.offered("a.example", office.now) == AGE
    assert consent.offered("b.example", office.now) is None
    assert consent.offer("a.example", "a.example", ["age"], office.now) is None
    assert consent.offer("a.example", "a.example", ["job"], office.now) is not None
    consent.closed()
    assert consent.offered("a.example", office.now) is None
    consent.opened(items)
    assert consent.offered("a.example", office.now + timedelta(days=2)) == AGE
    assert consent.offered("a.example", office.now + timedelta(days=3)) == frozenset()
    assert office.path.read_text() == TEXT


def test_a_site_gets_nothing_that_it_says_it_cannot_use(office: Office) -> None:
    """As soon as it says so; it gets no more by it, and the last word it gave counts."""
    consent = office.consent
    consent.opened(Memory())
    assert consent.usable("a.example", office.now) is None
    for names in (["age", "job"], ["age"]):
        new = consent.offer("a.example", "a.example", names, office.now)
        assert consent.usable("a.example", office.now) == frozenset(names)
    assert consent.usable("b.example", office.now) is None
    assert new is not None
    office.say(new, "approve")
    assert consent.usable("a.example", office.now) == AGE
    assert consent.offer("a.example", "a.example", ["age", "job"], office.now) is not None
    assert consent.usable("a.example", office.now) == AGE


@given(
    names=st.sets(st.sampled_from(NAMES), min_size=1),
    days=st.integers(1, 3),
    later=st.lists(st.integers(0, 9), min_size=2),
)
def test_nothing_opens_because_time_passes(
    names: set[str], days: int, later: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An offer says what its recipient can use, and so what it cannot: no less once it is over."""
    office = open_office(tmp_path_factory.mktemp("p"))
    office.consent.opened(Memory())
    new = office.offer("a.example", [*names])
    office.say(new, "approve", "days", days=days)
    could = None
    for day in sorted(later):
        can = office.consent.offered("a.example", office.now + timedelta(days=day))
        assert can is not None
        assert can == (names if day <= days else set())
        assert could is None or can <= could
        could = can


@given(record=st.binary(max_size=20))
def test_a_record_that_cannot_be_read_opens_nothing(
    record: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of another version, say."""
    office = open_office(tmp_path_factory.mktemp("p"))
    office.consent.opened(Memory({"offers/a.example": record}))
    assert office.consent.offered("a.example", office.now) == frozenset()


def test_no_name_is_approved_that_was_not_shown(office: Office) -> None:
    """A later offer takes the place of one that the user looks at, under another number."""
    consent = office.consent
    consent.opened(Memory())
    shown = office.offer("a.example", ["age"])
    assert consent.offer("a.example", "a.example", ["age"], office.now) is None
    later = office.offer("a.example", ["age", "salary"])
    with pytest.raises(UsageError, match=f"number {shown.id}"):
        office.say(shown, "approve")
    assert consent.offered("a.example", office.now) is None
    assert consent.reviews(office.now) == [later]
    office.say(later, "approve", names=["age"], pool="a.example")
    assert consent.offered("a.example", office.now) == AGE


def test_a_denied_offer_is_a_rule_and_asks_no_more(office: Office) -> None:
    """Also while the vault is locked; a later approval takes the rule back."""
    consent = office.consent
    new = office.offer("s1.example", ["age"], pool="@shops")
    with pytest.raises(UsageError, match="recipient only"):
        office.say(new, "deny", about="everyone")
    assert office.say(new, "deny").written == "nothing for s1.example"
    assert office.request("s1.example")[0].status == "blocked"
    assert office.request("s2.example")[0].status == "decided"
    assert consent.offer("s1.example", "@shops", ["age"], office.now) is None
    assert [each.kind for each in consent.reviews(office.now)] == ["ask"]


def test_a_later_approval_takes_a_refusal_back(office: Office) -> None:
    """Where the offer still waited."""
    consent = office.consent
    consent.opened(Memory())
    new = office.offer("a.example", ["age"])
    written = office.path.read_text() + '\n[[rule]]\nname = "nothing for a.example"\n'
    office.path.write_text(written + 'recipient = "a.example"\nnothing = true\n')
    assert office.request("a.example")[0].status == "blocked"
    office.say(new, "approve")
    assert office.request("a.example")[0].status == "decided"
    assert office.path.read_text().strip() == TEXT.strip()


@pytest.mark.parametrize("full", [True, False])
def test_a_refusal_stays_where_an_approval_cannot_be_kept(
    office: Office, monkeypatch: pytest.MonkeyPatch, *, full: bool
) -> None:
    """Or where the file cannot be changed: then the offer is as it was, too."""
    records = Memory()
    office.consent.opened(records)
    new = office.offer("a.example", ["age"])
    office.path.write_text(refused := f"{TEXT}{REFUSED}")
    records.full = full
    if not full:
        monkeypatch.setattr("agent.daemon.consent.rewrite", unwritable)
    with pytest.raises(ReticentError):
        office.say(new, "approve")
    assert office.path.read_text() == refused
    assert office.consent.offered("a.example", office.now) is None
    assert office.consent.reviews(office.now) == [new]


def unwritable(*_: object) -> None:
    """Change no file."""
    raise UsageError("the policy cannot be written", "make its folder writable")


def test_a_refusal_is_a_rule_and_settles_its_offers(office: Office) -> None:
    """By whatever address it is named."""
    office.consent.offer("a.example", "a.example", ["age"], office.now)
    office.consent.offer("b.example", "b.example", ["age"], office.now)
    office.consent.refuse("https://www.a.example/page", office.now)
    assert [each.recipient for each in office.consent.reviews(office.now)] == ["b.example"]
    assert office.request("a.example")[0].status == "blocked"
    for wrong in ("no host", "com"):
        with pytest.raises(UsageError):
            office.consent.refuse(wrong, office.now)


def test_refusals_are_as_many_an_hour_as_somebody_means(office: Office) -> None:
    """Whoever reaches the door of queries could rewrite the policy all day."""
    new = office.offer("s1.example", ["age"], pool="@shops")
    office.say(new, "deny", "days", days=2)
    office.consent.refuse("s1.example", office.now)
    for number in range(1, MOST_REFUSALS):
        office.consent.refuse(f"r{number}.example", office.now)
    text = office.path.read_text()
    office.consent.refuse("r1.example", office.now)
    with pytest.raises(RefusedError, match="within an hour"):
        office.consent.refuse("a.example", office.now)
    assert office.path.read_text() == text
    office.now += timedelta(hours=1)
    office.consent.refuse("a.example", office.now)
    office.now += timedelta(days=9)
    refused = [office.request(host)[0].status for host in ("s1.example", "r1.example", "a.example")]
    assert refused == ["blocked"] * 3
    assert office.request("s2.example")[0].status == "decided"


def test_without_a_policy_nothing_is_written(tmp_path: Path) -> None:
    """Offers wait all the same, listed and not shown by themselves."""
    office = Office(tmp_path / "policy.toml")
    new = office.offer("a.example", ["age"])
    assert not new.prompted
    with pytest.raises(UsageError, match="no rules are in use"):
        office.say(new, "deny")
    assert [*tmp_path.iterdir()] == []
