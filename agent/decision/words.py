"""A decision in sentences: what leaves, what it means, and what is proven."""

from collections.abc import Sequence
from math import floor

from agent.decision.decide import Candidate, Decision, Evidence, Figures
from agent.decision.terms import Terms
from agent.decision.what_if import Weighing
from agent.tradeoff.anonymity_set import Metric

LARGE = 1e6  # bits; from here on decimals say nothing
DECIMALS, MOST_DECIMALS = 3, 6
LIKELY = "if gains shrink as the set grows, which is not proven"
LOOSE = "such bounds are loose: small shares are normal"
BEFOREHAND = "for the average query and a recipient that knows nothing"
SILENT = {
    "recognised": "only one person fits what the recipient knows, and more would confirm it",
    "outside the model": (
        "nobody in the model fits what the recipient knows, so nothing says how rare you are"
    ),
    "past a limit already": "what the recipient knows is past a limit that you set",
}
UNHEARD = "nothing says what it brings"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them: a, b and c."""
    if len(names) < 2:  # noqa: PLR2004  (no two to join)
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def bits(number: float | None, *, signed: bool = False, decimals: int = DECIMALS) -> str:
    """Return a number of bits with three decimals or three digits, a dash where there is none."""
    if number is None:
        return "-"
    if abs(number) >= LARGE:
        return f"{number:+.3g}" if signed else f"{number:.3g}"
    rounded = round(number, decimals) + 0.0  # no negative zero
    return f"{rounded:+.{decimals}f}" if signed and rounded else f"{rounded:.{decimals}f}"


def apart(one: float | None, other: float | None) -> int:
    """Return how many decimals two numbers need to be told apart, within what is worth it."""
    for decimals in range(DECIMALS, MOST_DECIMALS):
        if bits(one, decimals=decimals) != bits(other, decimals=decimals):
            return decimals
    return DECIMALS if one == other else MOST_DECIMALS


def people(number: float) -> str:
    """Return how many people, an expected number with a decimal where it is small."""
    if number >= 10 or number == int(number):  # noqa: PLR2004  (a decimal says nothing there)
        return f"{round(number):,}"
    return f"{number:.1f}"


def headline(decision: Decision) -> str:
    """Return one plain sentence: what leaves, what it brings, who still looks alike."""
    if decision.status == "unknown query":
        known = "the model does not know this query, so nothing says what would help"
        return f"Disclose nothing: {known}."
    if decision.status == "blocked":
        return "Disclose nothing: a rule blocks this request."
    again = resent(decision)
    new = [name for name in decision.disclosed if name not in again]
    what = f"Disclose {listed(new) if new else 'nothing new' if again else 'nothing'}"
    what += f", and {listed(again)} again" if again else ""
    if decision.status != "decided":
        return f"{what}: {SILENT[decision.status]}."
    waiting = f"; {listed(decision.pending.names)} would wait for you" if decision.pending else ""
    if not decision.disclosed:
        return f"{what}: {_why_nothing(decision)}{waiting}."
    gain = f"{bits(decision.figures.utility)} bits better served"
    gain += " on average" if decision.mode == "standing" else ""
    return f"{what}: {gain}, and {_people(decision.figures)}{waiting}."


def resent(decision: Decision) -> list[str]:
    """Return the disclosed names that the recipient holds already, in the order chosen."""
    known = {each.name for each in decision.candidates if each.reason == "known to the recipient"}
    return [name for name in decision.disclosed if name in known]


def net(candidate: Candidate) -> float:
    """Return what an attribute brings less what it costs, in bits."""
    return (candidate.gain_bits or 0.0) - (candidate.cost_bits or 0.0)


def proven(decision: Decision) -> str:
    """Return what is known of the answer's quality, in words true to its proof.

    A standing set was chosen for all queries: of it nothing is claimed for this request.
    """
    quality = _quality(decision.evidence)
    if decision.mode == "standing":
        if quality is None:
            return f"nothing for this request: the set was chosen {BEFOREHAND}"
        return f"{BEFOREHAND}: {quality}"
    if decision.mode == "planned":
        return "nothing: a plan grows fact by fact, and how good the best one is was not computed"
    return f"no bound: {_why_unproven(decision)}" if quality is None else quality


def at_least(share: float) -> str:
    """Return a share of the optimum in whole per cent, never rounded up."""
    return f"at least {floor(100 * share)}% of the best there is"


def settled(terms: Terms) -> str:
    """Return what the search itself makes sure of."""
    if terms.mode == "standing":
        return "chosen once for all queries, before anything was known"
    if terms.plans:
        return "no single addition improves the plan"
    if terms.algorithm == "exhaustive":
        return "every set was tried"
    move = "addition" if terms.algorithm == "greedy" else "addition or removal"
    others = " of the others" if terms.always else ""
    return f"no single {move}{others} improves it"


def guessing(figures: Figures, metric_k: int) -> str:
    """Return how well the recipient is expected to single a person out, before and after."""
    after, before = figures.identifiability, figures.identifiability - figures.identifiability_cost
    said = _level(figures.metric, after, metric_k)
    return f"{said}; before, {_level(figures.metric, before, metric_k, short=True)}"


def _level(metric: Metric, level: float, k: int, *, short: bool = False) -> str:
    """Return a level of identifiability; ``short``: the number, without what it counts."""
    if metric == "maxprob":
        return f"1 in {1 / level:,.0f}" if short else f"1 guess in {1 / level:,.0f} is right"
    if metric == "k-anonymity":
        return f"{level:.1%}" + ("" if short else f" of the people are among fewer than {k}")
    if metric == "entropy":
        return f"{bits(level)}" + ("" if short else " bits of who you are")
    return f"{level:.5f}"


def fitting(figures: Figures) -> str:
    """Return how many people fit before and after, the latter in expectation."""
    if not figures.people:
        return "nobody in the model fits what is known"
    before, left = people(figures.people), people(figures.people_left)
    after = "all of them" if left == before else f"about {left}"
    return f"{before} fit what is known, and {after} will fit the answer too"


def _people(figures: Figures) -> str:
    left, before = people(figures.people_left), people(figures.people)
    if left == before:
        return f"all {before} people who look like you still do"
    return f"about {left} of {before} people still look like you"


def _quality(evidence: Evidence) -> str | None:
    """Return what is proven, with its condition; None where nothing is."""
    if evidence.proof == "enumerated":
        return "no permitted set is better, whatever the numbers look like"
    if evidence.proof == "none" or evidence.bound is None or evidence.certified is None:
        return None
    if evidence.certified == 1:
        return f"no better set exists {LIKELY}"
    share = f"{at_least(evidence.certified)} (bound {bits(evidence.bound)} bits)"
    return f"{share}, {LIKELY}; {LOOSE}"


def _why_nothing(decision: Decision) -> str:
    waiting = decision.terms.ask
    tried = [
        each
        for each in decision.candidates
        if each.gain_bits is not None and each.name not in waiting
    ]
    if not tried and any(each.reason == "not set" for each in decision.candidates):
        return "nothing that may leave is set"
    if not tried:
        return "nothing is allowed to leave without asking" if waiting else "nothing may leave"
    if decision.mode == "standing":
        return "nothing in the set for all queries may leave now"
    broken = [each for each in tried if each.reason == "would break a limit"]
    limits = [*dict.fromkeys(each.limit for each in broken if each.limit and net(each) > 0)]
    if limits:
        which = "the limit" if len(limits) == 1 else "the limits"
        return f"what would help enough would break {which} {listed(limits)}"
    if decision.mode == "planned":
        return "nothing helps here that is worth its cost in the long run"
    return "nothing helps more than it costs"


def _why_unproven(decision: Decision) -> str:
    terms = decision.terms
    if decision.evidence.node_limit_hit:
        return "the search reached its limit of nodes before it could prove one"
    if terms.metric in ("entropy", "k-anonymity"):
        return f"there is none for the cost {terms.metric}"
    if terms.guards:
        return "there is none where an attribute is guarded"
    if decision.evidence.violations:
        return "on the way a gain grew with the set, where a bound needs it to shrink"
    return "none was computed"


def difference(decision: Decision, weighing: Weighing, *, past: bool) -> str:
    """Return what another set would change; ``past``: about one that was disclosed already.

    Where nothing is changed it says what leaves, or left.
    """
    chosen, weighed = weighing.chosen, weighing.weighed
    added = [name for name in weighed.names if name not in chosen.names]
    dropped = [name for name in chosen.names if name not in weighed.names]
    if not added and not dropped:
        return _carried(weighing) if past else headline(decision)
    parts = [f"with {listed(added)}"] if added else []
    parts += [f"without {listed(dropped)}"] if dropped else []
    change = ", and ".join(parts)
    limit = f"; that breaks the limit {weighed.breaks}" if weighed.breaks else ""
    return f"{change.capitalize()}: {_more(weighing)}, and {_left(weighing)}{limit}."


def _carried(weighing: Weighing) -> str:
    """Return what was disclosed, and what it means by the model and the rules of today."""
    chosen = weighing.chosen
    if not chosen.names:
        return "It carried nothing that the model has."
    gain = f"{bits(chosen.figures.utility)} bits better served" if weighing.informed else UNHEARD
    today = f"by today's rules {gain}, and {_alike(chosen.figures)}"
    return f"It carried {listed(chosen.names)}: {today}."


def _more(weighing: Weighing) -> str:
    if not weighing.informed:
        return UNHEARD
    more = weighing.weighed.figures.utility - weighing.chosen.figures.utility
    return f"{bits(more, signed=True)} bits"


def _left(weighing: Weighing) -> str:
    """Return who looks alike with the change, beside who would without it."""
    chosen, weighed = weighing.chosen.figures, weighing.weighed.figures
    before, after = people(chosen.people_left), people(weighed.people_left)
    return _alike(weighed) + (", as before" if before == after else f", in place of {before}")


def _alike(figures: Figures) -> str:
    left, before = people(figures.people_left), people(figures.people)
    return (
        f"{f'all {before}' if left == before else f'about {left} of {before}'} people look like you"
    )
