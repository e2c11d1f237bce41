"""`reticent requests whatif`: the page, the object, what is asked of the daemon."""

import json
from typing import Any

import msgspec
import pytest

from agent.errors import LockedError
from agent.wire.decide import Line
from agent.wire.what_if import Row, Weighed, Weight, WhatIf
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE, changed
from tests.wire.fake import FakeDaemon, says

ASK = ("requests", "whatif", "weather", "--recipient", "weather.example")
LEAVES = Weight(
    names=["region"], utility_bits=0.412, cost_bits=0.1, identifiability=0.05, people_left=20
)
WITH = Weight(
    names=["region", "hobby"],
    utility_bits=0.5,
    cost_bits=0.25,
    identifiability=0.1,
    people_left=9.75,
    breaks="k",
)


def row(name: str, reason: str = "worth it", **fields: Any) -> Row:  # noqa: ANN401  (of any field)
    """Return a row of an attribute that is ruled `auto`."""
    plain: dict[str, Any] = {"title": name, "inside": False, "held": False, "disclose": "auto"}
    return Row(name=name, reason=reason, **plain | fields)


WEIGHED = Weighed(
    code="answered",
    headline="With hobby: +0.088 bits, and about 9.8 of 60 people look like you, in place of 20.",
    pool="weather.example",
    model="village",
    metric="maxprob",
    trade_off=5.12,
    people=60,
    decided=["region"],
    pending=["hobby"],
    chosen=LEAVES,
    weighed=WITH,
    rows=[
        row("region", inside=True, gain_bits=0.4, cost_bits=0.1, people_left=9.75),
        row(
            "hobby",
            "waits for you",
            inside=True,
            disclose="ask",
            rule="ask first",
            gain_bits=0.088,
            cost_bits=0.15,
            people_left=9.75,
        ),
        row("shoe_size", "never", disclose="never", gain_bits=0.2, cost_bits=1.5, people_left=1),
        row("at_work", "too many", people_left=9.75),
        row("salary", "would break a limit", limit="k", gain_bits=1, cost_bits=0.5, people_left=3),
    ],
    lines=[Line(label="decided", text="Disclose region.")],
)


@pytest.fixture
def weighs(fake: FakeDaemon) -> FakeDaemon:
    """A daemon that weighs."""
    fake.handlers["whatif"] = says(WEIGHED)
    return fake


def told(page: str) -> list[str]:
    """Return the lines, with one space between words."""
    return [" ".join(line.split()) for line in page.splitlines()]


def test_the_page_has_both_sets_and_every_attribute(run: Run, weighs: FakeDaemon) -> None:
    """What is in comes first, then what would bring most for its cost."""
    ran = run(*ASK, "--explain", "--with", "hobby")
    assert (ran.code, ran.err) == (0, "")
    lines = told(ran.out)
    assert " ".join(ran.out.split()).startswith(WEIGHED.headline)
    assert "decided 0.412 0.100 20 - region" in lines
    assert "what if 0.500 0.250 9.8 k region, hobby" in lines
    places = [
        next(place for place, line in enumerate(lines) if line.startswith(each))
        for each in (
            "region yes +0.400 0.100 9.8 auto helps",
            "hobby new +0.088 0.150 9.8 ask waits for",
            "salary - +1.000 0.500 3 auto would break a",
            "shoe_size - +0.200 1.500 1 never never sent",
            "at_work - - - 9.8 auto too many",
        )
    ]
    assert places == sorted(places)
    assert "decided Disclose region." in lines
    assert max(map(len, ran.out.splitlines())) <= 80
    body = WhatIf(recipient="weather.example", query="weather", add=["hobby"])
    assert weighs.calls == [("whatif", {"body": body})]


def test_what_is_dropped_is_marked(run: Run, weighs: FakeDaemon) -> None:
    """By a word; of two equal sets one is shown."""
    rows = [msgspec.structs.replace(each, inside=False) for each in WEIGHED.rows]
    weighs.handlers["whatif"] = says(changed(WEIGHED, rows=rows, weighed=LEAVES))
    lines = told(run("requests", "whatif", "--explain", "--entry", "3").out)
    assert any(line.startswith("region gone +0.400 0.100 9.8 auto sent; today:") for line in lines)
    assert "shoe_size - +0.200 1.500 1 never never sent" in lines
    assert "sent 0.412 0.100 20 - region" in lines
    assert not any(line.startswith("what if") for line in lines)


def test_the_object_is_the_message(run: Run, weighs: FakeDaemon) -> None:
    """All of it."""
    ran = run(*ASK, "--json")
    assert ran.record == msgspec.to_builtins(WEIGHED)
    assert weighs.calls[-1][1]["body"].add == []


@pytest.mark.parametrize(
    ("options", "body"),
    [
        (("--entry", "7"), WhatIf(entry=7)),
        (("--entry", "7", "--without", "b,a"), WhatIf(entry=7, drop=["a", "b"])),
        (("--recipient", "a.example", "--all"), WhatIf(recipient="a.example")),
        (
            ("q", "--recipient", "a.example", "--asked", "region"),
            WhatIf(recipient="a.example", query="q", asked=["region"]),
        ),
        (
            ("q", "--recipient", "a.example", "--with", "a", "--with", "c,b", "--asked", ""),
            WhatIf(recipient="a.example", query="q", asked=[], add=["a", "b", "c"]),
        ),
    ],
)
def test_what_is_asked(
    run: Run, weighs: FakeDaemon, options: tuple[str, ...], body: WhatIf
) -> None:
    """As the options say it."""
    assert run("requests", "whatif", *options).code == 0
    assert weighs.calls == [("whatif", {"body": body})]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("q",),
        ("--all",),
        ("--recipient", "a.example"),
        ("  ", "--recipient", "a.example"),
        ("q", "--recipient", "a.example", "--all"),
        ("q", "--entry", "1"),
        ("--entry", "1", "--recipient", "a.example"),
        ("--entry", "1", "--asked", ""),
        ("--entry", "1", "--all"),
        ("--entry", "0"),
    ],
)
def test_which_request_is_said_once(run: Run, weighs: FakeDaemon, options: tuple[str, ...]) -> None:
    """Else the daemon is not even asked."""
    run("requests", "whatif", *options).refusal(code=2)
    assert weighs.calls == []


def test_a_name_that_the_model_lacks_is_noted(run: Run, weighs: FakeDaemon) -> None:
    """Among those that the recipient can use it is no mistake."""
    assert weighs.handlers
    ran = run(*ASK, "--asked", "region,hobbi")
    assert ran.code == 0
    assert ran.err == "reticent: note: the model lacks 'hobbi': did you mean 'hobby'?\n"


def test_what_could_not_be_decided_is_an_error(run: Run, weighs: FakeDaemon) -> None:
    """The object comes all the same; a locked vault is said by the daemon."""
    weighs.handlers["whatif"] = says(changed(WEIGHED, code="unfit", rows=[]))
    assert "does not fit" in run(*ASK).refusal(code=1)[0]
    ran = run(*ASK, "--json")
    assert (ran.code, json.loads(ran.out)["code"]) == (1, "unfit")

    def locked(**_: object) -> None:
        raise LockedError

    weighs.handlers["whatif"] = locked
    assert run(*ASK).refusal(code=1)[0] == "the vault is locked"


def test_nothing_steers_the_terminal(run: Run, weighs: FakeDaemon) -> None:
    """Whatever a model or a policy has for a name."""
    odd = [changed(each, name=HOSTILE, rule=HOSTILE, reason="always") for each in WEIGHED.rows]
    names = changed(LEAVES, names=[HOSTILE])
    said = changed(
        WEIGHED,
        rows=odd,
        chosen=names,
        headline=HOSTILE,
        lines=[Line(label="decided", text=HOSTILE)],
    )
    weighs.handlers["whatif"] = says(said)
    assert "\x1b" not in run(*ASK).out
