"""Single facts of what people write, and of what assistants remember of them."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.facts import statements_of
from agent.facts.splitting import LONGEST, MOST
from agent.facts.values import with_year

# Facts that stay whole, and are recognised as such behind a comma, "and", or a full stop.
CLAUSES = (
    *("I'm 41", "live in Ohio", "work part-time", "have two kids aged 5 and 9", "I rent a flat"),
    *("my wife is vegan", "I like tea, rice (and beans)", "am allergic to nuts", "married"),
)
ANY = st.text(st.characters(), max_size=200)
PIECES = (
    *(*CLAUSES, "My son is 7", "He is tall", "Bo is old", "Pets", "a b c d e f", "[2024-05-01]"),
    *('"', "[", "]", "{", "}", "1. ", "- ", "# ", "**", "\n", ": ", ", ", ". ", " and "),
)
MARKUP = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


MEMORIES = {  # as assistants show or export them
    # ChatGPT: a fact a line, in the third person or without a subject; or numbered and dated
    "User is a nurse in Leeds.\nHas two kids, works nights.\nPrefers short answers.": (
        *("User is a nurse in Leeds", "Has two kids", "works nights", "Prefers short answers"),
    ),
    "1. [2024-05-01]. The user's son is 7.\n\n2. [2025-05-01]. User has kids, Mia (6), Leo (3).": (
        *("The user's son is 7 (in 2024)", "User has kids, Mia (6), Leo (3) (in 2025)"),
    ),
    # Claude: dates and categories, in a block of code
    "```\n## Instructions\n[unknown] - Use metric units.\n\n## Dislikes\n- olives\n```": (
        *("Use metric units", "Dislikes: olives"),
    ),
    "**Work**\n\nAnna Li runs a bakery. She has a cat, lives in Leeds.\n\nAnna, 34, is vegan.": (
        *("User runs a bakery", "User has a cat", "lives in Leeds", "User is 34", "is vegan"),
    ),
    "Bo has a wife. She is tall. She is a nurse. Her mum is old. She rows.": (
        *("User has a wife. She is tall", "User is a nurse", "User's mum is old. She rows"),
    ),
    # Gemini and Copilot
    "* My dog is called Bo.\n* You prefer tea": ("My dog is called Bo", "You prefer tea"),
    "Allergies: nuts, cats\nHome: Austin, Texas": (
        *("Allergies: nuts", "Allergies: cats", "Home: Austin, Texas"),
    ),
    # JSON: arrays, objects, a line each
    json.dumps(["I ski", "I have a cat and a son"]): ("I ski", "I have a cat", "a son"),
    json.dumps({"memories": [{"id": "x1", "content": "Is 31", "saved": "2024-01-03"}]}): (
        "Is 31 (in 2024)",
    ),
    json.dumps({"age": 41, "sons": 1, "pets": ["dog", "cat"], "diet": {"vegan": True}}): (
        *("age: 41", "sons: 1", "pets: dog", "pets: cat", "diet vegan: yes"),
    ),
    '{"fact": "I ski"}\n{"fact": "I row"}': ("I ski", "I row"),
}


@pytest.mark.parametrize("memory", MEMORIES)
def test_memories_of_assistants(memory: str) -> None:
    assert statements_of(memory) == MEMORIES[memory]


def test_one_fact_stays_one() -> None:
    for fact in (
        "My wife is vegan and works as a nurse",  # which the user does not
        *("When I travel, I prefer trains", "I like sushi, ramen and tacos"),
        *("I want to lose weight and sleep better", "Her mother, 73, moved in with them"),
        "My son is 7. He loves Lego",
        *("My sister and I take turns with our father", "Anna is my aunt. She is tall"),
        *("My sister is a nurse living in Leeds", "I have a brother with two kids"),
        *("I keep my books in QuickBooks and hate it", "I was born in St. Louis"),
        "I have a dog (a corgi, three years old) that barks",
    ):
        assert statements_of(fact) == (fact,)
    assert statements_of("I'm allergic to nuts, cats and latex.") == (
        *("I'm allergic to nuts", "I'm allergic to cats", "I'm allergic to latex"),
    )
    for text in (  # with a bar before each fact but the first
        "I live in Columbus, Ohio |with two kids aged 5 and 9",
        "on warfarin, |size 10",
        "34 y/o male, |nurse",
        "My name is Bo |and I live in Ohio",
        "I own a Kia |and bike to work",
        "I'm Bo, |41, |a nurse |living in Ohio",
        "Married |with no kids, |homeowner, |left-handed",
    ):
        facts = (re.sub(r"^(?:and|with) |,? $", "", each) for each in text.split("|"))
        assert statements_of(text.replace("|", "")) == (*facts,)


@given(st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=6, unique=True), st.data())
def test_no_word_is_lost_but_what_joins(clauses: list[str], data: st.DataObject) -> None:
    """However facts are joined, each word stands in one of them, in order."""
    joints = st.sampled_from([", ", " and ", ", and ", ". ", "\n- ", "; "])
    text = f"- {clauses[0]}" + "".join(data.draw(joints) + each for each in clauses[1:])
    words = [each for each in " ".join(clauses).replace(",", " ").split() if each != "and"]
    split = " ".join(statements_of(text)).replace(",", " ").replace(".", " ").replace(";", " ")
    assert [each for each in split.split() if each not in {"and", "-"}] == words


@given(ANY | MARKUP | MARKUP.map(json.dumps) | st.lists(MARKUP).map(json.dumps))
@settings(max_examples=300)
def test_facts_of_facts_are_these(text: str) -> None:
    """No text raises, lone surrogates and control characters among them."""
    facts = statements_of(text)
    assert statements_of("\n".join(facts)) == facts
    assert all(any(map(str.isalnum, each)) and len(each) <= LONGEST for each in facts)
    assert len({*facts}) == len(facts) <= MOST
    assert all(each.isprintable() and each.encode() for each in facts)


def test_a_megabyte_is_read() -> None:
    for part in ("a", "I am a and ", "1, ", "a. "):
        assert len(statements_of(part * (10**6 // len(part)))) <= 4
    lines = "".join(f"I like tea number {each}\n" for each in range(MOST + 9))
    assert len(statements_of(lines)) == MOST


def test_an_age_says_of_which_year_it_is() -> None:
    for text in (
        *("I am 41 (in 2026)", "my son is 7 (in 2026) and likes Lego", "size is 9"),
        *("I'm a 41-year-old guy (in 2026).", "two daughters, 4 and seven (in 2026)"),
        *("I've been vegan for ten years (in 2026)", "I drive 45 minutes", "born in 1988"),
    ):
        assert with_year(text.replace(" (in 2026)", ""), 2026) == text
        assert {with_year(text, each) for each in (2027, None)} == {text}
