"""`reticent policy let`: every word on attributes that need not wait reaches the daemon."""

from typing import Any

import msgspec
import pytest

from agent.wire.policy import Override
from tests.cli.conftest import Run
from tests.cli.daemon import RULED, changed
from tests.wire.fake import FakeDaemon, says

HOST = "shop.example"
Long = tuple[list[str], dict[str, Any], str]
LONG: list[Long] = [
    ([], {"lasting": "always"}, "from now on"),
    (["--always"], {"lasting": "always"}, "from now on"),
    (["--once"], {"lasting": "once"}, "with the next request"),
    (["--until-restart"], {"lasting": "until restart"}, "until the daemon restarts"),
    (["--days", "2"], {"lasting": "days", "days": 2}, "for 2 days"),
]
SAID = [
    ("never", "region will not be sent to {} {}."),
    ("ask", "region will wait for your approval before going to {} {}."),
    ("auto", "region may be sent to {} {}, when worth it."),
    ("always", "region will be sent to {} {}, unless a limit or a guard forbids it."),
]


@pytest.mark.parametrize("long", LONG)
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("about", ["recipient", "everyone"])
def test_every_word_reaches_the_daemon(
    run: Run, fake: FakeDaemon, long: Long, said: tuple[str, str], about: str
) -> None:
    """For as long, and about whom, as it is said."""
    (options, fields, lasting), (disclose, text) = long, said
    everyone = about == "everyone"
    ran = run(
        "policy", "let", HOST, "region", disclose, *options, *(["--everyone"] if everyone else [])
    )
    assert (ran.code, ran.err) == (0, "")
    plain = {"recipient": HOST, "names": ["region"], "disclose": disclose, "about": about}
    word = msgspec.convert({**plain, **fields}, Override)
    assert fake.calls == [("override", {"body": word})]
    whom = "everyone" if everyone else f"{HOST} and its group"
    assert " ".join(ran.out.split()) == text.format(whom, lasting)


def test_several_attributes_are_named_once_each(run: Run, fake: FakeDaemon) -> None:
    """Joined by commas; what was written, and what wins all the same, is said."""
    ruled = changed(RULED, written="denied for shop", without_effect=["hobby"], decided_by=["no"])
    fake.handlers["override"] = says(ruled)
    said = " ".join(run("policy", "let", HOST, "region, hobby,region", "never").out.split())
    assert fake.calls[0][1]["body"].names == ["region", "hobby"]
    assert said.startswith("region and hobby will not be sent to shop.example")
    assert "Written into /home/u/policy.toml as 'denied for shop'." in said
    assert "No effect on hobby: 'no' still wins." in said
    assert run("policy", "let", HOST, "hobby", "ask", "--json").record == msgspec.to_builtins(ruled)


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ([HOST, "region"], "missing argument", "--help"),
        ([HOST, ",", "never"], "no attribute is named", "joined by commas"),
        ([HOST, "region", "nevr"], "unknown value", "'never'"),
        ([HOST, "region", "ask", "--once", "--always"], "--once does not go with --always", "one"),
        ([HOST, "region", "ask", "--days", "0"], "0 is not between 1 and 3650", "--help"),
    ],
)
@pytest.mark.usefixtures("fake")
def test_a_mistake_is_one_sentence(run: Run, arguments: list[str], error: str, hint: str) -> None:
    """With what can be said instead."""
    said = run("policy", "let", *arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_no_word_that_opens_is_suggested(run: Run) -> None:
    """Names and words were swapped: the hint was to let all out."""
    for word in ("salary", "alwasy", "region"):
        ran = run("policy", "let", HOST, "never", word)
        assert ran.code == 2
        assert "hint: known: never, ask, auto, always" in ran.err
    assert "did you mean 'never'?" in run("policy", "let", HOST, "region", "nevr").err
