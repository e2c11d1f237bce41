"""A decision in sentences: the verdict first, then what it means and what is proven."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import floor

from msgspec import Struct, field

from agent.wire.base import made
from agent.wire.decide import Code, CountedAmong, Explained, ExplainedOutcome, Line, ReadAs
from agent.wire.what_if import Weight
from agent.words.figures import (
    added_risk,
    alike,
    bits,
    counted,
    listed,
    of_whom,
    people,
)
from agent.words.outcomes import REASONS, WHY_NOTHING, breaks
from agent.words.titles import Titles, quoted, read_as, titled

HOW_TO_COVER = "`reticent model info` lists the known queries of a model"
FEW = 12  # attributes that are named one by one
NAMED = 3  # queries that are named, of those that an attribute is planned for
NOT_TRIED = {  # why nothing could be sent, by a reason that some attribute has
    "not asked for": "none of the facts asked for can be sent",
    "not carried": "none of your facts can be sent in the address",
    "not set": "you have set none of the facts that may be sent",
}
PLANNED = ("in the plan", "planned for other requests")
ASSUMED = "this assumes, without proof, that each further fact helps less than the one before"
LOOSE = "the estimate is cautious, so a low share is normal"
BEFOREHAND = "for the average query and a recipient that knows nothing"
UNHEARD = "nothing says how much it helps"


class Decided(Struct, frozen=True, kw_only=True):
    """What the sentences need to know of a decision.

    ``read_as``: what the query was read as; ``again``: what of ``disclosed`` the recipient knows;
    ``pending``: what waits for approval, with ``pending_bits`` more help and ``pending_left``
    people; ``ask``, ``always``: attributes ruled so; ``utility`` to ``people_left``, ``bound``,
    ``certified``: as a decision has them; ``serves``: known queries that the plan has an attribute
    for; ``guessed``: by guarded attribute, the bits told about it and the success of the best
    guess; ``rules``: the settings behind the decision, by the rule that made them; ``charged``:
    whether it was weighed at all, which language and country are not.
    """

    code: Code
    mode: str
    query: str
    read_as: ReadAs | None
    disclosed: Sequence[str]
    again: Sequence[str] = ()
    pending: Sequence[str]
    outcomes: Sequence[ExplainedOutcome]
    titles: Titles = field(default_factory=dict)
    ask: Collection[str]
    always: Collection[str]
    plans: bool
    algorithm: str
    metric: str
    metric_k: int
    trade_off: float
    utility: float
    objective: float
    guard: float
    sensitivity: float
    identifiability: float
    identifiability_cost: float
    people: int
    people_left: float
    among: CountedAmong | None = None
    pending_bits: float = 0.0
    pending_left: float = 0.0
    evaluations: int = 0
    proof: str = "none"
    bound: float | None = None
    certified: float | None = None
    violations: int = 0
    node_limit_hit: bool = False
    serves: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guessed: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    charged: bool = True

    @property
    def searched(self) -> bool:
        """Whether a set was looked for."""
        return self.code not in ("unknown query", "blocked")

    def named(self, names: Iterable[str]) -> str:
        """Return attributes by their titles, as a sentence has them."""
        return listed(self.titles.get(each, each) for each in names)


def headline(decided: Decided) -> str:
    """Return the verdict in one sentence: what is sent, and who still looks alike; or why not."""
    if not decided.searched:
        return f"Send nothing: {WHY_NOTHING[decided.code]}."
    again = decided.again
    new = [name for name in decided.disclosed if name not in again]
    what = f"Send {_facts(new, decided) if new else 'nothing new' if again else 'nothing'}"
    what += f", and again {_facts(again, decided)}" if again else ""
    if decided.code != "answered":
        return f"{what}: {WHY_NOTHING[decided.code]}."
    pending = decided.pending
    verb = "waits" if len(pending) == 1 else "wait"
    waiting = f"; {decided.named(pending)} {verb} for your approval" if pending else ""
    if not decided.disclosed:
        return f"{what}: {_why_nothing(decided)}{waiting}."
    return f"{what}; {alike(decided.people_left, decided.people, decided.among)}{waiting}."


def explanation(decided: Decided, more: Iterable[Line] = ()) -> Explained:
    """Return a decision with all that there is to say about it; ``more``: lines at the end."""
    return made(
        Explained,
        decided,
        headline=headline(decided),
        disclosed=[*decided.disclosed],
        pending=[*decided.pending],
        lines=[*lines(decided), *more],
        candidates=[*decided.outcomes],
    )


def lines(decided: Decided) -> list[Line]:
    """Return the rest, each with a label: first what was read and what waits, figures last."""
    pairs = [*_withheld(decided)]
    if decided.charged:
        before = (*_read(decided), *_helps(decided), *_pending(decided), *_planned(decided))
        pairs = [*before, *pairs, *_figures(decided)]
    pairs += [("because", f"{rule}: {', '.join(set_)}") for rule, set_ in decided.rules.items()]
    return [Line(label=label, text=text) for label, text in pairs]


def proven(decided: Decided) -> str:
    """Return what is known of the set's quality, in words true to its proof.

    A standing set was chosen for all queries: of it nothing is claimed for this request.
    """
    quality = _quality(decided)
    if decided.mode == "standing":
        if quality is None:
            return f"not known for this request: the set was chosen {BEFOREHAND}"
        return f"{BEFOREHAND}: {quality}"
    if decided.mode == "planned":
        return "a good plan, grown fact by fact; a better one may exist"
    return f"a better set may exist: {_why_unproven(decided)}" if quality is None else quality


def at_least(share: float) -> str:
    """Return a share of the optimum in whole per cent, never rounded up."""
    return f"at least {floor(100 * share)} % as good as the best set"


def difference(
    chosen: Weight, other: Weight, decided: Decided, *, alike_before: float, informed: bool
) -> str:
    """Return what a set changes about the one that was chosen; nothing where they are equal."""
    titles = decided.titles
    added = [name for name in other.names if name not in chosen.names]
    dropped = [name for name in chosen.names if name not in other.names]
    parts = [f"with {listed(titled(added, titles))}"] if added else []
    parts += [f"without {listed(titled(dropped, titles))}"] if dropped else []
    if not parts:
        return ""
    change = " and ".join(parts)
    gain = bits(other.utility_bits - chosen.utility_bits, signed=True)
    helps = f"{gain} bits better served" if informed else UNHEARD
    before, after = people(chosen.people_left), people(other.people_left)
    left = alike(other.people_left, alike_before, decided.among)
    if "as before" not in left:
        left += ", as before" if before == after else f", instead of {before}"
    broken = f"; this {breaks(other.breaks)}" if other.breaks else ""
    return f"{change[0].upper()}{change[1:]}: {helps}; {left}{broken}."


def carried(chosen: Weight, titles: Titles, *, people_left: int, informed: bool) -> str:
    """Return what a request of the past carried, and how much it helps by today's model and rules.

    ``people_left``: those whom the recipient could take the user for after it, by the ledger.
    """
    if not chosen.names:
        return "It sent nothing that is in the model."
    helps = f"{bits(chosen.utility_bits)} bits better served" if informed else UNHEARD
    what = f"It sent {listed(titled(chosen.names, titles))}; {alike(people_left)}"
    return f"{what}. By today's rules: {helps}."


def _facts(names: Sequence[str], decided: Decided) -> str:
    return f"{counted(len(names), 'fact')} ({decided.named(names)})"


def _why_nothing(decided: Decided) -> str:
    tried = [
        each
        for each in decided.outcomes
        if each.gain_bits is not None and each.name not in decided.ask
    ]
    if not tried:
        reasons = {each.reason for each in decided.outcomes}
        allowed = f"your rules allow nothing{' without asking' if decided.ask else ''}"
        return next((why for reason, why in NOT_TRIED.items() if reason in reasons), allowed)
    if decided.mode == "standing":
        return "nothing in the set for every request may be sent now"
    limits = [each.limit for each in tried if each.limit and each.net_bits > 0]
    if limits:
        which = listed(dict.fromkeys(limits))
        return f"what would help enough would break the limit {which}"
    if decided.mode == "planned":
        return "nothing helps enough in the long run"
    return "nothing helps enough"


def _read(decided: Decided) -> Iterator[tuple[str, str]]:
    """Yield which known query the text was read as; where none, how to find one."""
    if decided.read_as is not None or decided.query:
        yield "read as", read_as(decided.read_as)
    if decided.read_as is None and decided.query and decided.code != "blocked":
        yield "hint", HOW_TO_COVER


def _helps(decided: Decided) -> Iterator[tuple[str, str]]:
    """Yield both sides of the bargain, each with its unit."""
    if decided.code == "answered" and decided.disclosed:
        mean = " on average" if decided.mode == "standing" else ""
        yield "helps", f"{bits(decided.utility)} bits better served{mean}"
        yield "costs", added_risk(decided.identifiability_cost, decided.metric)


def _pending(decided: Decided) -> Iterator[tuple[str, str]]:
    """Yield what waits for approval, and what it would do."""
    if decided.pending:
        more = f"{bits(decided.pending_bits, signed=True)} bits better served"
        left = f"about {people(decided.pending_left)} people expected to be left"
        yield "waits for you", f"{decided.named(decided.pending)}: {more}, {left}"


def _planned(decided: Decided) -> Iterator[tuple[str, str]]:
    """Yield what the recipient is to be told in the long run, and for which queries."""
    new = [each.name for each in decided.outcomes if each.reason in PLANNED]
    parts = (f"{decided.titles.get(name, name)} for {_served(name, decided)}" for name in new)
    if new:
        yield "plan", "; ".join(parts)


def _served(name: str, decided: Decided) -> str:
    return listed(map(quoted, decided.serves.get(name, ())), "future requests", most=NAMED)


def _withheld(decided: Decided) -> Iterator[tuple[str, str]]:
    """Yield, by reason, what stays although nothing was computed of it, or although forced."""
    names: dict[str, list[str]] = defaultdict(list)
    kept = []
    for each in decided.outcomes:
        title = decided.titles.get(each.name, each.name)
        if each.gain_bits is None:
            ruled = each.rule and each.reason in ("never", "guarded")
            names[each.reason].append(f"{title} ({each.rule})" if ruled else title)
        elif not each.disclosed and each.name in decided.always:
            kept.append(title)
    if kept:
        yield "always", f"{_some(kept)}: would break a limit, so not sent"
    for reason, who in names.items():
        yield REASONS.get(reason, reason), _some(who)


def _some(names: Sequence[str]) -> str:
    """Return a few names, or how many there are."""
    return ", ".join(names) if len(names) <= FEW else counted(len(names), "attribute")


def _figures(decided: Decided) -> Iterator[tuple[str, str]]:
    if decided.searched:
        yield "objective", _objective(decided)
        yield "identifiability", guessing(decided)
    yield "people", fitting(decided.people, decided.people_left, decided.among)
    if not decided.searched:
        return
    for name, (told, guess) in decided.guessed.items():
        title = decided.titles.get(name, name)
        known = f"{bits(told)} bits about it are told; the best guess is right for {guess:.0%}"
        yield f"secret: {title}", known
    yield (
        "search",
        f"{decided.algorithm}, {counted(decided.evaluations, 'set')}; {settled(decided)}",
    )
    yield "how good", proven(decided)


def _objective(decided: Decided) -> str:
    """Return the objective as the sum that it is."""
    risk = f"{decided.trade_off:g} x {decided.identifiability_cost:.3g} identifiability"
    terms = [f"{bits(decided.utility)} gained", risk]
    terms += [f"{bits(decided.guard)} guarded"] if decided.guessed else []
    terms += [f"{bits(decided.sensitivity)} sensitive"] if decided.sensitivity else []
    mean = ", for the average query" if decided.mode == "standing" else ""
    return f"{bits(decided.objective)} bits = {' - '.join(terms)}{mean}"


def guessing(decided: Decided) -> str:
    """Return how well the recipient is expected to single a person out, before and after."""
    after, before = decided.identifiability, decided.identifiability - decided.identifiability_cost
    match decided.metric:
        case "maxprob":
            return f"1 guess in {people(1 / after)} is right; before, 1 in {people(1 / before)}"
        case "k-anonymity":
            who = f"of the people blend in with fewer than {decided.metric_k}"
            return f"{after:.1%} {who}; before, {before:.1%}"
        case "entropy":
            return f"{bits(after)} bits of who you are; before, {bits(before)}"
    return f"{after:.5f}; before, {before:.5f}"


def fitting(before: float, left: float, among: CountedAmong | None = None) -> str:
    """Return how many people fit before and after, the latter in expectation."""
    if not before:
        return "nobody in the model fits what it knows"
    estimated = among is not None and among.estimated
    known = f"{'about ' if estimated else ''}{of_whom(before, among)} fit what it knows"
    if people(left) == people(before):
        return f"{known}, and all of them the answer too"
    return f"{known}, about {people(left)} the answer too"


def settled(decided: Decided) -> str:
    """Return what the search itself makes sure of."""
    if decided.mode == "standing":
        return "chosen once for all queries, before anything was known"
    if decided.plans:
        return "no single addition improves the plan"
    if decided.algorithm == "exhaustive":
        return "every set was tried"
    move = "addition" if decided.algorithm == "greedy" else "addition or removal"
    return f"no single {move}{' of the others' if decided.always else ''} improves it"


def _quality(decided: Decided) -> str | None:
    """Return what is proven, with its condition; None where nothing is."""
    if decided.proof == "enumerated":
        return "no better set is permitted"
    if decided.proof == "none" or decided.bound is None or decided.certified is None:
        return None
    if decided.certified == 1:
        return f"no better set exists; {ASSUMED}"
    best = f"which is worth {bits(decided.bound)} bits at most"
    return f"{at_least(decided.certified)}, {best}; {ASSUMED}; {LOOSE}"


def _why_unproven(decided: Decided) -> str:
    if decided.node_limit_hit:
        return "the search reached its node limit first"
    if decided.metric in ("entropy", "k-anonymity"):
        return f"the cost {decided.metric} has no bound"
    if decided.guessed:
        return "there is no bound while a fact is kept secret"
    if decided.violations:
        return "a gain grew along the way, where a bound needs gains to shrink"
    return "no bound was computed"
