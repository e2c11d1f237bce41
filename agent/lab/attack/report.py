"""The attack as figures, and as report.md."""

from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from math import log

from agent.lab import TEXTS
from agent.lab.attack.criteria import EARLY, SUCCESS, UTILITY, chance, judged_at, number, percent
from agent.lab.attack.outcome import figures
from agent.lab.attack.strategies import ANSWERED, CONSTANT, EVERYTHING, FAMILIES, OWN, PAPERS, UNSET
from agent.lab.attack.study import SHORT, AttackStudy
from agent.lab.charts import Chart, Criterion, Mark, Panel, Series, criteria_table, section, table

NEAR = 0.01  # bits; tenfold as a logarithm of success: points so near have one name
HEAD = ("sent", "a guess succeeds", "people left: 1/5/50 %", "bits realised", "attributes")
POINTS = {"presets, every question answered yes": ANSWERED, "the same with every request": CONSTANT}
ABSENCE = ("bits, mean", "most", "there agree", "would send it")


def frontier(study: AttackStudy) -> Chart:
    """Draw what is gained, and what it gives away."""
    steps = sorted({judged_at(study, EARLY), len(study.crowd.steps) - 1})
    panels = tuple(_panel(study, each) for each in steps)
    title = "What is gained, and what it gives away"
    return Chart("attack-frontier", title, note_of(study), panels)


def note_of(study: AttackStudy) -> str:
    """Say of what the figures and the tables are, and where the data comes from."""
    people = len(study.crowd.people)
    return str(TEXTS["attack"].format(study=study, source=source_of(study), people=people))


def source_of(study: AttackStudy) -> str:
    """Say where the data comes from; what is synthetic says so first."""
    source = study.material.source
    made_up = "SYNTHETIC: nobody asked any of this. " if "synthetic" in source.lower() else ""
    return f"{made_up}Data: {source}."


def _panel(study: AttackStudy, step: int) -> Panel:
    lines = [_line(study, name, step) for name in FAMILIES]
    points = [_points(study, label, step) for label in POINTS]
    marks = tuple(chain.from_iterable(map(_marks, points)))
    title = f"after {study.crowd.steps[step]} requests to one recipient that remembers"
    return Panel(title, UTILITY, SUCCESS, (*lines, *points), marks, log_y=True, legend="below")


def _line(study: AttackStudy, name: str, step: int) -> Series:
    family = FAMILIES[name]
    pairs = [(figures(study.outcomes[each], step, study.resamples), each) for each in family]
    pairs.sort(key=lambda each: each[0].bits.mean)
    ends = zip(*(each.success for each, _ in pairs), strict=True)
    y, low, high = (tuple(100 * each for each in some) for some in ends)
    return Series(
        label=f"{name}, λ from {family[0].trade_off:g} to {family[-1].trade_off:g}",
        x=tuple(each.bits.mean for each, _ in pairs),
        y=y,
        low=low,
        high=high,
        names=tuple(f"λ = {strategy.trade_off:g}" for _, strategy in pairs),
    )


def _points(study: AttackStudy, label: str, step: int) -> Series:
    results = [figures(study.outcomes[each], step, study.resamples) for each in POINTS[label]]
    utility = tuple(each.bits.mean for each in results)
    success = tuple(100 * each.success.mean for each in results)
    names = tuple(each.name.removeprefix("Reticent, ") for each in POINTS[label])
    return Series(label, utility, success, "points", names=names)


def _marks(points: Series) -> tuple[Mark, ...]:
    """Name the points; those that nearly coincide share a mark."""
    shared: dict[tuple[float, float], list[tuple[float, float, str]]] = {}
    for x, y, name in zip(points.x, points.y, points.names, strict=True):
        shared.setdefault((round(x / NEAR), round(log(y) / NEAR / 10)), []).append((x, y, name))
    return tuple(
        Mark(*each[0][:2], ", ".join(name for *_, name in each)) for each in shared.values()
    )


def page_about(study: AttackStudy, chart: Chart, judged: Sequence[Criterion]) -> str:
    """Write the page in Markdown; the picture lies beside it by name."""
    source, last = source_of(study), len(study.crowd.steps) - 1
    ours, paper = study.outcomes[ANSWERED[1]], study.outcomes[PAPERS]
    own, forgets, everything = (
        figures(each, last, study.resamples) for each in (ours, paper, study.outcomes[EVERYTHING])
    )
    utility = study.resamples.ratio(ours.bits[:, last], paper.bits[:, last])
    met = [each.met for each in judged]
    fields = {
        "study": study,
        "note": note_of(study),
        "source": source,
        "people": len(study.crowd.people),
        "chart": section(chart, source),
        "criteria": criteria_table(judged),
        "ranked": len(study.material.others.query),
        "events": len(study.material.others.query) + study.material.others.unranked,
        "strategies": _strategies(study),
        "met": f"{met.count(True)} are met and {met.count(False)} are not",
        "judged": len(judged),
        "listed": len(study.crowd.codes),
        "blind": chance(1 / len(study.crowd.codes)),
        "everything": chance(everything.success.mean),
        "forgets": forgets,
        "forgotten": chance(forgets.success.mean),
        "ours": chance(own.success.mean),
        "left": own.remaining[1] - 1,
        "kept": "a share that cannot be said" if utility is None else f"{100 * utility.mean:.0f} %",
        **_absence(study),
    }
    return (files("agent.lab.attack") / "report.md").read_text("utf-8").format(**fields)


def _absence(study: AttackStudy) -> dict[str, object]:
    """Say what reasoning about absence gives: in words, and a table for each kind of strategy."""
    reasoned, rows = study.reasoned, dict[str, tuple[str, ...]]()
    alone, most = TEXTS["absence"]["nothing"], 0.0
    for strategy, people in reasoned.withheld.items():
        bits = [float(each.bits[-1]) for each in people]
        worst = people[bits.index(max(bits))]
        agreeing, producing = (f"{each[-1]:,}" for each in (worst.agreeing, worst.producing))
        mean = f"{sum(bits) / len(bits):.2f}"
        rows[strategy.name] = strategy.name, mean, f"{max(bits):.2f}", agreeing, producing
        if strategy in OWN and max(bits) > most:
            most, about = max(bits), {"agreeing": agreeing, "producing": producing}
            alone = TEXTS["absence"]["something"].format(name=strategy.name, **about)
    stopped, unset = ([rows[each.name] for each in some] for some in (OWN, UNSET))
    tables = {
        "withheld": table(("nothing new once the user would stand out", *ABSENCE), stopped),
        "unset": table(("what was not said is not set", *ABSENCE), unset),
    }
    few, short = max(map(len, reasoned.withheld.values())), min(SHORT, study.options.requests)
    return {**tables, "alone": alone, "few": few, "short": short}


def _strategies(study: AttackStudy) -> str:
    """Tabulate what came of each strategy in the end."""
    rows = []
    for strategy, outcome in study.outcomes.items():
        result = figures(outcome, -1, study.resamples)
        people = " / ".join(f"{each:,}" for each in result.remaining)
        cells = percent(result.success, 2), people, number(result.bits), f"{result.carried:.2f}"
        rows.append((strategy.name, *cells))
    return table(HEAD, rows)
