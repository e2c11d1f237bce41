"""A decision in sentences: the verdict first, then what it means and what is proven."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import floor

from agent.decision.values import NO_SHORT, UNDECIDED, CountedAmong, Decision, Figures
from agent.wire.decide import Line
from agent.words.figures import (
    added_risk,
    alike,
    bits,
    counted,
    demand,
    listed,
    of_whom,
    people,
    proviso,
    useful,
    would_bring,
)
from agent.words.layout import Column, facts, numeric, paragraph, table, wide
from agent.words.titles import (
    NOT_TRIED,
    REASONS,
    WHY_NOTHING,
    Titles,
    quoted,
    read_as,
    the_limit,
    titled,
    why,
)

COLUMNS = (wide("fact"), Column("sent"), numeric("gain"), numeric("cost"), wide("why", 24))
FIGURES = "gain and cost: bits that a fact adds to the rest of the set, or would add"
BRIEF = ("read as", "hint")  # lines that are shown beside the verdict alone
MORE = "Add --explain to see what each fact would gain and cost."
NEAREST = 3  # facts that are shown of those that are not sent
FEW = 12  # attributes that are named one by one
NAMED = 3  # queries that are named, of those that an attribute is planned for
NO_SET = UNDECIDED | {"unknown query", "blocked", "ordered here"}  # no set was looked for
PLANNED = ("in the plan", "planned for other requests")
LOOSE = "the estimate is cautious, so a low share is normal"
BEFOREHAND = "for the average query and a recipient that knows nothing"
GIVE_SHORT = "only assistants get it; `reticent profile edit {:.6}` gives it one"
UNKNOWN_HELP = "how much it helps is unknown"


def headline(decision: Decision) -> str:
    """Say in one sentence what is sent and who still looks alike, or why nothing is sent."""
    if decision.code in NO_SET:
        return f"Send nothing: {WHY_NOTHING[decision.code]}."
    again, titles = decision.again, decision.titles
    new = [name for name in decision.disclosed if name not in again]
    what = f"Send {_facts(new, titles) if new else 'nothing new' if again else 'nothing'}"
    what += f", and again {_facts(again, titles)}" if again else ""
    if decision.code != "answered":
        return f"{what}: {WHY_NOTHING[decision.code]}."
    if not decision.disclosed:
        return f"{what}: {why_nothing(decision)}."
    left = alike(decision.people_left, decision.figures.people, decision.among)
    return f"{'; '.join(filter(None, (what, left, _waiting(decision))))}."


def _waiting(decision: Decision) -> str:
    names = titled(decision.waiting, decision.titles)
    verb = "waits" if len(names) == 1 else "wait"
    return f"{listed(names)} {verb} for your approval" if names else ""


def lines(decision: Decision) -> list[Line]:
    """Explain a decision in labelled lines: what the text was read as first, figures last."""
    pairs = [*_withheld(decision)]
    if decision.among is not None:
        before = (*_read(decision), *_helps(decision), *_pending(decision), *_planned(decision))
        pairs = [*before, *pairs, *_figures(decision)]
    pairs += [("because", f"{rule}: {', '.join(set_)}") for rule, set_ in decision.rules.items()]
    return [Line(label=label, text=text) for label, text in pairs]


def explanation(decision: Decision, *, every: bool = False) -> tuple[str, ...]:
    """Explain a decision as a page: its headline, a table of facts, and labelled lines.

    The table has what is sent, what waits and the `NEAREST` of the rest, or with ``every`` all.
    """
    first = [*decision.disclosed, *decision.waiting]
    rows = sorted(
        (each for each in decision.outcomes if each.gain_bits is not None),
        key=lambda each: (
            first.index(each.name) if each.name in first else len(first),
            -each.net_bits,
            each.name,
        ),
    )
    most = len(rows) if every else sum(each.name in first for each in rows) + NEAREST
    cells = []
    for each in rows[:most]:
        gain, cost = bits(each.gain_bits, signed=True), bits(each.cost_bits)
        because = why(each.reason, each.rule, each.limit, decision.fewest)
        cells.append((each.title, "yes" if each.disclosed else "-", gain, cost, because))
    legend = f"{FIGURES}."
    if len(rows) > most:
        legend += f" Add --all to see {counted(len(rows) - most, 'more fact')}."
    labelled = facts((each.label, each.text) for each in lines(decision))
    return headline(decision), table(COLUMNS, cells), paragraph(legend) if rows else "", labelled


def proven(decision: Decision) -> str:
    """Say how good the set is, in words true to its proof.

    A standing set was chosen for all queries: nothing is claimed about it for this request.
    """
    quality = _quality(decision)
    if decision.mode == "standing":
        unknown = f"not known for this request: the set was chosen {BEFOREHAND}"
        return unknown if quality is None else f"{BEFOREHAND}: {quality}"
    if decision.mode == "planned":
        return "a good plan, grown fact by fact; a better one may exist"
    return f"a better set may exist: {_why_unproven(decision)}" if quality is None else quality


def difference(
    chosen: Figures,
    other: Figures,
    titles: Titles,
    among: CountedAmong | None = None,
    *,
    informed: bool,
) -> str:
    """Say how another set differs from the one that was chosen; empty where they are equal."""
    added = [name for name in other.names if name not in chosen.names]
    dropped = [name for name in chosen.names if name not in other.names]
    change = changed(added, dropped, titles)
    if not change:
        return ""
    helps = useful(other.utility - chosen.utility, signed=True) if informed else UNKNOWN_HELP
    before, after = people(chosen.people_left), people(other.people_left)
    remain = alike(other.people_left, chosen.people, among)
    if "as before" not in remain:
        remain += ", as before" if before == after else f", instead of {before}"
    broken = f"; this breaks {the_limit(other.breaks)}" if other.breaks else ""
    return f"{change}: {helps}; {remain}{broken}."


def changed(added: Sequence[str], dropped: Sequence[str], titles: Titles) -> str:
    """Name what a change of a set adds and drops: With a and b and without c."""
    parts = [f"with {listed(titled(added, titles))}"] if added else []
    parts += [f"without {listed(titled(dropped, titles))}"] if dropped else []
    text = " and ".join(parts)
    return text[:1].upper() + text[1:]


def carried(chosen: Figures, titles: Titles, *, people_left: int, informed: bool) -> str:
    """Say what a past request carried, and how much that helps by today's model and rules.

    ``people_left``: those whom the recipient could take the user for after it, by the ledger.
    """
    if not chosen.names:
        return "None of what was sent is in this model."
    helps = useful(chosen.utility) if informed else UNKNOWN_HELP
    what = f"It sent {listed(titled(chosen.names, titles))}; {alike(people_left)}"
    return f"{what}. By today's rules: {helps}."


def _facts(names: Sequence[str], titles: Titles) -> str:
    return f"{counted(len(names), 'fact')} ({listed(titled(names, titles))})"


def why_nothing(decision: Decision) -> str:
    """Say why a request carries nothing, where that was decided; else the code says it."""
    if decision.code != "answered":
        return ""
    if waits := _waiting(decision):
        return f"{waits} (`reticent requests list --waiting`)"
    asks = any(each.disclose == "ask" for each in decision.outcomes)
    tried = [e for e in decision.outcomes if e.gain_bits is not None and e.disclose != "ask"]
    if not tried:
        reasons = {each.reason for each in decision.outcomes}
        allowed = f"your rules allow nothing{' without asking' if asks else ''}"
        return next((why for reason, why in NOT_TRIED.items() if reason in reasons), allowed)
    if decision.mode == "standing":
        return "nothing in the set for every request may be sent now"
    limits = [each.limit for each in tried if each.limit and each.net_bits > 0]
    if limits:
        which = listed(the_limit(each, decision.fewest) for each in dict.fromkeys(limits))
        return f"what would help enough would break {which}"
    return f"nothing helps enough{' in the long run' if decision.mode == 'planned' else ''}"


def _read(decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield the known query that the text was read as, or how to find one."""
    query = decision.request.query
    if decision.read_as is not None or query:
        yield "read as", read_as(decision.read_as)
    if decision.read_as is None and query and decision.code not in ("blocked", "ordered here"):
        yield "hint", "`reticent model info` lists the known queries of a model"


def _helps(decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield both sides of the bargain, each with its unit."""
    if decision.code == "answered" and decision.disclosed:
        mean = " on average" if decision.mode == "standing" else ""
        yield "helps", f"{useful(decision.figures.utility)}{mean}"
        yield "costs", added_risk(decision.figures.identifiability_cost, decision.metric)


def _pending(decision: Decision) -> Iterator[tuple[str, str]]:
    if (more := decision.pending) is not None:
        gain = more.utility - decision.figures.utility
        names = listed(titled(decision.waiting, decision.titles))
        yield "waits for you", f"{names}: {would_bring(gain, more.people_left)}"


def _planned(decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield what the recipient is to learn in the long run, and for which queries."""
    parts = (
        f"{each.title} for {listed(map(quoted, each.serves), 'future requests', most=NAMED)}"
        for each in decision.outcomes
        if each.reason in PLANNED
    )
    if text := "; ".join(parts):
        yield "plan", text


def _withheld(decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield, by reason, the attributes for which nothing was computed, then the forced ones."""
    names: dict[str, list[str]] = defaultdict(list)
    forced = []
    for each in decision.outcomes:
        if each.gain_bits is None:
            note = each.rule if each.reason in ("never", "guarded") else None
            note = GIVE_SHORT.format(each.fact) if each.reason == NO_SHORT else note
            names[each.reason].append(f"{each.title} ({note})" if note else each.title)
        elif not each.disclosed and each.disclose == "always":
            forced.append(each.title)
    if forced:
        yield "always", f"{listed(forced, most=FEW)}: would break a limit, so not sent"
    for reason, who in names.items():
        yield REASONS.get(reason, reason), listed(who, most=FEW)


def _figures(decision: Decision) -> Iterator[tuple[str, str]]:
    figures = decision.figures
    if decision.code in NO_SET:
        yield "people", fitting(figures.people, figures.people_left, decision.among)
        return
    yield "objective", _objective(decision)
    yield "price", demand(decision.trade_off, decision.metric)
    yield "identifiability", guessing(decision)
    yield "people", fitting(figures.people, figures.people_left, decision.among)
    for each in decision.guarded:
        guess = f"the best guess is right for {each.best_guess:.0%}"
        yield (
            f"secret: {each.title}",
            f"the answer reveals {bits(each.bits)} bits about it; {guess}",
        )
    sets = counted(decision.evaluations, "set")
    yield "search", f"{decision.algorithm}, {sets}; {settled(decision)}"
    yield "how good", proven(decision)


def _objective(decision: Decision) -> str:
    """Write the objective as the sum that it is."""
    figures = decision.figures
    risk = f"{decision.trade_off:g} x {figures.identifiability_cost:.3g} identifiability"
    terms = [f"{bits(figures.utility)} gained", risk]
    terms += [f"{bits(figures.guard)} guarded"] if decision.guarded else []
    terms += [f"{bits(figures.sensitivity)} sensitive"] if figures.sensitivity else []
    mean = ", for the average query" if decision.mode == "standing" else ""
    return f"{bits(figures.objective)} bits = {' - '.join(terms)}{mean}"


def guessing(decision: Decision) -> str:
    """Say how well the recipient is expected to single a person out, before and after."""
    after = decision.figures.identifiability
    before = after - decision.figures.identifiability_cost
    match decision.metric:
        case "maxprob":
            return f"1 guess in {people(1 / after)} is right; before, 1 in {people(1 / before)}"
        case "k-anonymity":
            who = f"of the people blend in with fewer than {decision.metric_k}"
            return f"{after:.1%} {who}; before, {before:.1%}"
        case "entropy":
            return f"{bits(after)} bits of who you are; before, {bits(before)}"
    return f"{after:.5f}; before, {before:.5f}"


def fitting(before: float, after: float, among: CountedAmong | None = None) -> str:
    """Say how many people look like the user now, and are expected to after the answer."""
    if not before:
        return "nobody in the model fits what it knows"
    estimated = among is not None and among.estimated
    now = f"{'about ' if estimated else ''}{of_whom(before, among)} look like you now"
    then = "and as many" if people(after) == people(before) else f"about {people(after)}"
    return f"{now}, {then} after this answer{proviso(among)}"


def settled(decision: Decision) -> str:
    """Say what the search itself makes sure of."""
    if decision.mode == "standing":
        return "chosen once for all queries, before anything was known"
    if decision.mode == "planned":
        return "no single removal improves the plan"
    if decision.algorithm == "exhaustive":
        return "every set was tried"
    forced = any(each.disclose == "always" for each in decision.outcomes)
    return f"no single addition or removal{' of the others' if forced else ''} improves it"


def _quality(decision: Decision) -> str | None:
    """Say what is proven, with its condition; None where nothing is."""
    if decision.proof == "enumerated":
        return "no better set is permitted"
    if decision.proof == "none" or decision.bound is None or decision.certified is None:
        return None
    if decision.certified == 1:
        return "no better set exists"
    best = f"which is worth {bits(decision.bound)} bits at most"
    share = f"at least {floor(100 * decision.certified)} % as good as the best set"
    return f"{share}, {best}; {LOOSE}"


def _why_unproven(decision: Decision) -> str:
    if decision.node_limit_hit:
        return "the search reached its node limit first"
    if decision.metric in ("entropy", "k-anonymity"):
        return f"the cost {decision.metric} has no bound"
    if decision.guarded:
        return "there is no bound while a fact is kept secret"
    if decision.violations:
        return "the bound assumes diminishing returns, which did not hold here"
    return "the bound assumes diminishing returns, which are not certain here"
