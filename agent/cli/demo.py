"""`reticent demo`: eight requests of a fictional nurse, mother of two."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import NamedTuple

import click

from agent.cli.options import Output, answers
from agent.cli.printing import facts, paragraph, strong
from agent.decision.cache import Cache
from agent.decision.context import Context, Terms
from agent.decision.decide import counted_among, decide
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.own_facts import NONE, OwnFacts, extended, level_of
from agent.decision.values import Decision, Fact, Request
from agent.facts import Facts
from agent.model.file import read, shipped_models
from agent.model.model import Model
from agent.model.world import world_of
from agent.words.figures import counted, of_whom, people
from agent.words.titles import WHY_NOTHING, Titles, read_as
from agent.words.titles import facts as facts_of

Profile = Mapping[str, str]  # values of facts, by name
NAME = "Mara"
_STORY = tomllib.loads((files("agent.cli") / "demo.toml").read_text("utf-8"))
PROFILE: Profile = _STORY["profile"]
REQUESTS: tuple[tuple[str, str], ...] = tuple(map(tuple, _STORY["requests"]))  # recipient, query
WORDS: tuple[str, ...] = tuple(_STORY["words"])  # facts in her own words
FACTS = len(PROFILE) + len(WORDS)
SITE = "chat.example"  # is asked most, and gets facts in her own words, as an assistant does
TERMS = Terms(mode="planned")  # as every preset has it


class StoryEntry(NamedTuple):
    """One answer: the decision, the values or words that left, and who fits afterwards."""

    decision: Decision
    values: Mapping[str, str]
    people_left: int


class Story:
    """Requests, each decided in the light of those before it, and what each recipient holds."""

    def __init__(self, profile: Profile, world: Model, facts: Sequence[Fact] = ()) -> None:
        self.entries, self._cache = list[StoryEntry](), Cache()
        self._profile, self._own = profile, OwnFacts.of(facts, world)
        self.world = extended(world, self._own, (), self._cache)
        self._words = {each.id: each.words or "" for each in facts}
        self._levels = {each.id: each.value or level_of(each) for each in facts}
        self._sent = defaultdict[str, dict[str, str]](dict)  # values by name, by recipient
        self._facts = defaultdict[str, dict[str, str]](dict)  # ids of those in own words, likewise
        # How often each query carried something, by recipient.
        self._asked = defaultdict[str, defaultdict[int, float]](partial(defaultdict, float))

    def tell(self, requests: Iterable[tuple[str, str]], terms: Terms) -> "Story":
        """Decide about these requests; return the story itself."""
        available = replace(terms, available=frozenset(self._profile))
        for recipient, query in requests:
            request, knowledge = Request(query, recipient), self._knowledge(recipient)
            reading = self._cache.read(self.world, query)
            own = self._own if recipient == SITE else NONE
            about = request, available, knowledge, self.world
            decision = decide(Context(*about, reading=reading, cache=self._cache, own=own))
            # Only now, with the set fixed, is the profile read (DESIGN.md 2.6).
            facts = {n: e for n, e in decision.facts.items() if n in decision.disclosed}
            listed = [n for n in decision.disclosed if n not in facts or n in self._profile]
            levels = {name: self._levels[fact] for name, fact in facts.items()}
            self.give(recipient, levels | {name: self._profile[name] for name in listed})
            self._facts[recipient] |= facts
            words = {name: self._words[fact] for name, fact in facts.items()}
            sent = {**self._sent[recipient], **words}
            values = {name: sent[name] for name in decision.disclosed}
            if decision.disclosed:
                for each in reading.accepted:
                    self._asked[recipient][each.query] += each.probability
            self.entries.append(StoryEntry(decision, values, self.people_left(recipient)))
        return self

    def give(self, recipient: str, values: Profile) -> None:
        """Note what a recipient is sent."""
        self._sent[recipient] |= values

    def people_left(self, recipient: str) -> int:
        """Count the people who agree with all that a recipient holds."""
        return people_left(self._knowledge(recipient), self.world, self._cache)

    def _knowledge(self, recipient: str) -> Knowledge:
        attributes = {each.name: each for each in self.world.attributes}
        codes = {name: attributes[name].code(v) for name, v in self._sent[recipient].items()}
        asked = tuple(sorted(self._asked[recipient].items()))
        return Knowledge(queries=asked).with_facts(codes, tuple(self._facts[recipient].items()))

    def held(self, recipient: str) -> str:
        """All that a recipient holds, in words."""
        words = {name: self._words[fact] for name, fact in self._facts[recipient].items()}
        held = facts_of({**self._sent[recipient], **words}, self.world.titles)
        return "; ".join(held) or "nothing"


def request_text(number: int, entry: StoryEntry, titles: Titles) -> str:
    """Lay out what one request carried and how many people still look like her."""
    decision, again = entry.decision, entry.decision.again
    new = {name: value for name, value in entry.values.items() if name not in again}
    old = {name: entry.values[name] for name in again}
    lines = [("new", "; ".join(facts_of(new, titles)))] if new else []
    lines += [("read as", read_as(decision.read_as))]
    lines += [("again", "; ".join(facts_of(old, titles)))] if old else []
    if entry.values:
        what = counted(len(new), "fact") if new else "nothing new"
        verdict = f"Sent {what}; about {people(entry.people_left)} people still look like her."
    else:
        verdict = f"Sent nothing: {WHY_NOTHING[decision.code]}."
    title = f'{number}. {decision.request.recipient} is asked "{decision.request.query}"'
    return "\n".join([strong(title), paragraph(verdict, "  "), facts(lines)])


@click.command()
@answers
def demo() -> Output:
    """Watch eight requests of a fictional nurse, mother of two.

    They are decided with the models that come with reticent. Nothing is stored or sent.
    """
    world = world_of([*map(read, shipped_models())])
    story = Story(PROFILE, world, Facts.of(WORDS, world)).tell(REQUESTS, TERMS)
    world, recipients = story.world, [*dict.fromkeys(each for each, _ in REQUESTS)]
    begins = (
        f"{NAME}, a fictional nurse and mother of two, has told reticent {FACTS} facts about "
        f"herself. She asks {len(REQUESTS)} things of {len(recipients)} sites. With each, reticent "
        "sends the few facts that help, and keeps her one of many who look like her, among "
        f"about {of_whom(round(world.people), counted_among(world))}."
    )
    everything = Story(PROFILE, world)
    everything.give(NAME, PROFILE)
    whole = everything.people_left(NAME)
    fits = f"about {people(whole)} would" if whole > 1 else "perhaps nobody else would"
    ends = (
        f"In the end {NAME} was served better, and about {people(story.people_left(SITE))} "
        f"people still look like her to {SITE}. Had she sent all {FACTS} facts, {fits} have looked "
        "like her: each site could have recognised her."
    )
    held = ((each, story.held(each)) for each in recipients)
    parts = [
        paragraph(begins),
        *(request_text(n, each, world.titles) for n, each in enumerate(story.entries, 1)),
        f"{strong('What each recipient holds in the end')}\n{facts(held)}",
        paragraph(ends),
    ]
    requests = [
        {
            "recipient": each.decision.request.recipient,
            "query": each.decision.request.query,
            "model": world.id,
            "disclosed": each.values,
            "utility_bits": each.decision.figures.utility,
            "people_left": each.people_left,
        }
        for each in story.entries
    ]
    return Output({"requests": requests}, "\n\n".join(parts))
