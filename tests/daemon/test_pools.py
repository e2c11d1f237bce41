"""A recipient is a pool: the user's word at one of its domains holds at all, and what one knows."""

from typing import get_args

import pytest
from msgspec.structs import replace

from agent.daemon.handle import handle
from agent.daemon.request_log import Asker
from agent.errors import UsageError
from agent.wire.base import RecipientName
from agent.wire.decide import Ask
from agent.wire.policy import Word
from tests.daemon.office import Office
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import SHOP

DOMAINS = [  # one of a pool, another of the same, and how a rule names all
    ("www.google.de", "google.com", "google.com"),
    ("openai.com", "www.chatgpt.com", "chatgpt.com"),
    ("s2.example", "s1.example", "shops"),
    ("127.0.0.1", "searx.localhost", "localhost"),
]


@pytest.mark.parametrize(("here", "there", "whole"), DOMAINS)
def test_a_word_at_one_domain_holds_at_all(
    office: Office, here: str, there: str, whole: str
) -> None:
    """A refusal, a denial of what waits or of an offer, and a word in advance; and its undoing."""
    consent, now, before = office.consent, office.now, office.path.read_text()

    def codes() -> set[str]:
        return {office.request(each)[0].code for each in (here, there)}

    consent.refuse(here, now)
    assert codes() == {"blocked"}
    assert f'recipient = "{whole}"' in office.path.read_text()
    assert consent.allow(there).changed
    assert (codes(), office.path.read_text().strip()) == ({"answered"}, before.strip())
    waiting = office.review(here)
    ruled = office.say(waiting, "deny", "always")
    assert ruled.without_effect == []
    assert {*waiting.names}.isdisjoint(office.request(there)[0].waiting)
    consent.undo(now)
    consent.override(Word(recipient=there, names=["age"], disclose="never", lasting="always"), now)
    assert "age" not in office.request(here)[0].waiting
    consent.undo(now)
    offer = office.offer(here.removeprefix("www."), ["age"], pool=office.active().pool_of(here))
    office.say(offer, "deny", "always")
    assert codes() == {"blocked"}


def test_a_pool_is_named_in_more_than_one_way(office: Office) -> None:
    """An older word under another name is replaced; @ may stand before a group; no bare name is."""
    older = Word(recipient="openai.com", names=["age"], disclose="never", lasting="always")
    office.consent.override(older, office.now)
    office.path.write_text(office.path.read_text().replace("chatgpt.com", "openai.com"))
    for name in ("chatgpt.com", "shops", "@shops"):
        word = replace(older, recipient=name, disclose="auto")
        assert office.consent.override(word, office.now).without_effect == []
    assert "openai.com" not in office.path.read_text()
    office.consent.refuse("@shops", office.now)
    assert office.request("s1.example")[0].code == "blocked"
    with pytest.raises(UsageError, match="it has no dot"):
        office.consent.refuse("claude", office.now)


def test_what_two_names_were_told_counts_together(opened: Home) -> None:
    """Also what the ledger has from when they were two recipients; a statement is about both."""
    for host in ("api.openai.com", "chatgpt.com"):
        assert opened.calls.decide(Ask(query=SHOP.query, recipient=host)).attributes
    (known,) = opened.calls.recipients(recipient="openai.com")
    assert (known.pool, known.requests, "age" in known.values) == ("chatgpt.com", 2, True)
    opened.calls.forget(RecipientName(recipient="openai.com"))
    assert opened.calls.recipients(recipient="chatgpt.com")[0].values == {}


@pytest.mark.parametrize("by", get_args(Asker))
def test_a_bare_name_is_answered_with_nothing(opened: Home, by: Asker) -> None:
    """Whoever asks, unless a group has it."""
    for group, code in (("", "blocked"), ('assistants = ["claude"]\n', "answered")):
        opened.rule(POLICY.replace("[groups]\n", f"[groups]\n{group}"))
        answer = handle(Ask(query=SHOP.query, recipient="Claude"), opened.now, opened.agent, by)
        assert answer.code == code
        assert bool(answer.attributes) == bool(group)
