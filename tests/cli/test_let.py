"""`reticent policy let`: every word on attributes that need not wait reaches the daemon."""

from typing import Any

import msgspec
import pytest

from agent.errors import LockedError
from agent.wire.policy import Override
from tests.cli.conftest import Run
from tests.cli.daemon import RULED, changed
from tests.cli.policing import REGION
from tests.wire.fake import FakeDaemon, says

HOST = "shop.example"
LONG: list[tuple[list[str], dict[str, Any], str]] = [
    ([], {"lasting": "always"}, "from now on"),
    (["--always"], {"lasting": "always"}, "from now on"),
    (["--once"], {"lasting": "once"}, "with the next request"),
    (["--until-restart"], {"lasting": "until restart"}, "until the daemon restarts"),
    (["--days", "2"], {"lasting": "days", "days": 2}, "for 2 days"),
]
SAID = {
    "never": "Region will not be sent to {} {}.",
    "ask": "Region will wait for your approval before going to {} {}.",
    "auto": "Region may be sent to {} {}, when worth it.",
    "always": "Region will be sent to {} {}, unless a limit or a guard forbids it.",
}


@pytest.mark.parametrize("disclose", SAID)
@pytest.mark.parametrize("about", ["recipient", "everyone"])
def test_every_word_reaches_the_daemon(
    run: Run, fake: FakeDaemon, disclose: str, about: str
) -> None:
    """For as long, and about whom, as it is said; in the words of the model's titles."""
    fake.handlers["attributes"] = says([REGION])
    for options, fields, lasting in LONG:
        fake.calls.clear()
        whom = ["--everyone"] if about == "everyone" else []
        ran = run("policy", "let", HOST, "region", disclose, *options, *whom)
        assert (ran.code, ran.err) == (0, "")
        plain = {"recipient": HOST, "names": ["region"], "disclose": disclose, "about": about}
        word = msgspec.convert({**plain, **fields}, Override)
        assert fake.calls[0] == ("override", {"body": word})
        to = "everyone" if whom else f"{HOST} and its group"
        assert " ".join(ran.out.split()) == SAID[disclose].format(to, lasting)


def test_a_host_that_is_probably_misspelt_is_noted(run: Run, fake: FakeDaemon) -> None:
    """Not one that was sent something, nor where the vault is locked."""
    for host, noted in (("wether.example", 1), ("api.weather.example", 0), (HOST, 0)):
        assert run("policy", "let", host, "region", "ask").err.count("did you mean") == noted

    def locked() -> None:
        raise LockedError

    fake.handlers["recipients"] = locked
    assert run("policy", "let", "wether.example", "region", "ask").err == ""


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
