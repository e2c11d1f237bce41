"""The sentences about decisions and about what happened, written down in `sentences.txt`.

`pytest tests/words/test_sentences.py --accept` writes them anew: read the difference before you
keep it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.daemon.prompts import LONGEST_LINE, request
from agent.decision.values import (
    CountedAmong,
    Decision,
    Figures,
    Guarded,
    Inferred,
    Outcome,
    Reading,
    Request,
)
from agent.tradeoff.measures import METRICS
from agent.wire.policy import Disclose, Edited, Review, Ruled, Win, Word
from agent.wire.state import Changed, Entry, Implied, ModelStatus, Recipient, ValueChange
from agent.words import decisions, figures, notices, titles
from agent.words.decisions import difference, lines, proven
from agent.words.figures import alike, bits, number, people
from agent.words.titles import about, the_limit
from tests.worlds.messages import OPEN, POLICY, SHOP, review

FILE = Path(__file__).with_name("sentences.txt")
TITLES = {"region": "region of the world"}
AT = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
HOSTS = st.text(min_size=1, max_size=300)
NAMES = st.lists(st.text("abc_", min_size=1, max_size=30), min_size=1, max_size=9, unique=True)
SURVEY = CountedAmong(people="people of the survey", count=18_991, estimated=False)
COUNTRY = CountedAmong(people="people of the US", count=241_282_226, estimated=True)
GERMANY = replace(COUNTRY, people="people in Germany", count=62_195_942, as_in="the US")
FIGURES = Figures(
    names=("region",),
    utility=0.986,
    objective=0.816,
    identifiability=1 / 20,
    identifiability_cost=1 / 20 - 1 / 60,
    people=60,
    people_left=20.0,
)
REGION = Outcome(
    name="region",
    title=TITLES["region"],
    disclosed=True,
    reason="worth it",
    gain_bits=0.5,
    cost_bits=0.1,
)
OUT = replace(REGION, disclosed=False, gain_bits=None, cost_bits=None)
DECISION = Decision(
    code="answered",
    mode="dynamic",
    request=Request("weather"),
    read_as=Reading(query="weather", title="weather", probability=0.876, model="village"),
    disclosed=("region",),
    figures=FIGURES,
    outcomes=(REGION,),
    algorithm="lls",
    metric="maxprob",
    metric_k=100,
    trade_off=5.12,
    evaluations=7,
    among=CountedAmong(people="people", count=60, estimated=True),
)
REFUSED = replace(REGION, reason="would break a limit", limit="people")
SILENT = replace(DECISION, disclosed=(), figures=replace(FIGURES, people_left=60.0))
SENT = Entry(
    number=3,
    kind="disclosed",
    at=AT,
    recipient="forge.example",
    pool="forge.example",
    disclosed=["region", "hobby"],
    people_left=1800,
)
NOTHING = replace(SENT, kind="nothing", number=-1, disclosed=[], people_left=None)
REVIEW = Review(
    id=4, kind="ask", at=AT, recipient="a.example", pool="@shops", names=["region"], query="git"
)
OFFER = replace(REVIEW, kind="offer", pool="a.example", query="")


def waits(decision: Decision, *names: str) -> Decision:
    """Have attributes wait that bring a quarter of a bit."""
    names = (*decision.disclosed, *names)
    more = replace(FIGURES, names=names, utility=FIGURES.utility + 0.25, people_left=5.5)
    return replace(decision, pending=more)


def weight(*names: str, left: float = 20.0, **given: Any) -> Figures:  # noqa: ANN401  (of the figures)
    """Figures of a set whose attributes bring a tenth of a bit each."""
    bits = 0.1 * len(names)
    return Figures(names=names, utility=bits, objective=bits, people=60, people_left=left, **given)


def numbers() -> Iterator[str]:
    yield from (figures.listed("abcd"[:count], "nothing") for count in range(4))
    yield from (figures.listed("abcd"[:count], most=2) for count in (2, 4))
    yield from (figures.counted(count, "entry", "entries") for count in (1, 1200))
    yield figures.counted(0, "rule")
    yield ", ".join(bits(each) for each in (None, 0.25, -0.0001, 1.5e7))
    yield ", ".join(bits(each, signed=True) for each in (0.25, -0.25, 0.0))
    expected = (None, 0, 1.0, 2.25, 9.96, 303, 999.6, 18_991, 999_999, 2.4e8)
    yield "; ".join(people(each) for each in expected)
    yield "; ".join(number(each) for each in (0.0123, 5.125, 1234.5))
    yield figures.moment(datetime(2026, 3, 2, 9, 14, 30, tzinfo=UTC), UTC)
    yield from (alike(0), alike(1), alike(60, 60), alike(1800, 18991))
    yield from (alike(41_234, None, COUNTRY), alike(9e6, 9e6, COUNTRY), alike(1, None, COUNTRY))
    yield from (alike(41_234, None, GERMANY), alike(9e6, 9e6, GERMANY), alike(0, 1, GERMANY))
    yield from (
        figures.of_whom(303, SURVEY),
        figures.of_whom(41_234, COUNTRY),
        figures.of_whom(303),
    )
    yield from (
        figures.counted_among(each) for each in ([COUNTRY, COUNTRY], [SURVEY], [COUNTRY, SURVEY])
    )
    yield from (figures.measured(each, "maxprob") for each in (0, 5e-5))
    yield figures.added_risk(1 / 816_123, "maxprob")
    yield titles.why("would break a limit", None, "k")
    yield titles.why("would break a limit", None, "people", 1400)
    yield from (
        titles.why("never", "shops"),
        titles.why("worth it", "shops"),
        titles.why("blocked"),
        titles.why("new"),
    )
    yield from (the_limit("k"), the_limit("other"), titles.write_policy("a.toml"))


def facts_in_words() -> Iterator[str]:
    """Yield values with the unit that their attribute counts in, and phrases that say who asks."""
    for attribute, values in {
        "years since learning to program": ("lt_3", "3_5", "20_up"),
        "number of people at the company": ("lt_10", "10000_up"),
        "people in the household": ("1",),
        "income": ("85,000-150,000",),
        "highest level of education": ("professional",),
        "salary, in fifths from low to high": ("q3",),
        "": ("7", "in", "open_source"),
    }.items():
        shown = "; ".join(titles.value_title(each, attribute) for each in values)
        yield f"{attribute or 'any'}: {shown}"
    yield from titles.facts({"a": "yes", "b": "lt_3"}, {"a": "one"})
    yield titles.fact("interested in .NET", "no")
    yield figures.listed(titles.titled(["a", "b"], {"a": "one"}))
    yield from (
        titles.phrase(title, value)
        for title, value in {
            "age": "35-44",
            "phone": "iPhone, older than 3 years",
            "pets (second)": "cat",
            "state": "Minnesota",
            "favourite colour": "dark_red",
        }.items()
    )
    yield about(["no job", "35 to 44 years old", "no job"])
    yield about(["retired", titles.phrase("", "Vegetarian for ten years, no eggs.", own=True)])


def verdicts() -> Iterator[str]:
    """Yield a verdict for each status, and for each reason to be silent."""
    held = replace(DECISION, outcomes=(replace(REGION, reason="known to the recipient"),))
    held = replace(held, figures=SILENT.figures)
    asks = replace(SILENT, outcomes=(replace(REGION, disclose="ask", reason="waits for you"),))
    for decision in (
        *(DECISION, held, waits(DECISION, "hobby"), replace(SILENT, code="blocked")),
        *(replace(SILENT, code="unknown query"), replace(held, code="recognised")),
        *(replace(SILENT, outcomes=()), waits(asks, "a", "b")),
        replace(SILENT, outcomes=(replace(OUT, reason="not set"),)),
        replace(
            SILENT, outcomes=tuple(replace(OUT, reason=e) for e in ("not set", "hardly helps"))
        ),
        *(replace(replace(SILENT, outcomes=(REFUSED,)), fewest=each) for each in (0, 700)),
        *(replace(SILENT, mode="planned"), replace(SILENT, mode="standing"), SILENT),
    ):
        yield decisions.headline(decision)


def proofs() -> Iterator[str]:
    """Yield what is claimed of a set, by what is proven of it and by how it was found."""
    whole: dict[str, Any] = {"bound": 1.0, "certified": 1.0}
    for changes in (
        *({"proof": "enumerated", **whole}, {"proof": "if-submodular", **whole}, {}),
        *({"node_limit_hit": True}, {"metric": "entropy"}, {"violations": 1}),
        {"guarded": (Guarded(name="a", title="a", bits=0.1, best_guess=0.5),)},
        *({"mode": "planned", "proof": "enumerated", **whole}, {"mode": "standing"}),
        {"proof": "if-submodular", "bound": 1.632, "certified": 0.5},
    ):
        yield proven(replace(DECISION, **changes))
    for changes in (
        *({"mode": "standing"}, {"mode": "planned"}, {"algorithm": "exhaustive"}),
        {"algorithm": "greedy"},
        {"outcomes": (replace(REGION, disclose="always"),)},
    ):
        yield decisions.settled(replace(DECISION, **changes))
    for metric in METRICS:
        yield f"{metric}: {decisions.guessing(replace(DECISION, metric=metric))}"


def explanations() -> Iterator[str]:
    """Yield the lines that follow a verdict, and what a change would come to."""
    age = replace(OUT, name="age", title="age", reason="guarded", rule="me")
    case = replace(
        waits(DECISION, "hobby"),
        mode="planned",
        outcomes=(
            replace(REGION, reason="in the plan", serves=("w", "x", "y", "z")),
            age,
            replace(REGION, name="b", title="b", disclosed=False, disclose="always"),
        ),
        guarded=(Guarded(name="age", title="age", bits=0.25, best_guess=0.5),),
        rules={"shops": ("anonymity_price = 0.005",)},
    )
    unread = replace(SILENT, read_as=None)
    for decision in (
        case,
        replace(unread, code="unknown query"),
        replace(unread, code="blocked"),
        replace(unread, request=Request("")),
    ):
        yield from (f"{each.label}: {each.text}" for each in lines(decision))
        yield ""
    yield from (decisions.fitting(0, 0), decisions.fitting(60, 60), decisions.fitting(60, 20))
    yield decisions.fitting(60, 20, SURVEY)
    broken = weight("b", "c", left=5.0, breaks="k")
    yield difference(weight("a"), broken, {}, informed=True)
    yield difference(weight("a"), weight("a", "b"), {}, informed=False)
    yield difference(weight("a"), weight("a"), {}, informed=True)
    yield decisions.carried(weight("a"), TITLES, people_left=18, informed=True)
    yield decisions.carried(weight(), TITLES, people_left=60, informed=True)


def events() -> Iterator[str]:
    """Yield what is said of requests, of what waits, and of the user's own decisions."""
    for handled in (
        *(SENT, replace(NOTHING, code="locked"), replace(NOTHING, waiting=1)),
        *(replace(NOTHING, waiting=3, settled=2), replace(NOTHING, waiting=3, settled=3)),
        *(replace(NOTHING, kind="forgotten"), replace(SENT, waiting=1)),
        replace(NOTHING, why="nothing helps enough"),
    ):
        yield notices.verdict_of(handled, TITLES)
        yield notices.outcome_of(handled)
    yield notices.sent_to("a.example", ["x", "y"], again=["y"])
    yield notices.sent_to("a.example", ["x"], again=["x"])
    yield notices.asks(replace(REVIEW, more_bits=0.5, people_left=20.0))
    yield notices.asks(OFFER)
    of_families = replace(REVIEW, families=["@health", "legal"], whom="any other site")
    yield notices.asks(of_families)
    for disclose in ("auto", "never", "ask"):
        yield notices.settled(of_families, Word(disclose=disclose, about="family"))
    for subject, word in (
        (REVIEW, Word(disclose="auto")),
        (REVIEW, Word(disclose="never", lasting="always", about="everyone")),
        (OFFER, Word(disclose="auto", lasting="days", days=2)),
        (OFFER, Word(disclose="never")),
    ):
        yield notices.settled(subject, word)
    for disclose in get_args(Disclose):
        override = Word(recipient="a.example", names=["region"], disclose=disclose)
        yield notices.overridden(override)
        yield notices.overridden(replace(override, lasting="days", days=2), to="b.example")
        yield notices.overridden(replace(override, about="everyone", lasting="always"))
    ruled = Ruled(written="r1", without_effect=["a"], decided_by=["shops"])
    yield from notices.took_effect(ruled, "p.toml")
    win = Win(names=["region"], rule="shops", line=3, key="disclose", value="never")
    yield notices.edited("Lambda is 5", Edited(changed=False, wins=[win]))


def states() -> Iterator[str]:
    """Yield what is said of the profile, of recipients, of models and of the daemon."""
    stale = {"a": ["x.example"], "b": ["x", "y"]}
    change = ValueChange(name="a", was_set=True, is_set=True)
    yield from notices.outdated(Changed(changes=[change], stale=stale), {"a": "one"})
    implied = [
        Implied(name="hours", title="working hours", value="no_job"),
        Implied(name="employer", title="work", value="at_home"),
        Implied(name="industry", title="industry", value="unspecified"),
        Implied(name="student", title="studies", value=None),
    ]
    for masked in (False, True):
        yield from notices.also(implied, masked=masked)
    values = {"a": "yes", "b": "unspecified"}
    found = Recipient(
        pool="a.example",
        values=values,
        since={},
        recent=1,
        model="survey",
        people=60,
        people_left=20,
        first_left=60,
    )
    for left in (20, 1, 0):
        yield notices.knows_of(replace(found, people_left=left))
    guess = Inferred(
        name="a", title="gender", bits=0.25, bits_in_all=1.0, best_guess=0.75, by_chance=0.5
    )
    for inferred in (guess, replace(guess, bits=-0.25), replace(guess, best_guess=0.0)):
        yield notices.inferred(inferred)
    status = replace(OPEN, lock_after_minutes=0, entries=None)
    for now in (
        *(status, replace(status, locked=True), replace(status, vault=False)),
        replace(status, policy=replace(POLICY, in_use=False)),
        replace(status, locked=True, notice="disk full"),
        replace(status, vault=False, notice="removed"),
    ):
        yield notices.running(now)
    model = ModelStatus(name="m", digest="d", shipped=False, attributes=1, queries=2)
    for each in (model, replace(model, maker="ada"), replace(model, problem="torn")):
        yield notices.model_line(each)
    shops = [replace(SHOP, among=COUNTRY), replace(SHOP, among=SURVEY)]
    for count in range(3):
        yield notices.who_know(shops[:count])
    yield notices.who_know([replace(SHOP, among=GERMANY)])
    for left in range(3):
        yield notices.knows_of(replace(SHOP, among=GERMANY, values={"a": "b"}, people_left=left))


def test_sentences_are_those_written_down(request: pytest.FixtureRequest) -> None:
    """Each group of them by the function that yields it."""
    groups = numbers, facts_in_words, verdicts, proofs, explanations, events, states
    found = "\n\n".join("\n".join((f"# {each.__name__}", *each())) for each in groups) + "\n"
    if request.config.getoption("accept"):
        FILE.write_text(found, encoding="utf-8")
    assert found == FILE.read_text(encoding="utf-8")


@given(HOSTS, NAMES, st.text(max_size=500))
def test_nothing_in_it_steers_what_shows_it(host: str, names: list[str], title: str) -> None:
    """No control characters, no markup, no change of direction; and no more lines than ours."""
    by_name = dict.fromkeys(names, title)
    waiting = review(recipient=host, pool=host, names=names)
    for text, count in (
        (notices.dialog_asks(waiting, by_name), 1),
        (notices.dialog_locked(host), 2),
    ):
        assert len(text.split("\n")) == count
        assert all(line.isprintable() for line in text.split("\n"))
        assert not {*"<>&"} & {*text}


@given(NAMES)
def test_all_that_it_is_about_is_said_in_one_line(names: list[str]) -> None:
    """The first four; who is to get it is said too, by the end of its name."""
    host = "login.bank.example." + "a" * 200 + ".evil.example"
    waiting = review(recipient=host, pool=host, names=names)
    line = request("SETDESC", notices.dialog_asks(waiting, {}))
    assert len(line) < LONGEST_LINE
    said = unquote(line.decode())
    assert all(name in said for name in names[: notices.DIALOG_NAMES])
    assert ".evil.example" in said
    assert "bank" not in said
