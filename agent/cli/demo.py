"""`reticent demo`: eight requests of a fictional mother of two."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from typing import NamedTuple

import click

from agent.cli.options import Output, answers
from agent.cli.printing import facts, paragraph, strong
from agent.decision.cache import Cache
from agent.decision.context import Context, Terms
from agent.decision.decide import counted_among, decide
from agent.decision.knowledge import Holdings, Knowledge, knowledge_in, people_left
from agent.decision.values import Decision, Request
from agent.model.file import default_models, read
from agent.model.model import Concepts, Meaning, Model, meaning_of
from agent.model.world import world_of
from agent.words.figures import counted, of_whom, people
from agent.words.titles import WHY_NOTHING, read_as
from agent.words.titles import facts as facts_of

Profile = Mapping[str, str]  # values of facts
NAME = "Mara"
_STORY = tomllib.loads((files("agent.cli") / "demo.toml").read_text("utf-8"))
PROFILE: Mapping[str, Profile] = _STORY["profile"]  # by the id of a model
REQUESTS: tuple[tuple[str, str], ...] = tuple(map(tuple, _STORY["requests"]))  # recipient, query
FACTS = sum(map(len, PROFILE.values()))
RECIPIENTS = ("search.example", "jobs.example")  # who is asked most
TERMS = Terms(mode="planned")  # as every preset has it
NOW = datetime(2026, 1, 1, tzinfo=UTC)  # of all requests: no limit of hers goes by the week


class StoryEntry(NamedTuple):
    """One answer: the decision, the model's, the values that left, and who fits afterwards."""

    decision: Decision
    model: Model
    values: Mapping[str, str]
    people_left: int


class Story:
    """Requests, each decided in the light of those before it, and what each recipient holds."""

    def __init__(self, profile: Profile, model: Model) -> None:
        self.model, self.entries = model, list[StoryEntry]()
        self._profile, self._concepts, self._cache = profile, Concepts((model,)), Cache()
        self._holdings = defaultdict[str, Holdings[str]](partial(Holdings, self._concepts.replaces))

    def tell(self, requests: Iterable[tuple[str, str]], terms: Terms) -> "Story":
        """Decide about these requests; return the story itself."""
        for recipient, query in requests:
            model, own = self.model, self._profile
            reading, knowledge = self._cache.read(model, query), self._knowledge(recipient)
            available = replace(terms, available=frozenset(own))
            request = Request(query, recipient)
            decision = decide(Context(request, available, knowledge, model, cache=self._cache))
            # Only now, with the set fixed, is the profile read (DESIGN.md 2.6).
            values = {name: own[name] for name in decision.disclosed}
            self._give(recipient, values)
            if decision.disclosed:
                queries = [(model.queries[e.query].text, e.probability) for e in reading.accepted]
                self._holdings[recipient].add_query(recipient, queries)
            remaining = self.people_left(recipient)
            self.entries.append(StoryEntry(decision, model, values, remaining))
        return self

    def give_all(self, recipient: str) -> None:
        """Give a recipient the whole profile."""
        self._give(recipient, self._profile)

    def _give(self, recipient: str, values: Mapping[str, str]) -> None:
        """Note what values tell for good; those of a request pass."""
        persons = self.model.person_codes.keys()
        meanings = [meaning_of(n, value, self.model) for n, value in values.items() if n in persons]
        self._holdings[recipient].add_facts(NOW, recipient, meanings)

    def people_left(self, recipient: str) -> int:
        """Count the people who agree with all that a recipient holds."""
        return people_left(self._knowledge(recipient), self.model, self._cache)

    def _knowledge(self, recipient: str) -> Knowledge:
        at_hand = self._concepts, self._cache
        return knowledge_in(self._holdings[recipient], self.model, NOW, *at_hand, with_queries=True)

    def held(self, recipient: str) -> str:
        """All that a recipient holds, in words."""
        titles = {each.name: each.title for each in self._concepts.kinds.values()}
        knowledge = self._holdings[recipient].held.items()
        named = (self._concepts.label(Meaning(concept, each.value)) for concept, each in knowledge)
        return "; ".join(facts_of(dict(named), titles)) or "nothing"


def of_people(number: int, model: Model) -> str:
    """So many of the people that a model counts: an estimate where rows are a sample."""
    about = "" if model.population.weights is None else "about "
    return f"{about}{of_whom(number, counted_among(model))}"


def request_text(number: int, entry: StoryEntry) -> str:
    """Lay out what one request carried and how many people still look like her."""
    decision, again, model = entry.decision, entry.decision.again, entry.model
    titles = {each.name: each.title for each in model.attributes}
    new = {name: value for name, value in entry.values.items() if name not in again}
    if decision.code == "unknown query":
        lines, verdict = [], f"Sent nothing: {WHY_NOTHING['unknown query']}."
    else:
        what = counted(len(new), "fact") if new else "nothing new"
        verdict = f"Sent {what}; {of_people(entry.people_left, model)} still look like her."
        lines = [("new", "; ".join(facts_of(new, titles)))] if new else []
        lines += [("read as", read_as(decision.read_as))]
        old = {name: entry.values[name] for name in again}
        lines += [("again", "; ".join(facts_of(old, titles)))] if old else []
    title = f'{number}. {decision.request.recipient} is asked "{decision.request.query}"'
    return "\n".join([strong(title), paragraph(verdict, "  "), *([facts(lines)] if lines else [])])


def profile_in(world: Model) -> Profile:
    """Her facts by the names of a world; what several models know by the first."""
    return {
        world.attributes[place].name: PROFILE[member.model.id][each.name]
        for member in reversed(world.members)
        for each, place in zip(member.model.attributes, member.places, strict=True)
        if each.name in PROFILE[member.model.id]
    }


@click.command()
@answers
def demo() -> Output:
    """Watch eight requests of a fictional mother of two, who programs.

    They are decided with the two models that come with reticent. Nothing is stored or sent.
    """
    world = world_of([read(each) for each in default_models()])
    profile = profile_in(world)
    story = Story(profile, world).tell(REQUESTS, TERMS)
    begins = (
        f"{NAME}, a fictional mother of two who programs for a living, has told reticent {FACTS} "
        f"facts about herself. She asks {len(REQUESTS)} things of three sites. With each, reticent "
        "sends the few facts that help, and keeps her one of many who look like her, among "
        f"{of_people(round(world.people), world)}."
    )
    first_left, other_left = (of_people(story.people_left(each), world) for each in RECIPIENTS)
    everything = Story(profile, world)
    everything.give_all(NAME)
    whole = everything.people_left(NAME)
    fits = f"about {people(whole)} would" if whole > 1 else "perhaps nobody else would"
    ends = (
        f"In the end {NAME} was served better. {first_left[:1].upper()}{first_left[1:]} still look "
        f"like her to {RECIPIENTS[0]}, and {other_left} to {RECIPIENTS[1]}. Had she sent all "
        f"{FACTS} facts, {fits} have looked like her: each site could have recognised her."
    )
    knows = ((each, story.held(each)) for each in dict.fromkeys(each for each, _ in REQUESTS))
    parts = [
        paragraph(begins),
        *(request_text(n, each) for n, each in enumerate(story.entries, 1)),
        f"{strong('What each recipient knows in the end')}\n{facts(knows)}",
        paragraph(ends),
    ]
    requests = [
        {
            "recipient": each.decision.request.recipient,
            "query": each.decision.request.query,
            "model": each.model.id,
            "disclosed": each.values,
            "utility_bits": each.decision.figures.utility,
            "people_left": each.people_left,
        }
        for each in story.entries
    ]
    return Output({"requests": requests}, "\n\n".join(parts))
