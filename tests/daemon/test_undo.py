"""The last word, taken back."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ReticentError, UsageError, VaultError
from agent.wire.policy import Disclose, Lasting, Word
from agent.words.figures import listed
from tests.daemon.office import TEXT, Office, open_office
from tests.decision.made import NAMES
from tests.worlds.people import Memory

HOSTS = ("a.example", "www.a.example", "b.example", "s1.example", "s2.example")
ALREADY_SENT = "Data already sent cannot be recalled."


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
    st.sampled_from(HOSTS),
    st.sampled_from([*get_args(Disclose), "approve", "deny", "dismiss"]),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from(get_args(Lasting)),
    st.booleans(),
    st.sampled_from([0, 1, 5, 30]),
)


def remembered(office: Office) -> tuple[object, object]:
    """Return all that is remembered."""
    consent = office.consent
    return consent._preferences, consent._waiting  # noqa: SLF001  (all of it)


def life(office: Office, words: list[Spoken]) -> None:
    """Let requests go by, each with a word after it."""
    for word in words:
        office.now += timedelta(hours=word.hours)
        office.request(word.host)
        word.say(office)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Return an unlocked consent whose policy asks for everything."""
    made = open_office(tmp_path)
    made.consent.opened(Memory())
    return made


@given(before=st.lists(WORDS, max_size=5), last=WORDS)
def test_undo_restores_all_that_a_word_changed(
    before: list[Spoken], last: Spoken, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is remembered, what waits, and every byte of the file; then there is nothing more."""
    office = open_office(tmp_path_factory.mktemp("p"))
    office.path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    office.path.chmod(0o640)
    life(office, before)
    office.request(last.host)
    office.consent.reviews(office.now)
    state, text = remembered(office), office.path.read_bytes()
    if not last.say(office):
        assert (remembered(office), office.path.read_bytes()) == (state, text)
        return
    said = office.consent.undo(office.now)
    assert ": undone." in said
    assert (ALREADY_SENT in said) == (last.said != "dismiss")
    assert (remembered(office), office.path.read_bytes()) == (state, text)
    assert office.path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(UsageError, match="nothing to undo"):
        office.consent.undo(office.now)


@given(word=WORDS, hosts=st.lists(st.sampled_from(HOSTS), max_size=4))
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
    assert office.consent._preferences == ()  # noqa: SLF001


def test_an_edited_policy_is_not_touched(office: Office) -> None:
    """The word can still be taken back once the file is as we left it."""
    review = office.review("a.example")
    office.say(review, "deny", "always")
    ours = office.path.read_text()
    for text in (f"{ours}k = 3\n", ours.replace("# all", "# mine"), "lamda = 1\n"):
        office.path.write_text(text)
        state = remembered(office)
        with pytest.raises(UsageError, match="was edited since") as raised:
            office.consent.undo(office.now)
        assert "reticent policy" in raised.value.hint
        assert (office.path.read_text(), remembered(office)) == (text, state)
    office.path.write_text(ours)
    office.consent.undo(office.now)
    assert (office.path.read_text(), office.consent.reviews(office.now)) == (TEXT, [review])


@pytest.mark.parametrize("decided", ["approve", "deny"])
@pytest.mark.parametrize("earlier", [None, ["gender"]])
def test_an_offer_waits_again(office: Office, decided: str, earlier: list[str] | None) -> None:
    """What was approved before holds again."""
    records = Memory()
    office.consent.opened(records)
    if earlier is not None:
        new = office.consent.offer("a.example", "a.example", earlier, office.now)
        assert new is not None
        office.say(new, "approve")
    kept = dict(records.records)
    before = office.consent.offered("a.example", office.now)
    new = office.offer("a.example", ["age"])
    text = office.path.read_bytes()
    office.say(new, decided)
    assert (office.path.read_bytes(), records.records) != (text, kept)
    assert office.consent.undo(office.now).startswith(
        "Approved" if decided == "approve" else "Denied"
    )
    assert (office.path.read_bytes(), records.records) == (text, kept)
    assert office.consent.reviews(office.now) == [new]
    assert office.consent.offered("a.example", office.now) == before


def test_an_offer_that_cannot_be_remembered_is_taken_back_later(office: Office) -> None:
    """What was done of it is not done again."""
    records = Memory()
    office.consent.opened(records)
    first = office.offer("a.example", ["gender"])
    office.say(first, "approve")
    new = office.offer("a.example", ["age"])
    office.say(new, "approve")
    records.full = True
    with pytest.raises(VaultError):
        office.consent.undo(office.now)
    assert office.consent.reviews(office.now) == []
    records.full = False
    office.consent.undo(office.now)
    assert office.consent.reviews(office.now) == [new]
    assert office.consent.offered("a.example", office.now) == frozenset({"gender"})


def test_lock_forgets_the_step_and_a_failure_does_not(office: Office) -> None:
    """There is one step, that of the last word which was applied."""
    review = office.review("a.example")
    office.say(review, "deny", "always")
    with pytest.raises(ReticentError):
        office.consent.answer(99, Word(disclose="never"), office.now)
    said = f"Denied {listed(review.names)} for a.example: undone. {ALREADY_SENT}"
    assert office.consent.undo(office.now) == said
    assert office.consent.reviews(office.now) == [review]
    office.say(review, "deny", "always")
    office.consent.closed()
    with pytest.raises(UsageError, match="nothing to undo"):
        office.consent.undo(office.now)


def test_a_refusal_of_a_recipient_is_no_step(office: Office) -> None:
    """The offers that it settles stay settled; the word before it can be taken back."""
    review = office.review("b.example")
    office.consent.offer("a.example", "a.example", ["age"], office.now)
    office.say(review, "deny")
    office.consent.refuse("a.example", office.now)
    text = office.path.read_text()
    office.consent.undo(office.now)
    assert office.path.read_text() == text
    assert office.consent.reviews(office.now) == [review]
    assert office.request("b.example")[1] is None
