"""A model of topics: what judges say helps, in place of what people clicked (DESIGN.md 2.11)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from agent.build.canonical import arranged
from agent.build.engines import reading
from agent.build.kinds import lines_of, read_file
from agent.build.observe import users_by_attributes
from agent.build.options import BuildOptions, TopicsNote
from agent.build.tables import Source, clean
from agent.errors import UsageError
from agent.model.attributes import Attribute, Query, kind_names
from agent.model.model import Model
from agent.model.tables import NO_ROWS, Tables, no_singles
from agent.tradeoff.agreement import pair_people
from agent.tradeoff.coverage import GRADES, Judged
from agent.tradeoff.tables import Floats, read_only

HELPED = 0.5  # bits; where the best answers differ by more, something personal helps
CLEARLY = 2  # the grade of "clearly better", above which "decisive" is
Judgement = Mapping[str, Annotated[int, Meta(ge=1, lt=len(GRADES))]]  # the grade of each kind
Bits = Annotated[float, Meta(ge=0, le=10)]


class Texts(NamedTuple):
    """What texts mean: the phrasings of each query, and of what is none of them by intent.

    ``phrasings``: a tuple for each query, in order, without repeats; ``background``: pairs of
    intent and text, in order. ``helped``: whether anything personal helps a text, for those whose
    table says it.
    """

    phrasings: tuple[tuple[str, ...], ...]
    background: tuple[tuple[str, str], ...]
    helped: Mapping[str, bool] = MappingProxyType({})

    def every(self, titles: Sequence[str]) -> tuple[str, ...]:
        """All texts: the titles of the queries, then the phrasings, then the background."""
        phrasings = chain.from_iterable(self.phrasings)
        return (*titles, *phrasings, *(text for _, text in self.background))


class TopicLine(Struct, frozen=True):
    """A topic, with what judges say of it, some of them twice; and texts that ask for it."""

    id: str
    title: str
    bits: Bits
    relevance: Judgement
    phrasings: tuple[str, ...]
    second: Judgement | None = None
    second_bits: Bits | None = None

    @property
    def judgements(self) -> tuple[tuple[float, Judgement], ...]:
        """The bits and the grades of each judge."""
        first = self.bits, self.relevance
        return (first,) if self.second is None else (first, (self.second_bits or 0.0, self.second))


class IdleLine(Struct, frozen=True):
    """A text that nothing personal helps, and of which kind it is."""

    text: str
    kind: str


class Topic(NamedTuple):
    """A topic with its twins: its own name, and what is said of all of them."""

    id: str
    title: str
    judgements: tuple[tuple[float, Judgement], ...]
    phrasings: tuple[str, ...]

    @property
    def bits(self) -> float:
        """On average; 0 where no kind was judged to help."""
        bits = [each for each, _ in self.judgements]
        return float(np.mean(bits)) if any(grades for _, grades in self.judgements) else 0.0


def read_topics(note: TopicsNote) -> tuple[list[Topic], Floats]:
    """Read the topics, twins merged, and how surely what got each of GRADES matters.

    That is how often a second judge called the same at least clearly better. UsageError for files
    that do not fit.
    """
    lines = read_file(note.file, partial(lines_of, kind=TopicLine))
    alike = {each.id: [each] for each in lines if each.id not in note.merge}
    for each in (each for each in lines if each.id in note.merge):
        alike.get(note.merge[each.id], []).append(each)
    known = {*alike, *(each.id for some in alike.values() for each in some)}
    for unknown in (*note.merge, *note.merge.values()):
        if unknown not in known:
            raise UsageError.unknown("topic of the file", unknown, alike)
    topics = []
    for name, some in alike.items():
        texts = {*chain.from_iterable(each.phrasings for each in some)}
        judgements = chain.from_iterable(each.judgements for each in some)
        topics.append(Topic(name, some[0].title, tuple(judgements), tuple(sorted(texts))))
    again, every = np.zeros(len(GRADES)), np.full(len(GRADES), 1e-9)
    twice = ((each.relevance, each.second) for each in lines if each.second is not None)
    for first, second in twice:
        for kind, grade in first.items():
            every[grade] += 1
            again[grade] += second.get(kind, 0) >= CLEARLY
    return topics, again / every


def judged_of(
    topics: Sequence[Topic], reliability: Floats, attributes: Sequence[Attribute]
) -> Judged:
    """What was judged to help with each topic; UsageError for a kind that no attribute is of.

    ``reliability``: as `read_topics` gives it. Where one judge alone looked at a topic, how likely
    a kind is clearly better is how likely a second one would say so.
    """
    place = {name: at for at, name in enumerate(kind_names(attributes))}
    weights, likely = np.zeros((2, len(topics), len(place)))
    for line, topic in enumerate(topics):
        judges = len(topic.judgements)
        for kind, grade in chain.from_iterable(each.items() for _, each in topic.judgements):
            if kind not in place:
                raise UsageError.unknown("kind", kind, place)
            weights[line, place[kind]] += GRADES[grade] * reliability[grade] / judges
            likely[line, place[kind]] += reliability[grade] if judges == 1 else grade >= CLEARLY
        likely[line] /= judges
    own = [place[each.shared or each.name] for each in attributes if each.scope == "person"]
    arrays = (weights[:, own], weights.sum(axis=1), likely[:, own])
    return Judged(*(read_only(each.astype(np.float32)) for each in arrays))


def topics_model(source: Source, note: TopicsNote, options: BuildOptions) -> tuple[Model, Texts]:
    """Build a model of a table's people and of topics, and find the texts by which it will read.

    It has no costs yet. UsageError for files of topics that do not fit; other errors as
    `users_by_attributes`.
    """
    topics, reliability = read_topics(note)
    idle = read_file(note.idle, partial(lines_of, kind=IdleLine))
    with reading(source.users.get_backend()):
        users, attributes = users_by_attributes(clean(source), options)
    people, described = arranged(users.codes, (), users.weights), options.description
    population = people.population
    if users.donors is not None:
        donors = read_only(users.donors[:, np.argsort(people.place)])
        population = replace(population, donors=donors)
    if population.weights is not None:
        cards = [len(each.values) for each in attributes]
        population = replace(population, pairs=pair_people(population, cards))
    model = Model(
        id=options.id,
        source=described.source,
        licence=described.licence,
        stands_for=described.stands_for,
        estimator="judged",
        attributes=attributes,
        queries=tuple(Query(each.id, title=each.title, bits=each.bits) for each in topics),
        tables=Tables(
            population=population,
            rows=NO_ROWS,
            query_weights=read_only(np.ones(len(topics))),
            singles=no_singles(len(attributes)),
            judged=judged_of(topics, reliability, attributes),
        ),
        options={"half": options.half, **users.marks},
        donors=users.blocks,
        kinds=users.kinds,
    )
    helped = {each.text: False for each in idle}
    for topic in topics:
        helped |= {text: helped.get(text, False) or topic.bits > HELPED for text in topic.phrasings}
    background = tuple(sorted({(each.kind, each.text) for each in idle}))
    return model, Texts(tuple(each.phrasings for each in topics), background, helped)
