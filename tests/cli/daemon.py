"""What a daemon says, for commands to show, and a way to say something else."""

from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from msgspec.structs import replace as changed

from agent import __version__
from agent.decision.values import (
    CountedAmong,
    Decision,
    Fact,
    FactTerms,
    Figures,
    Outcome,
    Proposal,
    Reason,
    Request,
)
from agent.wire.base import BackupContents, Done, Undone
from agent.wire.decide import Allowed, Answer, Summary
from agent.wire.policy import Review, Ruled, RuleRemark, RulesStatus, RuleStatus, SettingStatus
from agent.wire.state import (
    Changed,
    Entry,
    FactDraft,
    ModelStatus,
    PolicyStatus,
    ProfileFacts,
    Recipient,
    ValueChange,
)
from tests.vault.values import facts_of
from tests.worlds.messages import OPEN, PAST, attribute, recipient, review


def row(name: str, why: Reason, *bits: float, **fields: Any) -> Outcome:  # noqa: ANN401  (of any field)
    """Return the outcome for an attribute; ``bits``: what it brings and costs, if known."""
    gain, cost = bits or (None, None)
    usual: dict[str, Any] = {"title": name, "disclosed": False}
    return Outcome(name=name, reason=why, gain_bits=gain, cost_bits=cost, **{**usual, **fields})


AT = datetime(2026, 3, 2, 9, 15, 30, tzinfo=UTC)
LONG = "a-rather-long-name-of-a-site-that-nobody-would-choose.but.somebody.has.example"
HOSTILE = "\x1b[2Jwiped\r\nline\a"  # steers a terminal; of this, click drops only the sequence

POLICY = PolicyStatus(path="/home/u/policy.toml", in_use=True, rules=4, loaded_at=AT, problems=[])
VILLAGE = ModelStatus(name="village", digest="00", shipped=True, attributes=4, queries=2)
STATUS = changed(
    OPEN,
    version=__version__,
    process=4711,
    started_at=AT,
    policy=POLICY,
    models=[VILLAGE],
    entries=12,
)
LOCKED = changed(STATUS, locked=True, entries=None)
SUMMARY = Summary(
    pool="weather.example", model="village", utility_bits=0.412, people_left=20, waiting=0
)
ANSWER = Answer(
    code="answered", attributes={"region": "coast"}, header='region="coast"', id=13, summary=SUMMARY
)

LEAVES = Figures(
    names=("region",),
    utility=0.412,
    objective=0.312,
    identifiability=0.05,
    people=60,
    people_left=20,
)
WITH = Figures(
    names=("region", "hobby"), utility=0.5, objective=0.25, people=60, people_left=9.75, breaks="k"
)
EXPLAINED = Decision(
    code="answered",
    request=Request("weather", "weather.example"),
    disclosed=("region",),
    figures=LEAVES,
    pending=WITH,
    outcomes=(
        row("shoe_size", "costs more than it helps", 0.1, 1.5, rule="preset balanced"),
        row("hobby", "waits for you", 0.2, 0.1, rule="ask first"),
        row("region", "worth it", 0.5, 0.1, disclosed=True),
        row("salary", "never"),
    ),
    metric="maxprob",
    algorithm="lls",
    among=CountedAmong(people="people", count=60, estimated=False),
)
ASKED = {"query": "weather", "recipient": "www.weather.example", "pool": "weather.example"}
REVIEW = review(3, at=AT, names=["hobby", "shoe_size"], more_bits=0.1234, people_left=7.25, **ASKED)
OFFER = Review(
    id=4, kind="offer", at=AT, recipient="books.example", pool="books.example", names=["region"]
)
RULED = Ruled(written=None, without_effect=[])
UNDONE = Undone(
    what="Denied hobby for weather.example: undone. Data already sent cannot be recalled."
)
HELD = Recipient(
    pool="weather.example",
    values={"region": "coast", "hobby": "unspecified"},
    since={"region": AT, "hobby": AT},
    recent=1,
    model="village",
    people=60,
    people_left=20,
    first_left=60,
)
PROFILE = ProfileFacts(facts=facts_of(region="coast", hobby="yes"))
HOBBY = Fact(
    id="3f9a2c0000000000",
    kind="hobby",
    words="tide pools on Sundays",
    short="tide pools",
    set_at=AT,
    terms=FactTerms(share=0.001, sensitivity=0.05),
)
DRAFT = FactDraft(
    draft="d1",
    proposals=[
        Proposal(
            fact=changed(HOBBY, id="1", words="I live by the sea", kind="region", value="coast"),
            helps=("weather", "tide tables"),
            chance=0.9,
            contradicts="region",
        ),
        Proposal(fact=changed(HOBBY, id="2"), chance=0.6, same_as=HOBBY.id),
        Proposal(fact=changed(HOBBY, id="3", words="I swim", short=None), helps=("tide tables",)),
    ],
)
CHANGED = Changed(changes=[ValueChange(name="region", was_set=True, is_set=True)])
ENTRY = changed(
    PAST,
    at=AT,
    recipient="weather.example",
    pool="",
    query="weather",
    asked=["region", "hobby"],
    disclosed=["region", "hobby"],
    utility_bits=0.412,
    people_left=20,
)
BARE = Entry(number=2, kind="forgotten", at=AT, recipient="weather.example")
TIDES = changed(BARE, number=3, kind="disclosed", recipient="books.example", model="village")
ENTRIES = [
    changed(ENTRY, values={"region": "coast", "hobby": "unspecified"}, model="village"),
    BARE,
    changed(TIDES, query="tide tables \u00fc\x1b[2J"),
]
REQUESTS = [
    changed(
        ENTRY, recipient="www.weather.example", pool="weather.example", door="browser", waiting=1
    ),
    Entry(
        number=-1,
        kind="nothing",
        at=AT,
        recipient="books.example",
        pool="books.example",
        query="tide tables",
        code="blocked",
    ),
    Entry(number=2, kind="forgotten", at=AT, recipient="weather.example", pool="weather.example"),
]
RECIPIENTS = [
    recipient(
        [60, 20],
        pool="weather.example",
        sites=["weather.example"],
        held=["hobby", "region"],
        requests=1_204,
        people=60,
    ),
    recipient(
        [60],
        pool="@adverts",
        sites=["ads.example", "more.example"],
        held=[],
        people=60,
        blocked=True,
    ),
]
ANSWERS: dict[str, Any] = {
    "attributes": [],  # so names stand for titles
    "status": STATUS,
    "unlock": STATUS,
    "lock": LOCKED,
    "pause": Done(),
    "decide": ANSWER,
    "explain": EXPLAINED,
    "reviews": [REVIEW, OFFER],
    "verdict": RULED,
    "override": RULED,
    "undo": UNDONE,
    "refuse": Done(),
    "allow": Allowed(),
    "ledger": ENTRIES,
    "requests": REQUESTS,
    "recipients": RECIPIENTS,
    "delete_texts": [1],
    "forget": Done(),
    "profile": PROFILE,
    "change_profile": CHANGED,
    "propose": DRAFT,
    "models": [VILLAGE],
    "backup": BackupContents(policy=True, models=["village"], connected={"cursor": "cursor.com"}),
}


def steering(message: Any, text: str = HOSTILE) -> Any:  # noqa: ANN401 - any message
    """Return a message with this text in place of every other that may be anybody's."""
    if isinstance(message, str):
        return text
    if isinstance(message, list):
        return [steering(each, text) for each in message]
    if isinstance(message, dict):
        return {str(text): steering(each, text) for each in message.values()}
    for name in {*getattr(message, "__struct_fields__", ())} - {"breaks", "disclose"}:  # codes
        odd = changed(message, **{name: steering(getattr(message, name), text)})
        with suppress(msgspec.ValidationError):  # as of a code
            message = msgspec.convert(msgspec.to_builtins(odd), type(message))
    return message


PATH = "/home/u/policy.toml"
SHADOWED = RuleRemark(line=9, key="rule[1].k", what="never decides: 'books' wins", hint="delete it")
BOOKS = RuleStatus(
    name="books",
    source=PATH,
    line=5,
    conditions={"recipient": "books.example", "query": "novel*"},
    settings={"anonymity_price": "3.0", "disclose": '"auto"'},
)
OLD = RuleStatus(
    name="rule 2",
    source=PATH,
    line=9,
    conditions={"expires": "2020-01-01"},
    settings={"k": "4"},
    expires=date(2020, 1, 1),
    expired=True,
    remarks=[SHADOWED],
)
STRICT = RuleStatus(
    name="preset strict",
    source="preset strict",
    line=None,
    conditions={},
    settings={"risk": "0.02"},
)
RULES = RulesStatus(
    path=PATH,
    in_use=True,
    problems=[],
    effective=[SettingStatus(key="risk", value="0.02", rule="preset strict", line=None)],
    rules=[STRICT, BOOKS, OLD],
)
WRONG = RuleRemark(line=2, key="mod", what="unknown key 'mod'", hint="did you mean 'mode'?")
BROKEN = changed(RULES, problems=[WRONG])

REGION = attribute(
    "region",
    title="Region",
    values=["unspecified", "coast"],
    model="village",
    disclose="guarded",
    sensitivity_bits=0.25,
    guard=2.0,
    rule="attributes.region",
    line=4,
)
