"""The values of a decision: each is one thing from the mathematics to the message and the screen.

A leaf: no NumPy, no policy, no other module of `agent`, so that messages, sentences and clients
can hold these values without the mathematics that makes them.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, field

CROWD = 1000  # people, among whom to be at most costs the anonymity price, in bits (DESIGN.md 1)
PRICED = ("maxprob", "log-maxprob")  # measures by which the price of anonymity is counted
Undecided = Literal[  # nothing was decided, and nothing is attached
    "locked",
    "paused",  # by the user
    "policy changing",  # its file was written to a moment ago, or lacks its end
    "no policy",
    "no model",
    "unfit",  # the recipient holds a value that the model does not have, or the like
    "failed",
    "disk full",
    "not https",  # the recipient is an address that the network reads
    "too many",  # in the last minute: more than the query door, or an assistant, may
    "too many today",  # of all requests that carried facts, as the policy counts them
    "too many from pages",  # more than the policy lets pages lead to
    "parameters only",  # asked for what an address's parameters cannot be
]
Code = Literal[
    "answered",  # decided in the ordinary way, whether or not anything is attached
    "unknown query",
    "blocked",
    "ordered here",  # the policy has the results re-ranked on this machine, and sends nothing
    "recognised",
    "outside the model",
    "past a limit already",
    "you would stand out",
    Undecided,
]
UNDECIDED: frozenset[Code] = frozenset(get_args(Undecided))
Reason = Literal[
    "worth it",
    "always",
    "waits for you",
    "in the standing set",
    "not in the standing set",
    "in the plan",
    "planned for other requests",
    "not in the plan",
    "crowded out",  # of it, by what else is in it
    "known to the recipient",
    "costs more than it helps",
    "hardly helps",
    "would break a limit",
    "no room in the header",
    "not asked for",
    "not carried",
    "told anyway",
    "not set",
    "no short form",  # of a fact in own words, of which assistants get the whole sentence
    "never",
    "guarded",
    "recognised",
    "outside the model",
    "you would stand out",
    "would single you out",  # it costs more than it helps, since few people have such a fact
    "too many combinations",
]
NO_ROOM: Reason = "no room in the header"
NO_SHORT: Reason = "no short form"
# The code where the terms have nothing sent, by what they say of results.
SILENT: Mapping[str, Code] = {"send": "blocked", "both": "blocked", "rerank": "ordered here"}
MOST_RESULTS, LONGEST_TITLE, LONGEST_SNIPPET = 100, 300, 1_000  # results; characters
Result = tuple[
    Annotated[str, Meta(max_length=LONGEST_TITLE)], Annotated[str, Meta(max_length=LONGEST_SNIPPET)]
]
"""Title and snippet of a search's result, as a page shows them."""
Results = Annotated[list[Result], Meta(max_length=MOST_RESULTS)]
Disclose = Literal["never", "ask", "auto", "always", "guarded"]
JudgeUse = Literal["", "used", "late"]


class FactTerms(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is fixed when a fact in the user's own words is written (DESIGN.md 2.6, 2.12).

    ``share``: of all people, who would say the same, above 0 to 1; ``sensitivity``: bits, from 0;
    ``relevance``: by topic, the probability that the fact helps there; ``vector``: its place in the
    encoder of relevance, little-endian float32. They nearly are the fact, so ``repr`` masks them.
    """

    share: Annotated[float, Meta(gt=0, le=1)] | None = None
    sensitivity: Annotated[float, Meta(ge=0, le=64.0)] | None = None
    relevance: dict[str, Annotated[float, Meta(ge=0, le=1)]] = field(default_factory=dict)
    vector: bytes = b""

    def __repr__(self) -> str:
        return "FactTerms(***)"


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One fact of the user's profile.

    ``id``: unique in the profile, never used again; ``kind``: what the fact is about, a name that
    models share, such as "region"; ``value``: one of the kind's listed values, or "unspecified";
    ``words``: the user's own, ``short``: their form for a search; ``group``: by the user's word, of
    facts that say the same, None: by their vectors; ``set_at``: when the user last set it, with a
    zone; ``terms``: of a fact in own words. ``repr`` masks all that it says.
    """

    id: str
    kind: str
    value: str | None = None
    words: str | None = None
    short: str | None = None
    group: str | None = None
    set_at: datetime
    terms: FactTerms | None = None

    def __repr__(self) -> str:
        return f"Fact(id={self.id!r}, kind={self.kind!r}, set_at={self.set_at.isoformat()}, ***)"


class Proposal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a fact in own words would be, shown before it is kept.

    ``fact``: its id is "" until it is stored; ``helps``: titles of up to three topics where it
    would help most; ``chance``: that the kind is the right one, 0 of an order to us; ``same_as``,
    ``contradicts``: the ids of a fact that says the same, and of one that cannot be true beside it.
    ``repr`` masks all.
    """

    fact: Fact
    helps: tuple[str, ...] = ()
    chance: float = 1.0
    same_as: str | None = None
    contradicts: str | None = None

    @property
    def is_new(self) -> bool:
        """Whether it reads like a fact, and none before it says the same or the opposite."""
        return self.chance > 0 and self.same_as is None and self.contradicts is None

    def __repr__(self) -> str:
        return "Proposal(***)"


def country_of(facts: Iterable[Fact], default: str = "") -> str:
    """Where somebody with these facts lives, ISO 3166-1 in lower case, "" where nothing says it.

    ``default``: where no fact names it, or a state of the US. It decides whose people are counted,
    and so is an open term (DESIGN.md 2.6).
    """
    places = {e.value or "" for e in facts if e.kind in ("country", "everyday.place")}
    return next(filter(re.compile("[a-z]{2}").fullmatch, places), "" if any(places) else default)


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """One request that is about to be sent.

    ``query``: the text; ``recipient``: who receives it (registrable domain or group);
    ``asked``: names of the attributes that the recipient can use, ascending, None where it did not
    say.
    """

    query: str
    recipient: str = ""
    asked: tuple[str, ...] | None = None


class Reading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known query of a model that a text means, or may mean.

    ``query``: its name in the ``model`` with this id; ``title``: for people; ``probability``: that
    it is meant, 1 where the text is its name or one of its phrasings; ``taught``: the user said so
    of this text, or of one that says nearly the same.
    """

    query: str
    title: str
    probability: float
    model: str
    taught: bool = False


class Topics(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a text means to the ``model`` with this id.

    ``topics``: names of known queries, each with its probability, the likeliest first; what the
    probabilities lack of 1 is that of something else. ``chance``: that anything personal helps, 1
    by a model that does not say. ``understood``: whether facts may be disclosed for the text.
    """

    model: str
    topics: tuple[tuple[str, float], ...]
    chance: float
    understood: bool


class CountedAmong(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The people whom a model counts.

    ``people``: who they are, a plural such as "people of the survey"; ``count``: how many they are;
    ``estimated``: a row of the model stands for many of them, so each number is an estimate;
    ``as_in``: the country in which facts were counted, where that is another one, such as "the US".
    """

    people: str
    count: int
    estimated: bool
    as_in: str = ""


class Figures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The terms of the objective at one set of attributes, ``names``.

    Bits, but ``identifiability`` (I(A u D|d)) and ``identifiability_cost`` (less I(0|d)), which
    are in the unit of the metric. ``people``: how many agree with what the recipient holds;
    ``people_left``: how many are expected to agree with the set too; ``breaks``: the first limit
    that the set breaks, by its key in a policy; ``spent``: the share of people whom the set leaves
    among fewer than k, where some may be. In standing mode ``utility`` is a mean of queries.
    """

    names: tuple[str, ...] = ()
    utility: float = 0.0
    identifiability: float = 0.0
    identifiability_cost: float = 0.0
    guard: float = 0.0
    sensitivity: float = 0.0
    objective: float = 0.0
    people: int = 0
    people_left: float = 0.0
    breaks: str | None = None
    spent: float = 0.0


class Outcome(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One attribute, compared with the rest of the set that was chosen, or is tried.

    ``disclosed``: it is in that set; ``reason``: why it is or is not sent, the code of the decision
    where no set was looked for; ``gain_bits``, ``cost_bits``: the utility and the cost that it adds
    to the rest of the set, or would add, None where they were not computed; ``limit``: the limit
    that it would break, by its key in a policy; ``serves``: the known queries for which it is
    planned, those asked most first; ``held``: the recipient holds it already; ``disclose``: what
    the user ruled, ``rule``: the policy's rule behind ``reason``; ``people_left``: how many are
    expected to be left with it, None where that was not computed; ``fact``: the id of the fact in
    own words behind it, None where there is none.
    """

    name: str
    title: str
    disclosed: bool
    reason: Reason | Code
    gain_bits: float | None = None
    cost_bits: float | None = None
    limit: str | None = None
    serves: tuple[str, ...] = ()
    held: bool = False
    disclose: Disclose = "auto"
    rule: str | None = None
    people_left: float | None = None
    fact: str | None = None

    @property
    def called(self) -> str:
        """What rules and reviews call it, as of `Decision.called`."""
        return self.name if self.fact is None else f"#{self.fact}"

    @property
    def net_bits(self) -> float:
        """What it brings less what it costs; minus infinity where it was no candidate."""
        if self.gain_bits is None or self.cost_bits is None:
            return float("-inf")
        return self.gain_bits - self.cost_bits


class Guarded(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A guarded attribute: ``bits`` that the answer tells about it, and the best guess's success.

    ``best_guess``: the chance, 0 to 1, that the recipient's best guess is right.
    """

    name: str
    title: str
    bits: float
    best_guess: float


class Inferred(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a recipient could infer of a guarded attribute from what it holds.

    Over the people who specify the attribute. ``bits``: H(V) - H(V|d), how much the recipient
    knows of it, below 0 where that makes it less certain; ``bits_in_all``: H(V); ``best_guess``:
    max P(v|d), the chance that its best guess at anybody like the user is right; ``by_chance``:
    max P(v), that of somebody who holds nothing. Where fewer than 30 people agree with d nothing
    can be said: then ``bits`` and ``best_guess`` are 0.
    """

    name: str
    title: str
    bits: float
    bits_in_all: float
    best_guess: float
    by_chance: float


class Decision(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is disclosed with one request (names, in the order chosen), and everything about it.

    ``code``: "answered" in the ordinary case. Else the query is unknown; or a rule blocks the
    request, or has its results ordered here instead; or one person ("recognised") or nobody
    ("outside the model") agrees with what the recipient holds, and nothing new is sent; or what it
    holds breaks a limit, before anything is added; or with anything new the user would stand out;
    or nothing could be decided (`UNDECIDED`), and all else is empty.

    ``model``: the id of the model that decided; ``read_as``: what the query means, None where it is
    not understood; ``readings``: all that it may mean, the surest first. ``outcomes``: all
    attributes of the model, in its order, but second and third facts of a kind that are not set; in
    brief only what is disclosed or waits, and where nothing is disclosed, what would help; none
    where a rule blocks the request, or the query is not known. ``pending``: the figures with what
    is worth disclosing too, but waits for the user. ``guarded``: what is told about each guarded
    attribute.

    ``mode`` to ``trade_off``: the terms of the choice, and ``mode`` how it was made;
    ``evaluations``: the sets at which the objective was computed; ``violations``: how often a gain
    grew with the set; ``proof``: what is proven of the set; ``bound``: on the optimum, in bits, and
    ``certified``: the share of the optimum that is certain, both None without a proof.

    ``fewest``: how many people at least must look alike, 0 for no limit. ``among``: the people who
    are counted, None where nothing was weighed, as for language and
    country. ``rules``: settings as "key = value", by the rule of the policy that made them;
    ``stale_rules``: the policy file has mistakes, so that the rules before it decided. ``facts``:
    by name, the id of the fact in own words behind what is disclosed or waits; ``judge``: whether a
    local judge said which of these help, or was late, empty where there is none.
    """

    code: Code
    request: Request
    model: str = ""
    read_as: Reading | None = None
    readings: tuple[Reading, ...] = ()
    disclosed: tuple[str, ...] = ()
    figures: Figures = field(default_factory=Figures)
    pending: Figures | None = None
    outcomes: tuple[Outcome, ...] = ()
    guarded: tuple[Guarded, ...] = ()
    mode: str = ""
    algorithm: str = ""
    metric: str = ""
    metric_k: int = 0
    trade_off: float = 0.0
    fewest: int = 0
    evaluations: int = 0
    violations: int = 0
    proof: str = "none"
    bound: float | None = None
    certified: float | None = None
    node_limit_hit: bool = False
    among: CountedAmong | None = None
    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stale_rules: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    judge: JudgeUse = ""

    @property
    def share(self) -> tuple[str, ...]:
        """The facts to share, in the order chosen: names, or ids of facts in own words.

        Never values or words.
        """
        return tuple(self.facts.get(name, name) for name in self.disclosed)

    @property
    def people_left(self) -> float:
        """How many people are expected to look like the user to the recipient afterwards."""
        return self.figures.people_left

    @property
    def waiting(self) -> tuple[str, ...]:
        """The names of what waits for the user, in the order chosen."""
        return () if self.pending is None else self.pending.names[len(self.disclosed) :]

    def called(self, name: str) -> str:
        """What rules and reviews call a fact: its name, or # and the id where it has own words."""
        return f"#{self.facts[name]}" if name in self.facts else name

    @property
    def again(self) -> tuple[str, ...]:
        """What is disclosed although the recipient holds it already, in the order chosen."""
        repeated = {each.name for each in self.outcomes if each.reason == "known to the recipient"}
        return tuple(name for name in self.disclosed if name in repeated)

    def explain(self, *, every: bool = False) -> str:
        """The page that explains the decision; ``every``: with a row for each fact."""
        from agent.words.decisions import explanation  # only whoever prints needs sentences

        return "\n\n".join(filter(None, explanation(self, every=every)))

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the attributes among the outcomes, by name."""
        return {each.name: each.title for each in self.outcomes}


class SetComparison(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The set that a change starts from, the changed set, and each attribute compared with it.

    ``informed``: whether the query is known, or counts as the average one; else no utility is.
    """

    chosen: Figures
    changed: Figures
    outcomes: tuple[Outcome, ...]
    informed: bool


class CurvePoint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One set that is chosen at every lambda that was tried from ``least`` to ``most``.

    ``figures``: at ``least``, names in the order of the model; ``proof``: what is proven of it at
    all of them; ``beaten``: another point brings as much at less cost, or more at no more.
    """

    least: float
    most: float
    figures: Figures
    proof: str
    beaten: bool


class Curve(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sets as lambda ascends; ``present`` and ``knee``: indexes of points, None without a knee.

    ``read_as``: the known query that is meant, None where the curve is that of all; ``asks``: some
    attributes wait for the user, and are in no set; ``code``, ``metric``, ``trade_off``: as in
    `Decision`.
    """

    code: Code
    read_as: Reading | None
    metric: str
    trade_off: float
    asks: bool
    points: tuple[CurvePoint, ...]
    present: int
    knee: int | None
