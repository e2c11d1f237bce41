"""The demo's story, told on the small model, and its facts on the shipped ones."""

from collections import Counter
from typing import Any

import pytest

from agent.cli.demo import PROFILE, REQUESTS, TERMS, WORDS, Story
from agent.decision.context import Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.facts import Facts
from agent.model.file import read, shipped_models
from agent.model.world import world_of
from policy.settings import Mode
from tests.cli.conftest import Run
from tests.cli.examples import cli_model
from tests.decision.made import decide

VILLAGER = {"region": "hills", "shoe_size": "s7"}  # neither hobby nor at_work is set
ASKED = [("a.example", "music"), ("b.example", "weather"), ("a.example", "weather")]
MODEL = cli_model()


def villager(terms: Terms, profile: Any = VILLAGER) -> Story:  # noqa: ANN401  (a mapping that watches)
    """Tell what the villager asks."""
    return Story(profile, MODEL).tell(ASKED, terms)


@pytest.fixture(scope="module")
def shipped() -> Story:
    world = world_of([*map(read, shipped_models())])
    return Story(PROFILE, world, Facts.of(WORDS, world)).tell(REQUESTS, TERMS)


def test_each_request_is_decided_from_what_its_recipient_holds() -> None:
    """That of another plays no part; without memory each is the first; a plan counts queries."""
    cases: list[tuple[Mode, bool]] = [("dynamic", False), ("dynamic", True), ("planned", False)]
    for mode, forgets in cases:
        terms = Terms(trade_off=1, memory="forgets" if forgets else "remembers", mode=mode)
        told = villager(terms)
        held: dict[str, dict[str, int]] = {"a.example": {}, "b.example": {}}
        queries: dict[str, Counter[int]] = {each: Counter() for each in held}
        for (recipient, query), entry in zip(ASKED, told.entries, strict=True):
            codes, times = sorted(held[recipient].items()), sorted(queries[recipient].items())
            before = Knowledge() if forgets else Knowledge(tuple(codes), queries=tuple(times))
            available = Terms(trade_off=1, available=frozenset(VILLAGER), mode=mode)
            first = decide(Request(query, recipient), available, before, MODEL)
            assert entry.decision.disclosed == first.disclosed
            assert entry.decision.figures == first.figures
            if first.disclosed:
                queries[recipient][MODEL.texts.find(query) or 0] += 1
            for name, value in entry.values.items():
                held[recipient][name] = MODEL.attributes[MODEL.index(name)].code(value)
        assert held["a.example"] == {"region": 2}
        assert told.held("a.example") == "Region: hills"
        assert told.held("c.example") == "nothing"
        assert told.people_left("a.example") == told.entries[-1].people_left == 20


def test_the_story_is_told_in_words_of_the_shipped_models(shipped: Story) -> None:
    """Eight requests to five recipients: one of them needs nothing personal, and gets nothing."""
    for name, value in PROFILE.items():
        assert shipped.world.attributes[shipped.world.index(name)].code(value) > 0
    assert all(each.decision.read_as for each in shipped.entries)
    silent = [each.decision.request.query for each in shipped.entries if not each.values]
    assert silent == ["what does ubiquitous mean"]
    assert {"diet", "allergies"} <= shipped.entries[0].values.keys()


def test_the_demo_shows_every_request(run: Run, shipped: Story) -> None:
    """The verdicts, in 80 columns of ASCII; and the same for programs."""
    ran = run("demo")
    assert (ran.code, ran.err) == (0, "")
    for number, (recipient, query) in enumerate(REQUESTS, 1):
        assert f'{number}. {recipient} is asked "{query}"' in ran.out
    for word in ("new", "again", "read as"):
        assert f"\n  {word} " in ran.out
    assert ran.out.isascii()
    assert max(map(len, ran.out.splitlines())) <= 80
    requests = run("demo", "--json").record["requests"]
    lived = shipped.entries
    assert [(each["recipient"], each["query"]) for each in requests] == [*REQUESTS]
    assert [each["disclosed"] for each in requests] == [each.values for each in lived]
    assert [each["people_left"] for each in requests] == [each.people_left for each in lived]
