"""Assistants that wait to be listed: by a rule, once the user agrees."""

from datetime import timedelta

import pytest

from agent.errors import UsageError
from tests.daemon.office import TEXT, Office

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
