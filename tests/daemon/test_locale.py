"""Language and country in an address: by the rules alone, not charged, and of no other effect."""

import asyncio
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.daemon.drafts import draft
from agent.daemon.handle import handle
from agent.daemon.locale import NAMES
from agent.daemon.profile import change_profile
from agent.daemon.records import recipients
from agent.daemon.what_if import explain, whatif
from agent.wire.decide import Answer, Ask, WhatIf
from agent.wire.policy import Word
from agent.wire.state import ProfileChange
from agent.words.decisions import headline, lines
from policy.services import codes, engines
from tests.worlds.homes import Calls
from tests.worlds.people import MONDAY, OPEN, PEOPLE, SECOND, SHOP, MemoryVault, living

DUCK = "duckduckgo.com"
SEARCH = Ask(query="knee pain", recipient=DUCK)  # which no model knows
RULE = """
[[rule]]
recipient = "duckduckgo.com"
search = "https://duckduckgo.com/?q={query}"
carry = "parameters"
"""
BOTH = {"language": "de", "country": "at"}
POOLED = '[groups]\nboth = ["shop.example", "duckduckgo.com"]\n'
VALUES = {name: st.sampled_from(["unspecified", *codes(name)]) for name in NAMES}
SET = st.sets(st.sampled_from(NAMES))
RULED = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(["never", "ask", "auto", "always"]) for name in NAMES}
)
ENGINES = st.sampled_from([*engines()])


def set_(agent: Agent, values: dict[str, str]) -> None:
    if values:
        change_profile(ProfileChange(set=values), MONDAY, agent)


def searching(policy: str = RULE, values: dict[str, str] = BOTH) -> tuple[Agent, MemoryVault]:
    agent, vault = living(policy)
    set_(agent, values)
    return agent, vault


def seen(answer: Answer) -> object:
    """Return what of an answer is the same for everybody who sets the same names."""
    summary = answer.summary
    told = sorted((*answer.attributes, *answer.unspecified))
    return summary and (answer.code, told, summary.because, summary.pending)


@given(ENGINES, RULED, SET, st.none() | st.integers(0, 2), st.fixed_dictionaries(VALUES))
def test_what_is_told_follows_from_the_rules(
    engine: str, ruled: dict[str, str], names: set[str], most: int | None, values: dict[str, str]
) -> None:
    """It is the same whatever the values are; and the parameters say it, and nothing else."""
    text = RULE + f'engine = "{engine}"\n'
    text += "" if most is None else f"attributes_per_request = {most}\n"
    text += "[attributes]\n" + "".join(f'{name} = "{each}"\n' for name, each in ruled.items())
    agent, vault = searching(text, {name: values[name] for name in names})
    answer = handle(SEARCH, MONDAY, agent)
    other, _ = searching(text, {name: BOTH[name] for name in names})
    assert seen(answer) == seen(handle(SEARCH, MONDAY, other))
    allowed = {name for name in names if ruled.get(name) in (None, "auto", "always")}
    told = engines()[engine].needs(allowed)
    told = frozenset() if most is not None and len(told) > most else told
    assert {*answer.attributes, *answer.unspecified} == told
    assert answer.parameters == engines()[engine].address({name: values[name] for name in told})
    assert (answer.header, answer.words) == ("", "")
    entries = [dict(each.disclosed) for each in vault.disclosures]
    assert entries == ([{name: values[name] for name in told}] if told else [])
    assert (answer.id is None) == (not told)


def test_an_engine_that_is_not_known_gets_nothing() -> None:
    """Its rule has to say which one it is."""
    text = RULE.replace(DUCK, "search.example")
    ask = Ask(query="x", recipient="search.example")
    for more, sent in (("", {}), ('engine = "searxng"\n', {"language": "de"})):
        agent, vault = searching(text + more)
        assert handle(ask, MONDAY, agent).parameters == sent
        assert len(vault.disclosures) == bool(sent)


def test_a_pair_that_is_not_documented_counts_as_told() -> None:
    """Its absence says that it is one of those."""
    agent, _ = searching(values={"language": "ja", "country": "at"})
    answer = handle(SEARCH, MONDAY, agent)
    assert (answer.parameters, answer.attributes) == ({}, {})
    assert answer.unspecified == [*NAMES]
    assert recipients(MONDAY, agent, recipient=DUCK)[0].values == {
        "language": "ja",
        "country": "at",
    }


def test_what_waits_leaves_after_the_users_word() -> None:
    """Then the recipient has it, and is not asked about again."""
    agent, _ = searching(RULE + '[attributes]\nlanguage = "ask"\n')
    calls = Calls(agent, lambda: MONDAY)
    answer = calls.decide(SEARCH)
    assert answer.summary is not None
    assert (answer.parameters, answer.summary.pending) == ({}, ["language"])
    [review] = calls.reviews()
    calls.verdict(Word(disclose="auto", lasting="once"), id=review.id)
    assert calls.decide(SEARCH).parameters == {"kl": "at-de"}
    assert calls.decide(SEARCH).parameters == {"kl": "at-de"}
    assert calls.reviews() == []


@given(PEOPLE, st.sampled_from(["dynamic", "planned"]), st.integers(1, 3))
def test_nothing_else_is_decided_otherwise(row: int, mode: str, most: int) -> None:
    """In one pool, where new facts are few: by what is told, or that it is set."""
    text = f'{OPEN}mode = "{mode}"\nnew_facts_per_week = {most}\n{POOLED}{RULE}'
    plain, other = living(text, row)[0], living(text, row)[0]
    set_(other, BOTH)
    for step in range(4):
        now = MONDAY + step * timedelta(hours=1)
        assert handle(SEARCH, now, other).parameters
        assert handle(SEARCH, now, plain).id is None
        before, after = (handle(SHOP, now + SECOND, each) for each in (plain, other))
        assert (before.header, before.attributes) == (after.header, after.attributes)
        assert before.summary == after.summary
    held, then = (recipients(MONDAY, each, recipient=DUCK)[0] for each in (plain, other))
    assert (held.people_left, held.recent) == (then.people_left, then.recent)
    assert then.values == {**held.values, **BOTH}


def test_it_is_explain() -> None:
    """With no figure of a model that was not asked; there is nothing to weigh, or to draft."""
    agent, _ = searching(RULE + 'address = "https://duckduckgo.com/"\nassistant = true\n')
    found = explain(SEARCH, MONDAY, agent)
    assert headline(found).startswith("Send 2 facts (language and country); ")
    assert {each.reason for each in found.outcomes} == {"told anyway"}
    assert "objective" not in {each.label for each in lines(found)}
    weighed = asyncio.run(whatif(WhatIf(query=SEARCH.query, recipient=DUCK), MONDAY, agent))
    assert weighed.decision.code == "parameters only"
    assert draft(SEARCH, MONDAY, agent).code == "parameters only"
