"""What is given away over many requests: facts told that were needed, and that were not.

People with whole profiles, and facts in own words; what is needed, the model was not made from.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from agent.build.kinds import lines_of, read_file
from agent.build.options import read_description
from agent.build.phrasings import request_vectors
from agent.build.relevance import Sheet, StatementLine, bilinear_of, pair_of, pairs_of
from agent.build.topics import CLEARLY, TopicLine, judged_of, read_topics
from agent.errors import UsageError
from agent.facts.proposals import judging
from agent.lab import TEXTS, Progress, StudyOptions
from agent.lab.attack.criteria import percent
from agent.lab.attack.material import DESCRIPTION
from agent.lab.attack.outcome import Interval, Resamples
from agent.lab.attack.profiles import WRITTEN, Kept, Sender, senders
from agent.lab.attack.silence import statements
from agent.lab.attack.simulation import PAUSE, Person, Table, Trace, as_table, chooser, walk
from agent.lab.attack.strategies import NOTHING, PRESETS, Strategy
from agent.lab.charts import Chart, Criterion, Panel, Series, criteria_table, section, table
from agent.model.model import Model
from agent.model.relevance import helping
from agent.model.world import in_country
from agent.tradeoff.tables import UNSPECIFIED, Floats, read_only

RECIPIENTS = 1, 3, 6  # that the requests go to, in turn
HOME = "us"  # whose people the model counts, and where these live
KEPT = 3  # one sheet of so many is kept out of the build
MOST_NEEDLESS, LEAST_NEEDED = 0.1, 0.6  # of the facts told; of the facts needed
RELEVANT = Strategy(name="all relevant", telling="relevant")
# As the presets are shipped: for whom limits are kept is theirs.
YES = [Strategy(name=f"{e}, yes to all", preset=e, answered=True, unset=True) for e in PRESETS]
BALANCED = YES[1], replace(YES[1], name="balanced, nobody answers", answered=False)
MONTHLY = (NOTHING, RELEVANT, *YES, BALANCED[1])
HEAD = "recipients, sent, facts told, not needed of these, told of those needed, "
HEAD += "had all been needed, in own words, not needed of these, told of those needed"
TITLE = "What a month of requests gives away"


class Ground(NamedTuple):
    """A model by one judge, and what another says: ``needs``: bool, shape (queries, attributes).

    ``judged``: bool, shape (queries,), the topics that the other judge looked at; ``phrasings``:
    of each what people ask; ``statements``: what they say of themselves; ``sheets``: some of both,
    judged pair by pair; ``profiles``: invented people, likewise.
    """

    model: Model
    needs: Table
    judged: Table
    phrasings: tuple[tuple[str, ...], ...]
    statements: tuple[StatementLine, ...]
    sheets: tuple[Sheet, ...]
    profiles: tuple[Sheet, ...]


class Tally(NamedTuple):
    """Facts after each of T requests, over all recipients; float64, shape (people, T) each.

    ``needed``: those of a person that some request to a recipient so far needs, once for each such
    recipient; ``told``: those that recipients hold; ``useful``: those that are both. The others are
    the same of facts in own words.
    """

    needed: Floats
    told: Floats
    useful: Floats
    needed_words: Floats
    told_words: Floats
    useful_words: Floats

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
    sheets = tuple(read_file(note.judged, partial(lines_of, kind=Sheet)))
    profiles = tuple(read_file(note.profiles, partial(lines_of, kind=Sheet)))
    phrasings = tuple(each.phrasings for each in topics)
    return Ground(model, *judges, phrasings, statements, sheets, profiles)


def parts_of(person: Person, recipients: int) -> list[Person]:
    """The person as each of so many recipients knows them, who are asked in turn."""
    requests, pause = person.requests, recipients * PAUSE
    return [
        person._replace(requests=requests[at::recipients], pause=pause) for at in range(recipients)
    ]


def apart(ground: Ground) -> tuple[tuple[Kept, ...], tuple[Kept, ...]]:
    """Sheets of facts and requests, each with the model as it would be had it not learnt from them.

    First a third of those from which the model learns which topics a fact helps with; then the
    profiles, one of which is kept out each time. The encoder saw the first, and not the second.
    """
    model, judge, profiles = ground.model, judging(ground.model)[1], ground.profiles
    rest = [each for at, each in enumerate(ground.sheets) if at % KEPT]
    texts = tuple(dict.fromkeys(each.text for sheet in rest for each in sheet.questions))
    signs = np.log(helping(statements(model).topics))
    by_text = dict(zip((each.text for each in ground.statements), signs, strict=True))
    with threadpool_limits(1):
        vectors = dict(zip(texts, request_vectors(texts), strict=True))
        fewer = replace(judge, bilinear=bilinear_of(rest, vectors, by_text))
        pairs = [pairs_of(model, judge, each) for each in profiles]
        weights = [pair_of([*pairs[:at], *pairs[at + 1 :]]) for at in range(len(pairs))]
    learnt = fewer, *(replace(judge, pair=each) for each in weights)
    first, *others = (replace(model, tables=replace(model.tables, relevance=e)) for e in learnt)
    return tuple((e, first) for e in ground.sheets[::KEPT]), (*zip(profiles, others, strict=True),)


def tallied(some: Sequence[Sender], traces: Sequence[Sequence[Trace]]) -> Tally:
    """Count what was told; ``traces``: of each person, by recipient."""
    steps = np.zeros((len(some), len(some[0].person.requests), len(Tally._fields)))
    for line, sender, by_recipient in zip(steps, some, traces, strict=True):
        has = np.array(sender.person.codes) != UNSPECIFIED
        for at, trace in enumerate(by_recipient):
            told, every = as_table(trace.disclosed, len(has)), slice(at, None, len(by_recipient))
            needed = np.logical_or.accumulate(sender.needs[every] & has)
            facts = needed, told, told & needed
            counts = [each.sum(axis=1) for each in facts]
            counts += [each[:, sender.words].sum(axis=1) for each in facts]
            line[every] = np.diff(np.stack(counts, 1), axis=0, prepend=0)
    return Tally(*np.moveaxis(steps.cumsum(axis=1), 2, 0))


def month(
    ground: Ground,
    options: StudyOptions,
    progress: Progress,
    strategies: Sequence[Strategy] = MONTHLY,
    sheets: Sequence[Kept] = (),
) -> MonthStudy:
    """Simulate people, by some strategies; one process, whatever the options say.

    ``sheets``: as of `senders`, by default the first of `apart`.
    """
    sheets, often = sheets or apart(ground)[0], ground.model.tables.query_weights * ground.judged
    people, traces = list[Sender](), defaultdict[tuple[int, Strategy], list[list[Trace]]](list)
    for sender in senders(ground.needs, often, sheets, options):
        people.append(sender)
        for strategy in strategies:
            choose = chooser(strategy, sender.model, own=sender.own)
            for many in RECIPIENTS:
                walks = [walk(choose, sender.model, e) for e in parts_of(sender.person, many)]
                traces[many, strategy].append(walks)
        progress("sending requests", len(people) / options.people)
    tallies = {
        many: {each: tallied(people, traces[many, each]) for each in strategies}
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
    return str(TEXTS["month"].format(study=study, written=WRITTEN))


def shares_of(tally: Tally, resamples: Resamples) -> Sequence[Interval | None]:
    """Of the facts told in the end, how many were not needed; of those needed, how many told.

    And how many as many facts could have told, had each been needed. Then the first two of facts in
    own words.
    """
    needed, told, useful, needed_words, told_words, useful_words = (each[:, -1] for each in tally)
    words = (told_words - useful_words, told_words), (useful_words, needed_words)
    pairs = (told - useful, told), (useful, needed), (np.minimum(told, needed), needed), *words
    return [resamples.ratio(*each) for each in pairs]


def month_criteria(study: MonthStudy) -> list[Criterion]:
    """Judge the preset balanced; the worse end of each interval counts."""
    judged = list[Criterion]()
    for many, tallies in study.tallies.items():
        for strategy in BALANCED:
            needless, told, *_ = shares_of(tallies[strategy], study.resamples)
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
            shares = [*map(_shown, shares_of(tally, study.resamples))]
            told, words = (f"{e[:, -1].mean():.1f}" for e in (tally.told, tally.told_words))
            rows.append((f"{many}", strategy.name, told, *shares[:3], words, *shares[3:]))
    return table(HEAD.split(", "), rows)
