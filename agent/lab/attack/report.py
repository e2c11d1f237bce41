"""report.md of the attack: what it means, then figures, tables, bars and definitions."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

import numpy as np

from agent.lab.attack.bars import NONE, Bar, chance, milliseconds, multiple, number, percent
from agent.lab.attack.charts import note_of, source_of
from agent.lab.attack.outcome import QUANTILES, figures
from agent.lab.attack.study import SHORT, Exactly, Study, Withheld
from agent.lab.attack.ways import ANSWERED, EVERYTHING, EXACT, PAPERS, SINGLE, Way
from agent.lab.charts import Chart, section, table

MANY = 10  # times, without a decimal
ENOUGH = 1000  # people of figures that are published
WORDS = {True: "met", False: "not met", None: "cannot be said"}
LEFT = "/".join(f"{100 * each:g}" for each in QUANTILES)
HEAD = (
    *("sent", "a guess succeeds", f"people left: {LEFT} %", "bits realised", "reciprocal rank"),
    *("attributes", "guarded: bits, entropy", "ms"),
)
BARS = ("bar", "wanted", "found", "", "the end that counts is")
SIDES = ("sent", "an adversary who", "a guess succeeds")
ABSENCE = ("bits, mean", "most", "there agree", "would send it")
SERVICES = ("service", "with", "bits a request, unseen users", "")


def page(study: Study, charts: Sequence[Chart], judged: Sequence[Bar]) -> str:
    """Return the page in Markdown; the pictures lie beside it by name."""
    source = source_of(study)
    bars = [(each.what, each.wanted, each.found, WORDS[each.met], each.by) for each in judged]
    fields = {
        "note": note_of(study),
        "source": source,
        "people": len(study.crowd.people),
        "list_has": study.material.listed,
        "charts": "\n".join(section(each, source) for each in charts),
        "bars": table(BARS, bars),
        "ways": _ways(study, study.outcomes),
        "met": _met([each.met for each in judged], len(study.crowd.people)),
    }
    for each in (_guesses, _absence, _exactly, _services):
        fields |= each(study)
    return (files("agent.lab.attack") / "report.md").read_text("utf-8").format(**fields)


def _guesses(study: Study) -> dict[str, object]:
    """Return how often a guess is right in the end, and what the agent keeps of utility."""
    ours, paper, step = study.outcomes[ANSWERED[1]], study.outcomes[PAPERS], len(study.steps) - 1
    own, forgets, everything = (
        figures(each, step, study.resamples) for each in (ours, paper, study.outcomes[EVERYTHING])
    )
    kept = study.resamples.ratio(ours.bits[:, step], paper.bits[:, step])
    times = forgets.success.mean / own.success.mean
    often = f"{times:.{0 if times >= MANY else 1}f} times less often"
    sides = [
        (each.way.name, each.adversary, percent(study.resamples.mean(1 / each.left[:, -1]), 2))
        for each in study.sides
    ]
    return {
        "listed": len(study.crowd.codes),
        "blind": chance(1 / len(study.crowd.codes)),
        "everything": chance(everything.success.mean),
        "requests": study.options.requests,
        "forgets": chance(forgets.success.mean),
        "told": forgets.carried,
        "ours": chance(own.success.mean),
        "times": often if times >= 1 else f"{1 / times:.1f} times as often",
        "left": own.left[1] - 1,
        "kept": "a share that cannot be said" if kept is None else f"{100 * kept.mean:.0f} %",
        "sides": table(SIDES, sides),
    }


def _met(found: Sequence[bool | None], people: int) -> str:
    """Return how many bars are met, and whether there are enough people to say so."""
    unsaid = f", and of {found.count(None)} it cannot be said" if None in found else ""
    words = (
        f"Of {len(found)} bars below, {found.count(True)} are met and {found.count(False)} are not"
        f"{unsaid}."
    )
    if people < ENOUGH:
        words += f" {people} people leave wide intervals, of which the worse end counts: "
        words += f"judge by {ENOUGH:,}."
    return words


def _absence(study: Study) -> dict[str, object]:
    """Return what reasoning about absence gives."""
    withheld = study.reasoned.withheld
    way, most = max(withheld.items(), key=lambda each: each[1].bits.max())
    alone = "gave nothing away here either, although the study looked at the rarest facts"
    if most.bits.max() > 0:
        alone = (
            f"reveals something: with {way.name}, {most.agreeing:,} people agreed with what "
            f"somebody with rare facts sent, and {most.producing:,} of them would have sent it"
        )
    return {
        "equal": study.reasoned.equal,
        "compared": study.reasoned.compared,
        "alone": alone,
        "few": len(most.bits),
        "short": min(SHORT, study.options.requests),
        "short_list": most.listed,
        "withheld": _absences("limits kept for the user alone", withheld),
        "unset": _absences("what was not said is not set", study.reasoned.unset),
    }


def _absences(name: str, withheld: Mapping[Way, Withheld]) -> str:
    """Return a table of what withholding reveals, a row for each way."""
    rows = [
        (
            *(way.name, f"{each.bits.mean():.2f}", f"{each.bits.max():.2f}"),
            *(f"{each.agreeing:,}", f"{each.producing:,}"),
        )
        for way, each in withheld.items()
    ]
    return table((name, *ABSENCE), rows)


def _exactly(study: Study) -> dict[str, object]:
    """Return what exact search in place of local search changes."""
    last, found = len(study.steps) - 1, study.exactly
    local, exact = found.outcomes[SINGLE], found.outcomes[EXACT]
    ratio = found.resamples.ratio(exact.success[:, last], local.success[:, last])
    gained = [each.gained for each in found.compared if not each.same]
    missed = (
        f", and elsewhere one with {np.mean(gained):.4f} bits of F less on average, "
        f"{max(gained):.4f} at most"
        if gained
        else ""
    )
    searched, proven = len(found.compared), sum(each.proven for each in found.compared)
    return {
        "exact_people": len(exact.left),
        "ratio": NONE if ratio is None else multiple(ratio),
        "more": number(found.resamples.mean(exact.bits[:, last] - local.bits[:, last]), 4),
        "exact": _ways(found, (SINGLE, EXACT)),
        "same": searched - len(gained),
        "searched": searched,
        "missed": missed,
        "proven": proven,
        "unproven": "; in the others it ended without that proof" if proven < searched else "",
    }


def _ways(part: Study | Exactly, ways: Iterable[Way]) -> str:
    """Return a table of what came of ways in the end."""
    rows = []
    for way in ways:
        outcome = part.outcomes[way]
        found = figures(outcome, -1, part.resamples)
        learned = [each for each in (found.learned, found.entropy) if each is not None]
        rows.append(
            (
                way.name,
                percent(found.success, 2),
                " / ".join(f"{each:,}" for each in found.left),
                number(found.bits),
                f"{found.reciprocal.mean:.3f}",
                f"{found.carried:.2f}",
                ", ".join(f"{each.mean:.2f}" for each in learned) or NONE,
                milliseconds(outcome.seconds),
            )
        )
    return table(HEAD, rows)


def _services(study: Study) -> dict[str, object]:
    """Return how the service was chosen, and how much of what people asked is in the streams."""
    own, held = study.service, study.material.others
    ranked = len(held.query)
    events = f"all {ranked:,} events of the other half"
    if held.unranked:
        events = (
            f"{ranked:,} of the {ranked + held.unranked:,} events of the other half: in the others "
            "something was asked or chosen that the model does not have"
        )
    best = {each.recipe.kind: each for each in sorted(study.trials, key=lambda trial: trial.bits)}
    others = [
        f"{each.bits:.4f} of {kind} ({each.recipe.setting})"
        for kind, each in best.items()
        if kind != own.recipe.kind
    ]
    rows = [
        (each.recipe.kind, each.recipe.setting, f"{each.bits:.4f}", "chosen" if each == own else "")
        for each in study.trials
    ]
    return {
        "events": events,
        "kind": own.recipe.kind,
        "setting": own.recipe.setting,
        "service_bits": own.bits,
        "others": " and ".join(others),
        "services": table(SERVICES, rows),
    }
