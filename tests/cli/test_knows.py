"""`reticent requests knows`: what a recipient holds."""

import msgspec
import pytest

from agent.errors import LockedError
from agent.wire.records import Held, Inferred
from tests.cli.conftest import Run
from tests.cli.daemon import HELD, HOSTILE, LONG, changed
from tests.wire.fake import FakeDaemon, says


def test_the_page_says_what_and_since_when_and_how_much_that_is(run: Run, fake: FakeDaemon) -> None:
    """The recipient may be a group."""
    ran = run("requests", "knows", "@weather")
    assert (ran.code, ran.err) == (0, "")
    assert fake.calls == [("knowledge", {"recipient": "@weather"}), ("attributes", {})]
    said = " ".join(ran.out.split())
    head = (
        "weather.example knows 2 facts about you. To it, you blend in with 20 of 60 people in the"
    )
    assert said.startswith(f"{head} model village; 1 new in the last seven days.")
    assert "region coast 2026-03-02" in said
    assert max(map(len, ran.out.splitlines())) <= 80


def test_what_is_unspecified_is_said_to_be_a_fact(run: Run, fake: FakeDaemon) -> None:
    """Nobody in the model may be like that; where all says something, nothing is said of it."""
    said = " ".join(run("requests", "knows", "a.example").out.split())
    assert "It also knows that you did not specify hobby." in said
    two = {"region": "unspecified", "hobby": "unspecified"}
    fake.handlers["knowledge"] = says(changed(HELD, values=two))
    said = " ".join(run("requests", "knows", "a.example").out.split())
    assert "you did not specify region and hobby." in said
    fake.handlers["knowledge"] = says(changed(HELD, values={"region": "coast"}))
    assert "did not specify" not in run("requests", "knows", "a.example").out


def test_whoever_holds_nothing_is_said_to(run: Run, fake: FakeDaemon) -> None:
    """Without a table."""
    fake.handlers["knowledge"] = says(changed(HELD, values={}, since={}, recent=0))
    assert run("requests", "knows", "a.example").out.startswith(
        "weather.example knows nothing about you."
    )


def test_each_guarded_fact_has_a_sentence(run: Run, fake: FakeDaemon) -> None:
    """What is told of it; or that it is less certain now; or that nothing can be said."""
    more = Inferred(
        name="salary", title="Pay", bits=0.25, bits_in_all=1.5, best_guess=0.62, by_chance=0.5
    )
    less = changed(more, name="smokes", title=HOSTILE, bits=-0.125)
    none = changed(more, name="rare", title="Rare", bits=0.0, best_guess=0.0)
    fake.handlers["knowledge"] = says(changed(HELD, inferred=[more, less, none]))
    ran = run("requests", "knows", "a.example")
    said = " ".join(ran.out.split())
    assert (
        "Pay (guarded): its best guess is right for 62% of people like you, and 50% by chance; it "
        "has learned 0.25 of 1.50 bits about it." in said
    )
    assert "it is 0.12 bits less certain than before." in said
    assert "Rare: too few people look like you to tell what it could guess." in said
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_nothing_that_is_held_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """A value may be of a model of anybody's."""
    held = changed(HELD, pool=LONG, values={LONG: HOSTILE}, model=HOSTILE)
    fake.handlers["knowledge"] = says(held)
    ran = run("requests", "knows", "a.example")
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.usefixtures("fake")
def test_the_object_is_the_message(run: Run) -> None:
    """As openapi.json describes it."""
    assert msgspec.convert(run("requests", "knows", "a.example", "--json").record, Held) == HELD


def test_a_locked_vault_is_an_error(run: Run, fake: FakeDaemon) -> None:
    """In the daemon's words."""

    def locked(recipient: str) -> None:
        raise LockedError("the vault is locked", f"unlock it, then ask for {recipient}")

    fake.handlers["knowledge"] = locked
    error = ("the vault is locked", "unlock it, then ask for a.example")
    assert run("requests", "knows", "a.example").refusal(code=1) == error
    assert run("requests", "knows").refusal()[0] == "missing argument 'RECIPIENT'"
