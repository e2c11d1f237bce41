"""Families of topics and facts, and what reveals a fact, as the everyday model's data have them."""

import gzip
import json
import tomllib
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.file import SHIPPED, read, shipped_model
from agent.model.world import world_of
from agent.vault.profile import planned
from policy.families import (
    ASKED_ONCE,
    TopicProbabilities,
    families,
    headings,
    impossible,
    other_words,
    told_by,
    use_of,
)
from policy.hosts import ASSISTANT, ENGINE, KINDS, OTHER
from policy.match import Rulebook, known, may
from policy.read import near, preset, with_typo_guard
from policy.read import read as read_policy
from policy.rules import NamePattern, topic_pattern
from policy.sections import PRESETS
from tests.house.tree import ROOT
from tests.policy.strategies import NO_PRESET, TODAY
from tests.worlds.people import MONDAY

DATA = ROOT / "examples/data/everyday"
DEBT = frozenset({"debt payoff", "getting out of debt"})
KIND_OF = {host: kind for kind, host in KINDS.items()} | {
    **dict.fromkeys(("poe.com", "gemini.google.com"), ASSISTANT),
    **dict.fromkeys(("www.google.de", "bing.com"), ENGINE),
    **dict.fromkeys(("shop.example", "microsoft.com", "192.0.2.7"), OTHER),
}
RECIPIENTS = """
groups.mine = ["one.example", "two.example"]
rule = [
  { recipient = "mine", engine = "searxng" },
  { recipient = "a.two.example", address = "https://a.two.example", assistant = true },
  { recipient = "off.example", address = "https://off.example", assistant = false },
  { recipient = "claude.ai", search = "https://claude.ai/find?q={query}" },
  { recipient = "search.poe.com", search = "https://search.poe.com/?q={query}" },
]
"""
KIND_BY_RULE = {
    **dict.fromkeys(("one.example", "b.two.example", "search.poe.com"), ENGINE),
    "a.two.example": ASSISTANT,
    "claude.ai": ASSISTANT,
    "off.example": OTHER,
}
LOANS = frozenset({"personal loan", "taking out a loan"})
BOTH = {DEBT: 0.06, LOANS: 0.06}


def _rows(name: str) -> Iterator[Any]:
    path = DATA / name
    data = path.read_bytes()
    lines = gzip.decompress(data) if path.suffix == ".gz" else data
    yield from map(json.loads, lines.splitlines())


def test_what_nobody_has_is_refused_whichever_is_set() -> None:
    """Of the 145,257 people of a survey two at most have a pair, by a slip."""
    model = read(shipped_model("everyday"))
    columns = model.attributes[: len(model.population.columns)]
    having = {
        (each.name, value): model.population.columns[at] == each.code(value)
        for at, each in enumerate(columns)
        for value in each.values
    }
    pairs = [(one, (n, v)) for one in having for n, vs in impossible(*one).items() for v in vs]
    assert {(other, one) for one, other in pairs} == {*pairs} != set()
    for one, other in pairs:
        assert (having[one] & having[other]).sum() <= 2
        with pytest.raises(UsageError, match="cannot both be right"):
            planned((), dict([one, other]), (), [model], MONDAY, str)


def test_what_belongs_to_a_family_exists() -> None:
    """Topics of the everyday model, before twins are merged; kinds, and attributes of models."""
    topics = {each["id"] for each in _rows("topics.jsonl.gz")}
    kinds = {each["id"] for each in _rows("kinds.jsonl.gz")}
    shipped = {each.name for name in SHIPPED for each in read(shipped_model(name)).attributes}
    spoken = {each.replace("_", " ") for each in topics}
    assert {use_of(each) for each in topics} == {"search", "shopping", "work"}
    assert use_of("buying shoes") == use_of("buying_shoes") == "shopping"
    for family in families().values():
        assert family <= spoken | kinds | shipped
        assert family & spoken
        assert family & kinds


def test_every_fact_has_a_heading() -> None:
    """Of all that the shipped models know, and the language; and nothing else has."""
    world = world_of([read(shipped_model(name)) for name in SHIPPED])
    names = {each.name for each in world.attributes[: world.persons] if not each.further}
    assert headings().keys() == {*names, "language"}
    assert near(NamePattern("kids"), [*names]) == "children"
    words = other_words()  # for facts, and none a fact's own name
    assert {*words.values()} <= names
    assert names.isdisjoint(words)
    assert [*dict.fromkeys(headings().values())][:3] == [
        "About you",
        "Family and friends",
        "Health",
    ]


NEARLY = tomllib.loads((ROOT / "policy/families.toml").read_text())["revealed_by"]


def test_what_nearly_tells_a_fact_is_what_the_judges_say() -> None:
    """Level 3, and no other; beside them stand facts that they were not asked about."""
    nearly = {
        each["kind"]: [name for name, level in each["revealed_by"].items() if level == 3]
        for each in _rows("reveals.jsonl")
    }
    for name, others in nearly.items():
        assert [each for each in NEARLY.get(name, ()) if each in nearly] == others


FACTS = ("a", "b", "c", "medication", "chronic_condition", "sex", "body")
EDGES = st.dictionaries(st.sampled_from(FACTS), st.sets(st.sampled_from(FACTS), max_size=2))


@given(EDGES)
def test_a_fact_tells_what_a_chain_leads_to_with_one_guess_in_it(
    follows: dict[str, set[str]],
) -> None:
    """Found by trying every chain, of what follows and, once, of what is nearly told."""
    names = {each: {each, f"{each}_2"} for each in FACTS}
    for fact in names:
        chains = {(fact, False)}
        for _ in range(2 * len(names)):
            chains |= {(each, guessed) for at, guessed in chains for each in follows.get(at, ())}
            certain = {at for at, guessed in chains if not guessed}
            chains |= {(each, True) for each in names if certain.intersection(NEARLY.get(each, ()))}
        assert {*told_by(names, follows)[fact]} == {at for at, _ in chains} - {fact}


@pytest.mark.parametrize(
    ("rule", "topics", "holds"),
    [
        ('topic = "money"\nnothing = true', {DEBT: 0.06}, False),
        ('topic = "money"\nnothing = true', BOTH, True),  # 0.12 together
        ('topic = "debt_payoff"\nnothing = true', BOTH, False),
        ('topic = ["Debt payoff", "taking out a LOAN"]\nnothing = true', BOTH, True),
        ('topic = "money"\nnothing = false', BOTH, False),
        ('topic = "money"\nnothing = false', {DEBT: 0.5}, True),
        ('topic = "money"\nquery = "loan"\nnothing = true', BOTH, True),
        ('topic = "money"\nquery = "house"\nnothing = true', BOTH, False),
        ('topic = "health"\nnothing = true', BOTH, False),
        ('topic = "health"\nnothing = true', {}, False),
    ],
)
def test_a_rule_holds_where_its_topics_are_probable_enough(
    rule: str, topics: TopicProbabilities, *, holds: bool
) -> None:
    """Together, each counted once; less probable where it withholds something."""
    policy = read_policy(f"[[rule]]\n{rule}\n", "test", preset)
    ruling = Rulebook(policy, {}).match("a.example", "a loan", TODAY, topics)
    assert (ruling.settings["nothing"].rule is policy.rules[-1]) == holds


@pytest.mark.parametrize("preset_name", PRESETS)
def test_a_preset_asks_about_each_family_until_a_rule_settles_it(preset_name: str) -> None:
    """For a kind of recipient, whatever the word; a fact that the file asks about is not open."""
    names = ("medication", "allergies", "debt", "religion", "orientation", "legal", "hobbies")
    text = f'preset = "{preset_name}"\nattributes.allergies = "ask"\n'
    for word in ("auto", "never", "ask"):
        rule = f'[[rule]]\nrecipient = "{OTHER}"\nattribute = "@health"\ndisclose = "{word}"\n'
        book = Rulebook(read_policy(text + rule, "test", preset), known(*names))
        for host, kind in KIND_OF.items():
            ruling = book.match(host, "", TODAY)
            assert ruling.open_families(names) == [*ASKED_ONCE][kind == OTHER :]
            assert ruling.open_families(["allergies", "hobbies", "gone"]) == []
            assert may(ruling.attributes["medication"]) == (word if kind == OTHER else "ask")


def test_what_a_recipient_is_follows_from_what_names_it_most_exactly() -> None:
    """The rules of the file, then what ships."""
    policy = read_policy(RECIPIENTS, "test", preset)
    for host, kind in (KIND_OF | KIND_BY_RULE).items():
        assert Rulebook(policy, {}).match(host, "", TODAY).kind == kind


def test_a_topic_that_is_nearly_named_is_withheld_from() -> None:
    """Until the file is corrected; what would only allow something has no effect."""
    names = [*families(), *sorted(chain(DEBT, LOANS))]
    for wrong, verb, holds in (
        *(("Moneyy", "nothing = true", True), ("get out of debt", "nothing = true", True)),
        *(("moneyy", "mode = 'standing'", False), ("bees", "nothing = true", False)),
    ):
        policy = read_policy(f'{NO_PRESET}[[rule]]\ntopic = "{wrong}"\n{verb}\n', "test", preset)
        book = Rulebook(with_typo_guard(policy, [], names), {})
        ruled = book.match("a.example", "", TODAY, {DEBT: 1.0}).settings
        assert (ruled["nothing"].value is True) == holds
        assert ruled["mode"].value == "dynamic"


def test_no_topic_and_no_fact_of_the_models_is_called_like_a_family() -> None:
    """A rule that names one would mean both."""
    topics = {each["id"] for each in _rows("topics.jsonl.gz")}
    assert not topics & families().keys()
    assert {topic_pattern(each).rank for each in topics} == {topic_pattern("topic").rank}
    assert NamePattern.parse("@religion").text == "@religion"
