"""`reticent ask` and `whatif`: the page, the object, what was not decided, and the dry run."""

import json
from typing import Any

import msgspec
import pytest

from agent.errors import LockedError
from agent.wire.decide import Answer, Ask, Code, Explained, Line
from agent.wire.what_if import Row, Weighed, Weight, WhatIf
from agent.words.outcomes import WHY_NOTHING
from tests.cli.conftest import Run
from tests.cli.daemon import (
    ANSWER,
    EXPLAINED,
    HOSTILE,
    LOCKED,
    LONG,
    POLICY,
    REVIEW,
    STATUS,
    SUMMARY,
    changed,
)
from tests.cli.policing import REGION
from tests.wire.fake import FakeDaemon, says

ASK = ("ask", "weather.example", "weather")
VERDICT = "Sent 1 fact to weather.example: region; about 20 people still look like you."
WHATIF = ("requests", "whatif", "weather", "--recipient", "weather.example")
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


def test_the_page_has_the_values_and_the_header(run: Run, fake: FakeDaemon) -> None:
    """The plain sentence is on top; nothing waits, and so nobody is asked what does."""
    ran = run(*ASK, "--explain")
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    assert said.startswith(VERDICT)
    assert 'region coast header Shared-Attributes: region="coast"' in said
    assert "recorded entry 13 of the ledger, as sent to weather.example" in said
    assert "people 20 in the model village fit all that it knows" in said
    assert max(map(len, ran.out.splitlines())) <= 80
    decided = ("decide", {"body": Ask(recipient="weather.example", query="weather")})
    assert fake.calls == [decided, ("attributes", {})]
    plain = " ".join(run(*ASK).out.split())
    assert plain.startswith(VERDICT)
    assert "recorded" not in plain


def test_facts_have_their_titles(run: Run, fake: FakeDaemon) -> None:
    """And values their words, where the daemon knows them; the header has what is sent."""
    fake.handlers["attributes"] = says([changed(REGION, title="Part of the country")])
    fake.handlers["decide"] = says(changed(ANSWER, attributes={"region": "lt_3"}))
    said = " ".join(run(*ASK).out.split())
    assert "Part of the country less than 3" in said
    del fake.handlers["attributes"]  # as of a model that cannot be read
    assert "region less than 3" in " ".join(run(*ASK).out.split())


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("weather", "read as 'weather'"),
        (None, "read as none of the model's known queries"),
    ],
)
def test_the_page_says_what_the_query_was_read_as(
    run: Run, fake: FakeDaemon, known: str | None, said: str
) -> None:
    """Or that it was not recognised, for people and for programs."""
    answer = changed(ANSWER, summary=changed(SUMMARY, read_as=known))
    fake.handlers["decide"] = says(answer)
    assert said in " ".join(run(*ASK).out.split())
    assert run(*ASK, "--json").record["summary"]["read_as"] == known


def test_nothing_to_attach_is_said(run: Run, fake: FakeDaemon) -> None:
    """That is an answer as well."""
    nothing = changed(SUMMARY, headline="Send nothing: one of your rules blocks it.")
    fake.handlers["decide"] = says(Answer(code="blocked", summary=nothing))
    assert run(*ASK).out.startswith("Sent nothing: one of your rules blocks it.\n")


@pytest.mark.parametrize(
    ("names", "said"), [(["region"], "region."), (["region", "hobby"], "region and hobby.")]
)
def test_what_the_user_prefers_not_to_say_is_no_success(
    run: Run, fake: FakeDaemon, names: list[str], said: str
) -> None:
    """Nothing is attached, and that stands first."""
    silent = Answer(code="answered", unspecified=names, id=13, summary=SUMMARY)
    fake.handlers["decide"] = says(silent)
    ran = run(*ASK)
    page = " ".join(ran.out.split())
    assert page.startswith(f"Sent nothing to weather.example: you prefer not to say {said}")
    assert "an answer too" in page
    assert max(map(len, ran.out.splitlines())) <= 80
    fake.handlers["decide"] = says(changed(ANSWER, unspecified=names))
    assert " ".join(run(*ASK).out.split()).startswith(VERDICT)


def test_what_waits_is_named_with_what_to_say(run: Run, fake: FakeDaemon) -> None:
    """Of this recipient's pool only."""
    waiting = changed(ANSWER, summary=changed(SUMMARY, waiting=1))
    fake.handlers["decide"] = says(waiting)
    said = " ".join(run(*ASK).out.split())
    assert "waits for you hobby and shoe_size, until you say `reticent requests approve 3`" in said
    assert "approve 4" not in said
    other = changed(REVIEW, pool="other.example")
    fake.handlers["reviews"] = lambda: [other]
    assert "approve" not in run(*ASK).out


@pytest.mark.parametrize(
    ("only", "asked"), [("region", ["region"]), ("region, hobby", ["region", "hobby"]), ("", [])]
)
def test_only_what_the_recipient_can_use_is_asked(
    run: Run, fake: FakeDaemon, only: str, asked: list[str]
) -> None:
    """An empty list is a list, and not the absence of one."""
    assert run(*ASK, "--only-names", only).code == 0
    assert fake.calls[0][1]["body"].asked == asked


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["", "dry"])
def test_a_name_that_the_model_lacks_is_noted(
    run: Run, fake: FakeDaemon, dry: tuple[str, ...]
) -> None:
    """It may be one of another model; where nothing is looked at, nothing is known of names."""
    ran = run(*ASK, "--only-names", "regoin,region,hobby,zzz", *dry)
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "reticent: note: the model lacks 'regoin': did you mean 'region'?",
        "reticent: note: the model lacks 'zzz'",
    ]
    assert msgspec.json.decode(run(*ASK, "--only-names", "zzz", "--json", *dry).out)
    before = len(fake.calls)
    assert run(*ASK, "--only-names", "region", *dry).err == ""
    first = "explain" if dry else "decide"
    assert [name for name, _ in fake.calls[before:]] == [first, "attributes"]
    fake.handlers["explain"] = says(changed(EXPLAINED, candidates=[]))
    assert run(*ASK, "--only-names", "regoin", *dry).err == ""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("locked", "`reticent unlock`"),
        ("no policy", '`preset = "balanced"` into /home/u/policy'),
        ("no model", "`reticent model add`"),
        ("unfit", "`reticent requests knows`"),
        ("failed", "state/daemon.log"),
        ("not https", "https address"),
        ("too many", "in a minute"),
        ("too many from pages", "in a minute"),
    ],
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["", "dry"])
def test_what_was_not_decided_is_an_error(
    run: Run, fake: FakeDaemon, code: Code, said: str, dry: tuple[str, ...]
) -> None:
    """Whoever sends the request sees it by the exit code; a program by the code as well."""
    ends = 2 if code == "not https" else 1
    answer = msgspec.convert({"code": code}, Answer)
    explained = changed(EXPLAINED, code=code)
    fake.handlers |= {"decide": says(answer), "explain": says(explained)}
    error, hint = run(*ASK, *dry).refusal(code=ends)
    assert error == f"nothing may be attached: {WHY_NOTHING[code]}"
    assert said in hint
    ran = run(*ASK, *dry, "--json")
    assert (ran.code, ran.err) == (ends, "")
    assert msgspec.json.decode(ran.out)["code"] == code


def test_what_is_in_the_way_is_looked_at(run: Run, fake: FakeDaemon) -> None:
    """Where there is no vault, none is opened; where a policy is wrong, none is to be made."""
    fake.handlers["decide"] = says(Answer(code="locked"))
    fake.handlers["status"] = says(changed(LOCKED, vault=False))
    said = ("nothing may be attached: there is no vault yet", "make one with `reticent init`")
    assert run(*ASK).refusal(code=1) == said
    fake.handlers["decide"] = says(Answer(code="no policy"))
    wrong = changed(POLICY, in_use=False, problems=["3: lambda: no number"])
    fake.handlers["status"] = says(changed(STATUS, policy=wrong))
    assert "`reticent policy check`" in run(*ASK).refusal(code=1)[1]


@pytest.mark.usefixtures("fake")
def test_the_object_is_the_message(run: Run) -> None:
    """As openapi.json describes it."""
    assert msgspec.convert(run(*ASK, "--json").record, Answer) == ANSWER
    explained = run(*ASK, "--dry-run", "--json").record
    assert msgspec.convert(explained, Explained) == EXPLAINED


def test_a_dry_run_is_explained_as_a_decision_is(run: Run, fake: FakeDaemon) -> None:
    """What leaves first, then what waits with its rule; no candidate, no row. Nothing is asked."""
    assert "Add --explain to see" in run(*ASK, "--dry-run").out
    ran = run(*ASK, "--dry-run", "--explain")
    assert (ran.code, ran.err) == (0, "")
    assert [name for name, _ in fake.calls] == ["explain", "attributes"] * 2
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["region", "yes", "+0.500", "0.100", "chosen"] in rows
    waits = [
        "hobby",
        "-",
        "+0.200",
        "0.100",
        "waits",
        "for",
        "your",
        "approval",
        "(rule:",
        "ask",
        "first)",
    ]
    more = ["shoe_size", "-", "+0.100", "1.500", "costs", "more", "than", "it", "brings"]
    assert rows.index(waits) + 1 == rows.index(more)
    assert "salary" not in ran.out
    assert "proven  the best of all sets" in ran.out


def test_nothing_that_was_asked_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """The names of sites and rules may come from anywhere."""
    summary = changed(SUMMARY, headline=HOSTILE, pool=LONG, waiting=1)
    hostile = changed(ANSWER, attributes={"region": HOSTILE}, header=HOSTILE, summary=summary)
    review = changed(REVIEW, pool=LONG, recipient=HOSTILE, query=HOSTILE)
    fake.handlers |= {"decide": says(hostile), "reviews": says([review])}
    ran = run(*ASK)
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["ask"], "missing argument 'RECIPIENT'", "--help"),
        (["ask", "a.example"], "missing argument 'QUERY'", "--help"),
        (["ask", "a.example", " "], "the query is empty", "as in 'version control'"),
        ([*ASK, "--only", "region"], "unknown option '--only'", "did you mean '--only-names'?"),
    ],
)
def test_a_mistake_is_one_sentence(run: Run, arguments: list[str], error: str, hint: str) -> None:
    """Before the daemon is asked."""
    said = run(*arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


@pytest.mark.parametrize("more", [(), ("--json",), ("--dry-run",)])
def test_rules_older_than_the_file_are_noted(
    run: Run, fake: FakeDaemon, more: tuple[str, ...]
) -> None:
    """With the way out, beside an answer of every kind."""
    assert "mistakes" not in run(*ASK, *more).err
    fake.handlers["decide"] = says(changed(ANSWER, stale_rules=True))
    fake.handlers["explain"] = says(changed(EXPLAINED, stale_rules=True))
    ran = run(*ASK, *more)
    assert ran.code == 0
    assert "the rules before it are in use; `reticent policy check` lists them" in ran.err


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
    ran = run(*WHATIF, "--explain", "--with", "hobby")
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


def test_the_object_is_the_message_of_whatif(run: Run, weighs: FakeDaemon) -> None:
    """All of it."""
    ran = run(*WHATIF, "--json")
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


def test_a_name_that_the_model_lacks_is_noted_of_whatif(run: Run, weighs: FakeDaemon) -> None:
    """Among those that the recipient can use it is no mistake."""
    assert weighs.handlers
    ran = run(*WHATIF, "--asked", "region,hobbi")
    assert ran.code == 0
    assert ran.err == "reticent: note: the model lacks 'hobbi': did you mean 'hobby'?\n"


def test_what_could_not_be_decided_is_an_error(run: Run, weighs: FakeDaemon) -> None:
    """The object comes all the same; a locked vault is said by the daemon."""
    weighs.handlers["whatif"] = says(changed(WEIGHED, code="unfit", rows=[]))
    assert "does not fit" in run(*WHATIF).refusal(code=1)[0]
    ran = run(*WHATIF, "--json")
    assert (ran.code, json.loads(ran.out)["code"]) == (1, "unfit")

    def locked(**_: object) -> None:
        raise LockedError

    weighs.handlers["whatif"] = locked
    assert run(*WHATIF).refusal(code=1)[0] == "the vault is locked"


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
    assert "\x1b" not in run(*WHATIF).out
