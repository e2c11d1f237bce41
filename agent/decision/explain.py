"""A decision in plain lines, for every front: what leaves, what waits, what stays, and why."""

from collections import defaultdict
from typing import NamedTuple

from agent.decision.decide import Candidate, Decision, Guarded
from agent.decision.words import bits, fitting, guessing, headline, listed, people, proven, settled
from policy.precedence import Verdict
from policy.sections import shown

NO_QUERY = "none of the queries that the model knows"
FEW = 12  # attributes that are named one by one
NAMED = 3  # queries that are named, of those that an attribute is planned for
PLANNED = ("in the plan", "planned for other requests")


class Explanation(NamedTuple):
    """One sentence that says it all, and lines, each with a label, that say more."""

    headline: str
    lines: tuple[tuple[str, str], ...]


def explain(decision: Decision) -> Explanation:
    """Return a decision in sentences that are true to what is proven of it."""
    lines = [*_read(decision), *_pending(decision), *_planned(decision), *_withheld(decision)]
    lines += [*_figures(decision), *_because(decision)]
    return Explanation(headline(decision), tuple(lines))


def because(decision: Decision, key: str, attribute: str | None = None) -> Verdict | None:
    """Return the rule behind a setting, or behind one of an attribute; None without a policy."""
    ruling = decision.terms.ruling
    if ruling is None:
        return None
    verdicts = ruling.settings if attribute is None else ruling.attributes.get(attribute, {})
    return verdicts.get(key)


def _read(decision: Decision) -> list[tuple[str, str]]:
    """Return which known query the text was read as; where none, what there is to ask."""
    if decision.matched_query is not None:
        return [("read as", repr(decision.matched_query))]
    if not decision.request.query:
        return []
    hint = "`reticent model info` lists the queries of the shipped model, or of one you name"
    hints = [("hint", hint)] if decision.status != "blocked" else []
    return [("read as", NO_QUERY), *hints]


def _pending(decision: Decision) -> list[tuple[str, str]]:
    """Return what waits for the user, and what it would do."""
    pending = decision.pending
    if pending is None:
        return []
    more = pending.figures.utility - decision.figures.utility
    left = people(pending.figures.people_left)
    would = f"with it {bits(more, signed=True)} bits, and about {left} people left"
    return [("waits for you", f"{listed(pending.names)}: {would}")]


def _planned(decision: Decision) -> list[tuple[str, str]]:
    """Return what the recipient is to hold that it does not, and for which queries."""
    new = [each for each in decision.candidates if each.reason in PLANNED]
    said = [f"{each.name} for {_few(each.serves) or 'what else may be asked'}" for each in new]
    return [("plan", "; ".join(said))] if said else []


def _few(queries: tuple[str, ...]) -> str:
    """Return the first queries, and how many more there are."""
    more = len(queries) - NAMED
    first = [repr(each) for each in queries[:NAMED]]
    return listed([*first, f"{more} more"] if more > 0 else first)


def _withheld(decision: Decision) -> list[tuple[str, str]]:
    """Return, by reason, what stays although nothing was computed of it, or although forced."""
    names: dict[str, list[str]] = defaultdict(list)
    kept = []
    for each in decision.candidates:
        if each.gain_bits is None:
            names[each.reason].append(each.name + _ruled(decision, each))
        elif not each.disclosed and each.name in decision.terms.always:
            kept.append(each.name)
    lines = [("always", f"{_counted(kept)} would break a limit, and so stays")] if kept else []
    return lines + [(why, _counted(who)) for why, who in names.items()]


def _ruled(decision: Decision, candidate: Candidate) -> str:
    """Return the rule by which an attribute never leaves, in brackets."""
    key = {"never": "disclose", "guarded": "guard"}.get(candidate.reason)
    verdict = because(decision, key, candidate.name) if key else None
    return f" ({verdict.rule.name})" if verdict else ""


def _counted(names: list[str]) -> str:
    """Return a few names, or how many there are."""
    return ", ".join(names) if len(names) <= FEW else f"{len(names)} attributes"


def _figures(decision: Decision) -> list[tuple[str, str]]:
    figures, evidence, terms = decision.figures, decision.evidence, decision.terms
    alike = [("people", fitting(figures))]
    if decision.status in ("unknown query", "blocked"):
        return alike
    return [
        ("objective", _sum(decision)),
        ("identifiability", guessing(figures, terms.metric_k)),
        *alike,
        *((f"guard {each.name}", _told(each)) for each in decision.guarded),
        ("search", f"{terms.algorithm}, {evidence.evaluations:,} sets; {settled(terms)}"),
        ("proven", proven(decision)),
    ]


def _told(guarded: Guarded) -> str:
    """Return what the answer tells about a guarded attribute."""
    guess = f"the best guess is right for {guarded.best_guess:.0%} of the people"
    return f"{bits(guarded.bits)} bits are told about it; {guess}"


def _sum(decision: Decision) -> str:
    """Return the objective as the sum that it is."""
    figures, terms = decision.figures, decision.terms
    terms_of_it = [
        f"{bits(figures.utility)} gained",
        f"{terms.trade_off:g} x {figures.identifiability_cost:.5f} identifiability",
    ]
    if terms.guards:
        terms_of_it.append(f"{bits(figures.guard)} guarded")
    if figures.sensitivity:
        terms_of_it.append(f"{bits(figures.sensitivity)} sensitive")
    mean = ", for the average query" if decision.mode == "standing" else ""
    return f"{bits(figures.objective)} bits = {' - '.join(terms_of_it)}{mean}"


def _because(decision: Decision) -> list[tuple[str, str]]:
    """Return the rules behind the request's settings, those of the defaults left out."""
    ruling = decision.terms.ruling
    if ruling is None:
        return []
    by_rule: dict[str, list[str]] = defaultdict(list)
    for key, verdict in ruling.settings.items():
        if verdict.rule.layer:
            by_rule[verdict.rule.name].append(f"{key} = {shown(verdict.value)}")
    return [("because", f"{name}: {', '.join(what)}") for name, what in by_rule.items()]
