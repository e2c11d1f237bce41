"""Offers of recipients, the searches that they bring, and the last word taken back."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import LockedError, RefusedError, ReticentError, UsageError, VaultError
from agent.wire.policy import Disclose, Lasting, Word
from agent.words.notices import GONE
from tests.daemon.office import FEW, TEXT, Office, open_office
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
PATHS = ("/", "/find")


def test_an_offer_waits_and_is_remembered_in_the_vault(office: Office) -> None:
    """By site, until it is over; approved by name while the vault is open."""
    consent, items = office.consent, Memory()
    new = office.offer("a.example", ["age", "job"])
    assert (new.kind, new.names, new.query) == ("offer", ["age", "job"], "")
    with pytest.raises(LockedError):
        office.say(new, "approve")
    consent.opened(items)
    office.say(new, "approve", "days", days=2, names=["age"])
    assert consent.reviews(office.now) == []
    assert consent.usable("a.example", office.now, approved=True) == AGE
    assert consent.usable("b.example", office.now, approved=True) is None
    assert office.offered("a.example", ["age"]) is None
    assert office.offered("a.example", ["job"]) is not None
    consent.closed()
    assert consent.usable("a.example", office.now, approved=True) is None
    consent.opened(items)
    assert consent.usable("a.example", office.now + timedelta(days=2), approved=True) == AGE
    assert consent.usable("a.example", office.now + timedelta(days=3), approved=True) == frozenset()
    assert office.path.read_text() == TEXT


def test_a_site_gets_nothing_that_it_says_it_cannot_use(office: Office) -> None:
    """As soon as it says so; it gets no more by it, and the last word it gave counts."""
    consent = office.consent
    consent.opened(Memory())
    assert consent.usable("a.example", office.now) is None
    for names in (["age", "job"], ["age"]):
        new = office.offered("a.example", names)
        assert consent.usable("a.example", office.now) == frozenset(names)
    assert consent.usable("b.example", office.now) is None
    assert new is not None
    office.say(new, "approve")
    assert consent.usable("a.example", office.now) == AGE
    assert office.offered("a.example", ["age", "job"]) is not None
    assert consent.usable("a.example", office.now) == AGE


@FEW
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
    office.say(office.offer("a.example", [*names]), "approve", "days", days=days)
    could = None
    for day in sorted(later):
        can = office.consent.usable("a.example", office.now + timedelta(days=day), approved=True)
        assert can is not None
        assert can == (names if day <= days else set())
        assert could is None or can <= could
        could = can


def test_no_name_is_approved_that_was_not_shown(office: Office) -> None:
    """Nor a search: a later offer takes the place of the one on the screen, by another number."""
    consent = office.consent
    consent.opened(Memory())
    one, other = "https://a.example/?q={query}", "https://a.example/?p={query}"
    shown = office.offer("a.example", ["age"], search=one)
    assert office.offered("a.example", ["age"], search=one) is None
    for names, search in ((["age"], other), (["age", "salary"], other)):
        later = office.offer("a.example", names, search=search)
        with pytest.raises(UsageError, match=f"number {shown.id}"):
            office.say(shown, "approve")
        assert consent.usable("a.example", office.now, approved=True) is None
        assert consent.reviews(office.now) == [later]
        shown = later
    office.say(later, "approve", names=["age"], recipient="a.example")
    assert consent.usable("a.example", office.now, approved=True) == AGE
    assert [each.search for each in consent.sites(office.now)] == [other]
    consent.undo(office.now)
    assert consent.sites(office.now) == []


def test_a_denied_offer_is_a_rule_and_asks_no_more(office: Office) -> None:
    """Also while the vault is locked; a later approval takes the rule back."""
    consent = office.consent
    new = office.offer("s1.example", ["age"], pool="@shops")
    with pytest.raises(UsageError, match="recipient only"):
        office.say(new, "deny", about="everyone")
    assert office.say(new, "deny").written == "nothing for shops"
    assert office.request("s1.example")[0].code == "blocked"
    assert office.request("s2.example")[0].code == "blocked"
    assert office.offered("s1.example", ["age"], pool="@shops") is None
    assert consent.reviews(office.now) == []


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
    assert office.consent.usable("a.example", office.now, approved=True) is None
    assert office.consent.reviews(office.now) == [new]


def test_refusals_leave_room_for_the_user_s_own_rules(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reaches the door of queries could fill the policy; one that is there is no more."""
    monkeypatch.setattr("agent.daemon.consent.MOST_BLOCKS", 3)
    office.say(office.offer("s1.example", ["age"], pool="@shops"), "deny", "days", days=2)
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
    assert codes == ["blocked", "blocked", "answered", "blocked"]


@FEW
@given(
    offers=st.dictionaries(
        st.sampled_from(HOSTS), st.tuples(st.sampled_from(PATHS), st.none() | st.integers(0, 2))
    ),
    blocked=st.sets(st.sampled_from(HOSTS)),
    later=st.integers(0, 3),
    locked=st.booleans(),
)
def test_listed_is_what_is_ruled_and_approved(
    *,
    offers: dict[str, tuple[str, int | None]],
    blocked: set[str],
    later: int,
    locked: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Of who gets nothing none; while it is locked the policy's alone; and none twice."""
    path = tmp_path_factory.mktemp("p") / "policy.toml"
    path.write_text(SEARCHING)
    office, expected = Office(path), {("ruled.example", RULED)}
    office.consent.opened(Memory())
    for host, (place, days) in offers.items():
        search = f"https://{host}{place}?q={{query}}"
        new = office.offer(host, ["age"], search=search)
        more = {"days": days} if days else {}
        office.say(new, "approve", "days" if days else "always", **more)
        if not locked and (not days or later <= days):
            expected.add((host, search))
    for host in blocked:
        office.consent.refuse(host, office.now)
    office.now += timedelta(days=later)
    if locked:
        office.consent.closed()
    found = [(each.recipient, each.search) for each in office.consent.sites(office.now)]
    assert found == sorted(each for each in expected if each[0] not in blocked)


ADDRESS = "https://chat.example/"


def wanted(office: Office, address: str = ADDRESS) -> bool:
    office.offered("chat.example", [], address=address)
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
    """And can be wanted again then; a no changes nothing."""
    wanted(office)
    [review] = office.consent.reviews(office.now)
    office.say(review, "approve", "days", days=2)
    for days, assistants in ((2, ["https://chat.example"]), (1, [])):
        office.now += timedelta(days=days)
        assert office.consent.assistants(office.now) == assistants
    assert wanted(office)
    [review] = office.consent.reviews(office.now)
    text = office.path.read_text()
    assert office.say(review, "deny").written is None
    assert (office.path.read_text(), office.consent.reviews(office.now)) == (text, [])


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


# undoing


SAYING = ("a.example", "www.a.example", "b.example", "s1.example", "s2.example")


@dataclass(frozen=True)
class Spoken:
    """Anything that a user says after a request of a host; ``said``: a verdict or an override."""

    host: str
    said: str
    names: tuple[str, ...]
    lasting: Lasting
    everyone: bool
    hours: int

    def say(self, office: Office) -> bool:
        """Say it, if it makes sense by now; return whether it did."""
        more: Any = {
            "lasting": self.lasting,
            "days": 3 if self.lasting == "days" else None,
            "about": "everyone" if self.everyone else "recipient",
        }
        try:
            if self.said in get_args(Disclose):
                said: Any = self.said
                word = Word(recipient=self.host, names=[*self.names], disclose=said, **more)
                office.consent.override(word, office.now)
                return True
            review = office.consent.reviews(office.now)[-1]
            if self.said == "dismiss":
                office.consent.dismiss(review.id)
            else:
                office.say(review, self.said, **more)
        except (ReticentError, IndexError):
            return False
        return True


WORDS = st.builds(
    Spoken,
    st.sampled_from(SAYING),
    st.sampled_from([*get_args(Disclose), "approve", "deny", "dismiss"]),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from(get_args(Lasting)),
    st.booleans(),
    st.sampled_from([0, 1, 5, 30]),
)


def remembered(office: Office) -> tuple[object, object]:
    consent = office.consent
    return consent.preferences, consent._waiting  # noqa: SLF001  (all of it)


@FEW
@given(before=st.lists(WORDS, max_size=5), last=WORDS)
def test_undo_restores_all_that_a_word_changed(
    before: list[Spoken], last: Spoken, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is remembered, what waits, and every byte of the file; then there is nothing more."""
    office = open_office(tmp_path_factory.mktemp("p"))
    office.path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    office.path.chmod(0o640)
    for word in before:
        office.now += timedelta(hours=word.hours)
        office.request(word.host)
        word.say(office)
    office.request(last.host)
    office.consent.reviews(office.now)
    state, text = remembered(office), office.path.read_bytes()
    if not last.say(office):
        assert (remembered(office), office.path.read_bytes()) == (state, text)
        return
    said = office.consent.undo(office.now)
    assert ": undone." in said
    assert (GONE in said) == (last.said != "dismiss")
    assert (remembered(office), office.path.read_bytes()) == (state, text)
    assert office.path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(UsageError, match="nothing to undo"):
        office.consent.undo(office.now)


@FEW
@given(word=WORDS, hosts=st.lists(st.sampled_from(SAYING), max_size=4))
def test_undo_leaves_what_came_meanwhile(
    word: Spoken, hosts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Later requests wait on, none twice, and what was used up is not said again."""
    office = open_office(tmp_path_factory.mktemp("p"))
    office.request(word.host)
    first = office.consent.reviews(office.now)
    if not word.say(office):
        return
    for host in hosts:
        office.request(host)
    between = office.consent.reviews(office.now)
    office.consent.undo(office.now)
    after = office.consent.reviews(office.now)
    assert len({each.id for each in after}) == len(after)
    assert {each.pool for each in between} <= {each.pool for each in after}
    assert {each.pool for each in first} <= {each.pool for each in after}
    assert office.path.read_text() == TEXT
    assert office.consent.preferences == ()


def test_an_offer_waits_again(office: Office) -> None:
    """What was approved before holds again; where that cannot be kept, it is undone later."""
    records, consent = Memory(), office.consent
    consent.opened(records)
    office.say(office.offer("a.example", ["gender"]), "approve")
    kept, text = dict(records.records), office.path.read_bytes()
    new = office.offer("a.example", ["age"])
    for decided in ("deny", "approve"):
        office.say(new, decided)
        assert (office.path.read_bytes(), records.records) != (text, kept)
        if decided == "approve":
            records.full = True
            with pytest.raises(VaultError):
                consent.undo(office.now)
            assert consent.reviews(office.now) == []
            records.full = False
        said = consent.undo(office.now)
        assert said.startswith("Approved" if decided == "approve" else "Denied")
        assert (office.path.read_bytes(), records.records) == (text, kept)
        assert consent.reviews(office.now) == [new]
        assert consent.usable("a.example", office.now, approved=True) == frozenset({"gender"})
