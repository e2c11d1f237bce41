"""Offers of recipients, and the searches that they bring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.daemon.reviews import SEARCHES_PER_SITE
from agent.errors import LockedError, RefusedError, ReticentError, UsageError
from tests.daemon.office import TEXT, Office, open_office
from tests.decision.made import NAMES
from tests.worlds.people import Memory

AGE = frozenset({"age"})
REFUSED = '[[rule]]\nname = "refused"\nrecipient = ["a.example"]\nnothing = true\n'
RULED = "https://ruled.example/find?q={query}"
SEARCHING = f"""
search = "{RULED}"
[[rule]]
recipient = "path.example"
search = "https://path.example/{{query}}"
"""
HOSTS = ("a.example", "ruled.example", "b.example")
PATHS = ("/", "/find", "/a", "/b")
Act = tuple[str, str, str | None, int | None]
ACTS: st.SearchStrategy[Act] = st.tuples(
    st.sampled_from(["offer", "offer", "offer", "block", "turn", "later"]),
    st.sampled_from(HOSTS),
    st.sampled_from(PATHS) | st.none(),
    st.sampled_from([None, 1, 2]),
)
OVER: Act = ("offer", "a.example", "/find", 1)
LATER: Act = ("later", "a.example", None, None)
ANEW: Act = ("offer", "a.example", None, None)


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
    office.say(later, "approve", names=["age"], recipient="a.example")
    assert consent.offered("a.example", office.now) == AGE


def test_a_denied_offer_is_a_rule_and_asks_no_more(office: Office) -> None:
    """Also while the vault is locked; a later approval takes the rule back."""
    consent = office.consent
    new = office.offer("s1.example", ["age"], pool="@shops")
    with pytest.raises(UsageError, match="recipient only"):
        office.say(new, "deny", about="everyone")
    assert office.say(new, "deny").written == "nothing for s1.example"
    assert office.request("s1.example")[0].code == "blocked"
    assert office.request("s2.example")[0].code == "answered"
    assert consent.offer("s1.example", "@shops", ["age"], office.now) is None
    assert [each.kind for each in consent.reviews(office.now)] == ["ask"]


def test_an_approval_that_cannot_be_kept_leaves_the_offer(office: Office) -> None:
    """Nor is one kept of a recipient that gets nothing by now."""
    records = Memory()
    office.consent.opened(records)
    new = office.offer("a.example", ["age"])
    records.full = True
    with pytest.raises(ReticentError):
        office.say(new, "approve")
    records.full = False
    office.path.write_text(f"{TEXT}{REFUSED}")
    with pytest.raises(UsageError, match="gets nothing"):
        office.say(new, "approve")
    assert office.consent.offered("a.example", office.now) is None
    assert office.consent.reviews(office.now) == [new]


def test_a_refusal_is_a_rule_and_settles_its_offers(office: Office) -> None:
    """By whatever address it is named."""
    office.consent.offer("a.example", "a.example", ["age"], office.now)
    office.consent.offer("b.example", "b.example", ["age"], office.now)
    office.consent.refuse("https://www.a.example/page", office.now)
    assert [each.recipient for each in office.consent.reviews(office.now)] == ["b.example"]
    assert office.request("a.example")[0].code == "blocked"
    for wrong in ("no host", "com"):
        with pytest.raises(UsageError):
            office.consent.refuse(wrong, office.now)


def test_refusals_leave_room_for_the_user_s_own_rules(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reaches the door of queries could fill the policy; one that is there is no more."""
    monkeypatch.setattr("agent.daemon.consent.MOST_BLOCKS", 3)
    new = office.offer("s1.example", ["age"], pool="@shops")
    office.say(new, "deny", "days", days=2)
    office.consent.refuse("s1.example", office.now)
    office.consent.refuse("r1.example", office.now)
    text = office.path.read_text()
    office.consent.refuse("r1.example", office.now)
    with pytest.raises(RefusedError, match="rules give somebody nothing"):
        office.consent.refuse("a.example", office.now)
    assert office.path.read_text() == text
    office.now += timedelta(days=9)
    hosts = ("s1.example", "r1.example", "a.example", "s2.example")
    codes = [office.request(host)[0].code for host in hosts]
    assert codes == ["blocked", "blocked", "answered", "answered"]


def test_without_a_policy_nothing_is_written(tmp_path: Path) -> None:
    """Offers wait all the same, listed and not shown by themselves."""
    office = Office(tmp_path / "policy.toml")
    new = office.offer("a.example", ["age"])
    assert not new.prompted
    with pytest.raises(UsageError, match="no rules are in use"):
        office.say(new, "deny")
    assert [*tmp_path.iterdir()] == []


@dataclass
class Known:
    """What should be known of one host."""

    searches: tuple[str, ...] = ()
    until: date | None = None
    approved: bool = False
    blocked: bool = False

    def holds(self, today: date) -> bool:
        """Return whether an approved offer holds."""
        return self.approved and (self.until is None or today <= self.until)


@dataclass
class Story:
    """A consent, what was done there, and what should be so."""

    office: Office
    items: Memory = field(default_factory=Memory)
    locked: bool = True
    hosts: Mapping[str, Known] = field(default_factory=lambda: {each: Known() for each in HOSTS})

    @property
    def today(self) -> date:
        """The day it is."""
        return self.office.now.date()

    def turn(self) -> None:
        """Lock or unlock the vault."""
        self.locked = not self.locked
        if self.locked:
            self.office.consent.closed()
        else:
            self.office.consent.opened(self.items)

    def offer(self, host: str, path: str | None, days: int | None) -> None:
        """Let a host offer, and approve that unless the vault is locked."""
        search = None if path is None else f"https://{host}{path}?q={{query}}"
        known, consent, now = self.hosts[host], self.office.consent, self.office.now
        review = consent.offer(host, host, ["age"], now, search)
        held = known.holds(self.today) and not self.locked
        same = held and (search is None or search in known.searches)
        if same or known.blocked:
            assert review is None
            return
        review = next(each for each in consent.reviews(now) if each.recipient == host)
        assert review.search == search
        if self.locked:
            return
        lasting = {"days": days} if days else {}
        self.office.say(review, "approve", "days" if days else "always", **lasting)
        before = known.searches if known.holds(self.today) else ()
        new = () if search is None else (search,)
        known.searches = (*new, *(each for each in before if each != search))[:SEARCHES_PER_SITE]
        known.until = self.today + timedelta(days=days) if days else None
        known.approved = True

    def block(self, host: str) -> None:
        """Refuse a host, or take that back."""
        known = self.hosts[host]
        known.blocked = not known.blocked
        if known.blocked:
            self.office.consent.refuse(host, self.office.now)
        else:
            self.office.consent.allow(host)

    def expected(self) -> list[tuple[str, str]]:
        """Return what should be listed."""
        approved = {
            (host, search)
            for host, known in self.hosts.items()
            if known.holds(self.today) and not self.locked
            for search in known.searches
        }
        both = {("ruled.example", RULED), *approved}
        return sorted(each for each in both if not self.hosts[each[0]].blocked)


@given(acts=st.lists(ACTS, max_size=12))
@example(acts=[OVER, LATER, LATER, ANEW]).via("an offer that is over")
def test_listed_is_what_is_ruled_and_approved(
    acts: Sequence[Act], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of who gets nothing none; while it is locked the policy's alone; and none twice."""
    path = tmp_path_factory.mktemp("p") / "policy.toml"
    path.write_text(SEARCHING)
    story = Story(Office(path))
    story.turn()
    for kind, host, search, days in acts:
        match kind:
            case "offer":
                story.offer(host, search, days)
            case "block":
                story.block(host)
            case "turn":
                story.turn()
            case "later":
                story.office.now += timedelta(days=1)
        found = story.office.consent.sites(story.office.now)
        assert [(each.recipient, each.search) for each in found] == story.expected()


def test_a_search_is_not_approved_that_was_not_shown(tmp_path: Path) -> None:
    """A later offer of the same names with another is another offer."""
    path = tmp_path / "policy.toml"
    path.write_text(SEARCHING)
    office = Office(path)
    office.consent.opened(Memory())
    one, other = "https://a.example/?q={query}", "https://a.example/?p={query}"
    shown = office.offer("a.example", ["age"], one)
    assert office.consent.offer("a.example", "a.example", ["age"], office.now, one) is None
    later = office.offer("a.example", ["age"], other)
    with pytest.raises(UsageError, match=f"number {shown.id}"):
        office.say(shown, "approve")
    office.say(later, "approve")
    assert [each.search for each in office.consent.sites(office.now)] == [other, RULED]
    office.consent.undo(office.now)
    assert [each.search for each in office.consent.sites(office.now)] == [RULED]


ADDRESS = "https://chat.example/"


def wanted(office: Office, address: str = ADDRESS) -> bool:
    """Queue it, and say whether it waits."""
    office.consent.offer("chat.example", "chat.example", (), office.now, address=address)
    return office.consent.waiting_offer("chat.example", office.now, address) is not None


def test_an_approval_is_a_rule_that_undo_takes_back(office: Office) -> None:
    """Byte for byte; then it waits again."""
    assert wanted(office)
    assert office.consent.assistants(office.now) == []
    [review] = office.consent.reviews(office.now)
    assert office.say(review, "approve").written == "assistant chat.example"
    assert office.consent.assistants(office.now) == ["https://chat.example"]
    assert office.consent.reviews(office.now) == []
    assert not wanted(office)
    assert ADDRESS in office.consent.undo(office.now)
    assert office.path.read_text() == TEXT
    assert office.consent.reviews(office.now) == [review]


def test_it_may_end_on_a_day(office: Office) -> None:
    """And can be wanted again then."""
    wanted(office)
    [review] = office.consent.reviews(office.now)
    office.say(review, "approve", "days", days=2)
    office.now += timedelta(days=2)
    assert office.consent.assistants(office.now) == ["https://chat.example"]
    office.now += timedelta(days=1)
    assert office.consent.assistants(office.now) == []
    assert wanted(office)
    [review] = office.consent.reviews(office.now)
    assert office.say(review, "approve").written == "assistant chat.example (2)"
    assert office.consent.assistants(office.now) == ["https://chat.example"]


def test_a_no_changes_nothing(office: Office) -> None:
    """Its recipient is treated as before."""
    wanted(office)
    [review] = office.consent.reviews(office.now)
    assert office.say(review, "deny").written is None
    assert (office.path.read_text(), office.consent.reviews(office.now)) == (TEXT, [])


def test_what_is_refused_or_ruled_otherwise_is_not_listed(office: Office) -> None:
    """Whether that was before it was wanted or after; then nothing is written."""
    wanted(office)
    [review] = office.consent.reviews(office.now)
    with pytest.raises(UsageError, match="its recipient only"):
        office.say(review, "approve", about="everyone")
    for rule in ("nothing = true\n", f"address = '{ADDRESS}'\nassistant = false\n"):
        office.path.write_text(f"{TEXT}[[rule]]\nrecipient = 'chat.example'\n{rule}")
        before = office.path.read_text()
        with pytest.raises(UsageError):
            office.say(review, "approve")
        assert office.path.read_text() == before
        assert office.consent.reviews(office.now) == [review]
    office.consent.dismiss(review.id)
    office.consent.refuse("chat.example", office.now)
    assert not wanted(office)


def test_a_page_s_own_offer_does_not_take_its_place(office: Office) -> None:
    """Nor the other way round: both wait."""
    wanted(office)
    office.offer("chat.example", ["age"])
    assert wanted(office)
    assert [each.address for each in office.consent.reviews(office.now)] == [None, ADDRESS]
    assert office.consent.waiting_offer("chat.example", office.now) == frozenset({"age"})
