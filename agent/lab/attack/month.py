"""What is given away over many requests: facts told that were needed, and that were not."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.build.kinds import lines_of, read_file
from agent.build.options import read_description
from agent.build.relevance import StatementLine
from agent.build.topics import CLEARLY, TopicLine, judged_of, read_topics
from agent.errors import UsageError
from agent.lab import Progress, StudyOptions
from agent.lab.attack.criteria import percent
from agent.lab.attack.material import DESCRIPTION
from agent.lab.attack.outcome import Interval, Resamples
from agent.lab.attack.profiles import drawn_people
from agent.lab.attack.simulation import PAUSE, Floats, Person, Table, Trace, as_table
from agent.lab.attack.strategies import NOTHING, PRESETS, Strategy
from agent.lab.attack.study import Run, worked
from agent.lab.charts import Chart, Criterion, Panel, Series, criteria_table, section, table
from agent.model.model import Model
from agent.model.world import in_country
from agent.tradeoff.tables import UNSPECIFIED, read_only

RECIPIENTS = 1, 3, 6  # that the requests go to, in turn
HOME = "us"  # whose people the model counts, and where these live
MOST_NEEDLESS, LEAST_NEEDED = 0.1, 0.6  # of the facts told; of the facts needed
RELEVANT = Strategy(name="all relevant", telling="relevant")
# As the presets are shipped: for whom limits are kept is theirs.
YES = [Strategy(name=f"{e}, yes to all", preset=e, answered=True, unset=True) for e in PRESETS]
BALANCED = YES[1], replace(YES[1], name="balanced, nobody answers", answered=False)
MONTHLY = (NOTHING, RELEVANT, *YES, BALANCED[1])
HEAD = (
    "recipients, sent, facts told, not needed of these, told of those needed, had all been needed"
)
TITLE = "What a month of requests gives away"


class Ground(NamedTuple):
    """A model by one judge, and what another says: ``needs``: bool, shape (queries, attributes).

    ``judged``: bool, shape (queries,), the topics that the other judge looked at; ``phrasings``:
    of each what people ask; ``statements``: what they say of themselves.
    """

    model: Model
    needs: Table
    judged: Table
    phrasings: tuple[tuple[str, ...], ...]
    statements: tuple[StatementLine, ...]


class Tally(NamedTuple):
    """Facts after each of T requests, over all recipients; float64, shape (people, T) each.

    ``needed``: those of a person that some request to a recipient so far needs, once for each such
    recipient; ``told``: those that recipients hold; ``useful``: those that are both.
    """

    needed: Floats
    told: Floats
    useful: Floats

    @property
    def needless(self) -> Floats:
        """The facts that recipients hold and nothing so far needed."""
        return self.told - self.useful


@dataclass(frozen=True, slots=True, eq=False)
class MonthStudy:
    """What was found, by how many recipients there are and by strategy, of the same people.

    ``topics``: how many were judged twice.
    """

    options: StudyOptions
    tallies: Mapping[int, Mapping[Strategy, Tally]]
    topics: int

    @property
    def resamples(self) -> Resamples:
        """The same for every figure: what is compared is paired."""
        return Resamples(self.options.people, self.options.seed)


def ground_of(folder: Path, model: Model) -> Ground:
    """The shipped model as the first judge alone makes it, and what the second says.

    ``folder``: with the tables of ``model``. How surely each grade matters stays what both judges
    say of it: four numbers. Of twins, what either needs is needed. UsageError for a description
    without topics, or of other ones.
    """
    note = read_description(folder / DESCRIPTION).topics
    if note is None:
        what = "the description has no topics"
        raise UsageError(what, "name the folder of everyday facts", str(folder))
    topics, reliability = read_topics(note)
    if [each.id for each in topics] != [each.text for each in model.queries]:
        raise UsageError("the model is of other topics", "build it from these", str(folder))
    of_topic = defaultdict[str, list[TopicLine]](list)
    for line in read_file(note.file, partial(lines_of, kind=TopicLine)):
        of_topic[note.merge.get(line.id, line.id)].append(line)
    lines = [of_topic[each.id] for each in topics]
    first = [
        topic._replace(judgements=tuple((each.bits, each.relevance) for each in some))
        for topic, some in zip(topics, lines, strict=True)
    ]
    queries = tuple(
        replace(query, bits=topic.bits) for query, topic in zip(model.queries, first, strict=True)
    )
    judged = judged_of(first, reliability, model.attributes)
    model = replace(model, queries=queries, tables=replace(model.tables, judged=judged))
    model = in_country(model, HOME)
    persons = model.attributes[: model.persons]
    again = [[each.second for each in some if each.second is not None] for some in lines]
    needs = [
        [any(each.get(a.shared or a.name, 0) >= CLEARLY for each in some) for a in persons]
        for some in again
    ]
    judges = read_only(np.array(needs)), read_only(np.array([*map(bool, again)]))
    statements = tuple(read_file(note.statements, partial(lines_of, kind=StatementLine)))
    return Ground(model, *judges, tuple(each.phrasings for each in topics), statements)


def parts_of(person: Person, recipients: int) -> list[Person]:
    """The person as each of so many recipients knows them, who are asked in turn."""
    requests, pause = person.requests, recipients * PAUSE
    return [
        person._replace(requests=requests[at::recipients], pause=pause) for at in range(recipients)
    ]


def tallied(people: Sequence[Person], traces: Sequence[Sequence[Trace]], needs: Table) -> Tally:
    """Count what was told; ``traces``: of each person, by recipient; ``needs``: as in `Ground`."""
    steps = np.zeros((len(people), len(people[0].requests), len(Tally._fields)))
    for line, person, by_recipient in zip(steps, people, traces, strict=True):
        queries = [each.query for each in person.requests]
        has = np.array(person.codes) != UNSPECIFIED
        for at, trace in enumerate(by_recipient):
            told = as_table(trace.disclosed, len(has))
            needed = np.logical_or.accumulate(needs[queries[at :: len(by_recipient)]] & has)
            counts = [each.sum(axis=1) for each in (needed, told, told & needed)]
            line[at :: len(by_recipient)] = np.diff(np.stack(counts, 1), axis=0, prepend=0)
    return Tally(*np.moveaxis(steps.cumsum(axis=1), 2, 0))


def month(
    ground: Ground,
    options: StudyOptions,
    progress: Progress,
    strategies: Sequence[Strategy] = MONTHLY,
) -> MonthStudy:
    """Simulate people, by some strategies; one process, whatever the options say."""
    model, weights = ground.model, ground.model.tables.query_weights * ground.judged
    asked = weights / weights.sum()
    people = drawn_people(model, asked, options.people, options.requests, options.seed)
    parts = [part for many in RECIPIENTS for person in people for part in parts_of(person, many)]
    traces = {
        strategy: iter(some)
        for strategy, some in worked(
            model, dict.fromkeys(strategies, parts), Run(1, progress)
        ).items()
    }
    tallies = {
        many: {
            each: tallied(people, [[next(of) for _ in range(many)] for _ in people], ground.needs)
            for each, of in traces.items()
        }
        for many in RECIPIENTS
    }
    return MonthStudy(options, tallies, int(ground.judged.sum()))


def curves(study: MonthStudy) -> Chart:
    """Draw what was told, needed and not, as requests come."""
    x, panels = tuple(map(float, range(1, study.options.requests + 1))), list[Panel]()
    for many, tallies in study.tallies.items():
        needed = Series("all that is needed", x, (*tallies[NOTHING].needed.mean(axis=0).tolist(),))
        for what, facts, more in (("needed", "useful", (needed,)), ("not needed", "needless", ())):
            counts = {each.name: getattr(tally, facts) for each, tally in tallies.items()}
            series = (Series(e, x, (*each.mean(axis=0).tolist(),)) for e, each in counts.items())
            title = f"{what}, {many} recipient" + "s" * (many > 1)
            label = f"facts told that were {what}, of a person"
            panels.append(Panel(title, "requests", label, (*series, *more)))
    return Chart("month", "Facts told, as requests come", note_of(study), tuple(panels))


def note_of(study: MonthStudy) -> str:
    """Say of what the figures are."""
    options = study.options
    return (
        f"SYNTHETIC people: {options.people:,} drawn as the model of everyday facts counts them, "
        f"each with {options.requests:,} requests on {study.topics} topics that were judged twice. "
        "The model is of the first judge's word alone, needed is what the second called clearly "
        f"better or decisive. Seed {options.seed}. In brackets: 95 % of resamples of the people."
    )


def shares_of(tally: Tally, resamples: Resamples) -> Sequence[Interval | None]:
    """Of the facts told in the end, how many were not needed; of those needed, how many told.

    And how many as many facts could have told, had each been needed.
    """
    needed, told, useful, needless = (each[:, -1] for each in (*tally, tally.needless))
    most = np.minimum(told, needed)
    return [resamples.ratio(*e) for e in ((needless, told), (useful, needed), (most, needed))]


def month_criteria(study: MonthStudy) -> list[Criterion]:
    """Judge the preset balanced; the worse end of each interval counts."""
    judged = list[Criterion]()
    for many, tallies in study.tallies.items():
        for strategy in BALANCED:
            needless, told, _ = shares_of(tallies[strategy], study.resamples)
            for what, bar, share, sign in (
                ("facts told that were not needed", MOST_NEEDLESS, needless, 1),
                ("needed facts that were told", LEAST_NEEDED, told, -1),
            ):
                above = share and (share.high if sign > 0 else share.low) - bar
                judged.append(
                    Criterion(
                        f"{strategy.name}, recipients: {many}: {what}",
                        f"at {'most' if sign > 0 else 'least'} {100 * bar:g} %",
                        _shown(share),
                        None if above is None else sign * above <= 0,
                        "" if above is None else f"{100 * above:+.0f} points",
                    )
                )
    return judged


def _shown(share: Interval | None) -> str:
    return "cannot be said" if share is None else percent(share, 0)


def month_page(study: MonthStudy, chart: Chart, judged: Sequence[Criterion]) -> str:
    """Write the page in Markdown; the picture lies beside it by name."""
    parts = section(chart, note_of(study)), month_table(study), criteria_table(judged)
    return f"# {TITLE}\n\n" + "\n\n".join(each.rstrip() for each in parts) + "\n"


def month_table(study: MonthStudy) -> str:
    """What was told in the end, as a table in Markdown."""
    rows = list[tuple[str, ...]]()
    for many, tallies in study.tallies.items():
        for strategy, tally in tallies.items():
            shares = map(_shown, shares_of(tally, study.resamples))
            rows.append((f"{many}", strategy.name, f"{tally.told[:, -1].mean():.1f}", *shares))
    return table(HEAD.split(", "), rows)
