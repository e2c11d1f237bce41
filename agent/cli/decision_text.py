"""A decision as a page of text: the sentence, the attributes, the figures."""

from collections import defaultdict

from agent.cli.decision_words import fitting, guessing, headline, net, proven, settled
from agent.cli.layout import Column, bits, facts, paragraph, strong, table
from agent.decision.decision import Candidate, Decision, Guarded
from agent.decision.terms import Terms

FEW = 12  # attributes that are named one by one where no figures belong to them
COLUMNS = (
    Column("attribute", wraps=True),
    Column("in"),
    Column("gain", right=True),
    Column("cost", right=True),
    Column("why"),
)


def decision_text(decision: Decision, terms: Terms) -> str:
    """Return all that there is to say about a decision, the plain sentence on top."""
    parts = [strong(paragraph(headline(decision))), *_nearest(decision)]
    tried = [each for each in decision.candidates if each.gain_bits is not None]
    if tried:
        parts.append(table(COLUMNS, [_row(each) for each in _ordered(tried, decision)]))
    parts += _barred(decision)
    parts.append(facts(_figures(decision, terms)))
    return "\n\n".join(parts)


def _nearest(decision: Decision) -> list[str]:
    match = decision.match
    if match.kind == "nearest":
        nearest = f", the nearest query (similarity {match.similarity:.2f})"
        return [f"Read as {decision.matched_query!r}{nearest if match.similarity < 1 else ''}."]
    if match.kind == "unknown":
        return ["`reticent model info` lists the queries of the shipped model, or of one you name."]
    return []


def _ordered(tried: list[Candidate], decision: Decision) -> list[Candidate]:
    """Return what is disclosed, in the order chosen, then the rest, the nearest miss first."""
    place = {name: number for number, name in enumerate(decision.disclosed)}
    return sorted(tried, key=lambda each: (place.get(each.name, len(place)), -net(each), each.name))


def _row(candidate: Candidate) -> tuple[str, ...]:
    return (
        candidate.name,
        "yes" if candidate.disclosed else "-",
        bits(candidate.gain_bits, signed=True),
        bits(candidate.cost_bits),
        candidate.reason,
    )


def _barred(decision: Decision) -> list[str]:
    """Return, by reason, the attributes that never were candidates."""
    names: dict[str, list[str]] = defaultdict(list)
    for each in decision.candidates:
        if each.gain_bits is None:
            names[each.reason].append(each.name)
    return [facts((why, _counted(who)) for why, who in names.items())] if names else []


def _counted(names: list[str]) -> str:
    """Return a few names, or how many there are."""
    return ", ".join(names) if len(names) <= FEW else f"{len(names)} attributes"


def _figures(decision: Decision, terms: Terms) -> list[tuple[str, str]]:
    figures, evidence = decision.figures, decision.evidence
    alike = [("people", fitting(figures))]
    if decision.status == "unknown query":
        return alike
    return [
        ("objective", _sum(decision, terms)),
        ("identifiability", guessing(figures, terms.metric_k)),
        *alike,
        *((f"guard {each.name}", _told(each)) for each in decision.guarded),
        ("search", f"{terms.algorithm}, {evidence.evaluations:,} sets; {settled(terms)}"),
        ("proven", proven(decision, terms)),
    ]


def _told(guarded: Guarded) -> str:
    """Return what the answer tells about a guarded attribute."""
    guess = f"the best guess is right for {guarded.best_guess:.0%} of the people"
    return f"{bits(guarded.bits)} bits are told about it; {guess}"


def _sum(decision: Decision, terms: Terms) -> str:
    """Return the objective as the sum that it is."""
    figures = decision.figures
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
