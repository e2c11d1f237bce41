"""The header to a service: a parser of RFC 9651 reads what was sent, within the cap."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote_plus

import http_sf
import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.daemon.handle import handle
from agent.daemon.header import (
    LARGEST,
    MOST,
    SEPARATOR,
    Attributes,
    members_of,
    most_bytes,
    words_after,
)
from agent.daemon.what_if import explain
from agent.decision.values import NO_ROOM
from agent.model.attributes import UNSPECIFIED
from agent.wire.decide import Ask
from policy.services import LONGEST
from tests.decision.made import NAMES, WORDED
from tests.decision.transcripts import Rules, policies
from tests.worlds.people import MODEL, MONDAY, OPEN, PEOPLE, ROWS, SHOP, living

ATTRIBUTE_NAMES = st.from_regex(re.compile(r"[a-z][a-z0-9_]{0,9}"), fullmatch=True)
TEXTS = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["yes", "no", "a b", 'q"q', "b\\", "50%"]
)
YES_NO = st.just(("no", "yes"))
ATTRIBUTES = st.dictionaries(
    ATTRIBUTE_NAMES, YES_NO | st.lists(TEXTS, min_size=1, max_size=4, unique=True), max_size=6
)
ALWAYS = "[attributes]\n" + "".join(f'{name} = "always"\n' for name in NAMES)
LONG = replace(
    MODEL,
    id="long",
    attributes=tuple(
        replace(
            each,
            values=tuple(v if v == UNSPECIFIED else v.ljust(600, "x") for v in each.values),
            words={},
        )
        for each in MODEL.attributes
    ),
)


def read(header: str) -> dict[str, Any]:
    parsed = http_sf.parse(header.encode("ascii"), tltype="dictionary")
    assert isinstance(parsed, dict)
    assert all(isinstance(member, tuple) and not member[1] for member in parsed.values())
    return {name: member[0] for name, member in parsed.items()}  # type: ignore[index]  # checked above


def as_text(item: object) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    assert isinstance(item, str | http_sf.DisplayString)
    return str(item)


def drawn(attributes: Attributes, data: st.DataObject) -> dict[str, str]:
    return {name: data.draw(st.sampled_from([*values])) for name, values in attributes.items()}


def header_of(values: dict[str, str], attributes: Attributes) -> str:
    return SEPARATOR.join(members_of(attributes)[pair] for pair in values.items())


@given(ATTRIBUTES, st.data())
def test_what_is_read_is_what_was_sent(attributes: Attributes, data: st.DataObject) -> None:
    """Any value of any script, in the order of the values; Booleans for yes and no alone."""
    values = drawn(attributes, data)
    back = read(header_of(values, attributes))
    assert [(name, as_text(item)) for name, item in back.items()] == [*values.items()]
    for name, item in back.items():
        assert isinstance(item, bool) == ({*attributes[name]} == {"yes", "no"})
        plain = all(0x20 <= ord(sign) <= 0x7E for sign in values[name])
        assert isinstance(item, http_sf.DisplayString) == (not plain)


@given(ATTRIBUTES, st.data())
def test_the_most_bytes_are_exact(attributes: Attributes, data: st.DataObject) -> None:
    """No header is longer than what was counted on, and one is as long; a part needs no more."""
    longest = {
        name: max((len(text) for (own, _), text in members_of(attributes).items() if own == name))
        for name in attributes
    }
    some = {name: values for name, values in attributes.items() if data.draw(st.booleans())}
    bound = most_bytes(longest.values())
    assert len(header_of(drawn(attributes, data), attributes)) <= bound
    largest = {
        name: max(values, key=lambda each: len(members_of(attributes)[name, each]))
        for name, values in attributes.items()
    }
    assert len(header_of(largest, attributes)) == bound
    most = most_bytes(longest[name] for name in some)
    assert len(header_of(drawn(some, data), attributes)) <= most <= bound


@pytest.mark.parametrize("rule", ["", 'mode = "standing"\n', ALWAYS])
def test_an_answer_fits_the_header_whoever_it_is_of(rule: str) -> None:
    """What has no room is left out before the profile is opened: for everybody the same."""
    said = set()
    for row in range(20):
        agent, vault = living(OPEN + rule, row, LONG)
        why = {each.name: each.reason for each in explain(SHOP, MONDAY, agent).outcomes}
        answer = handle(SHOP, MONDAY, agent)
        assert len(answer.header) <= LARGEST == 1024
        said.add(tuple(name for name, _ in vault.disclosures[0].disclosed))
        assert NO_ROOM in why.values()
        assert all(why[name] != NO_ROOM for name in answer.attributes)
    assert len(said) == 1
    assert len(said.pop()) == 1


ADDRESS = "https://shop.example/?q={query}"
RULE = f'\n[[rule]]\nrecipient = "shop.example"\nsearch = "{ADDRESS}"\ncarry = "words"\n'
WORDS = OPEN + RULE
WORD_OF = {
    (each.name, value): word for each in MODEL.attributes for value, word in each.words.items()
}
SPOKEN = st.lists(st.sampled_from(["the", "age", "gender", "The Age", "cat", "-", "ages"])).map(
    " ".join
)


def asked(query: str) -> Ask:
    """Return a request that is read as the known query."""
    return msgspec.structs.replace(SHOP, query=query)


@given(policies(["everyone"]), PEOPLE)
def test_only_words_leave(rules: Rules, row: int) -> None:
    """Of attributes with a word for any value; what has none is recorded as told all the same."""
    assume("both" not in rules.policy.text)
    agent, vault = living(rules.policy.text + RULE, row)
    answer = handle(SHOP, MONDAY, agent)
    assert (answer.header, answer.parameters) == ("", {})
    if answer.id is None:
        assert (answer.words, answer.attributes, answer.unspecified) == ("", {}, [])
        return
    told = dict(vault.disclosures[-1].disclosed)
    assert {*told} <= WORDED
    assert answer.attributes == {n: told[n] for n in told if (n, told[n]) in WORD_OF}
    assert {*answer.unspecified} == {*told} - {*answer.attributes}
    words = [WORD_OF[n, told[n]] for n in NAMES if n in answer.attributes]
    assert answer.words == " ".join(words)


def test_the_set_is_the_same_whatever_the_values() -> None:
    """Of a hundred people; some of them add words, and some add none."""
    sets, words = set(), set()
    for row in range(0, len(ROWS), 3):
        agent, vault = living(WORDS, row)
        words.add(handle(SHOP, MONDAY, agent).words)
        sets.add(tuple(name for name, _ in vault.disclosures[0].disclosed))
    assert len(sets) == 1
    assert "" in words
    assert len(words) > 2


def test_a_sensitive_attribute_has_no_words() -> None:
    """By the model's own default, whatever the policy says."""
    priced = (replace(each, sensitivity=1e-9) for each in MODEL.attributes)
    sensitive = replace(MODEL, id="sensitive", attributes=tuple(priced))
    for name in NAMES:
        always = f'{WORDS}[attributes]\n{name} = {{ disclose = "always", sensitivity = 0.0 }}\n'
        agent, vault = living(always, 0, sensitive)
        assert handle(SHOP, MONDAY, agent).id is None
        assert not vault.disclosures


@given(SPOKEN, PEOPLE)
def test_no_word_is_there_twice(query: str, row: int) -> None:
    """The canonical order is the model's; whole words of the query count, in any case."""
    values = {
        each.name: each.values[code]
        for each, code in zip(MODEL.attributes, ROWS[row].tolist(), strict=False)
    }
    found = words_after(query, values, MODEL)
    assert found == words_after(query, dict(reversed(values.items())), MODEL)
    rest, there = found, f" {' '.join(query.casefold().replace('-', ' ').split())} "
    for each in MODEL.attributes:
        word = WORD_OF.get((each.name, values.get(each.name, UNSPECIFIED)), "")
        if word and f" {word} " in there:
            assert word not in found
        elif word:
            assert rest.startswith(word)
            rest = rest.removeprefix(word).removeprefix(" ")
    assert rest == ""
    assert words_after(f"{query} {found}", values, MODEL) == ""


def test_a_word_in_the_query_counts_as_told() -> None:
    """The recipient holds the fact, and nothing is added."""
    said = ((row, handle(SHOP, MONDAY, living(WORDS, row)[0])) for row in range(len(ROWS)))
    row, before = next((row, answer) for row, answer in said if "the gender" in answer.words)
    known = replace(MODEL.queries[0], phrasings=("is the gender known",))
    model = replace(MODEL, id="phrased", queries=(known, *MODEL.queries[1:]))
    agent, vault = living(WORDS, row, model)
    answer = handle(asked("is The GENDER known"), MONDAY, agent)
    assert answer.attributes == before.attributes
    assert "the gender" not in answer.words
    assert "gender" in dict(vault.disclosures[0].disclosed)


@pytest.mark.parametrize("spare", [0, 40, MOST, 3000])
def test_the_address_stays_short(spare: int) -> None:
    """What has no room is left out before the profile is opened: for everybody the same."""
    length = max(1, LONGEST - len(ADDRESS.replace("{query}", "")) - spare)
    known = replace(MODEL.queries[0], phrasings=("x" * length,))
    wide = tuple(
        replace(each, words=dict.fromkeys(each.values[1:], f"{each.name} {'ö' * 20}"))
        for each in MODEL.attributes
    )
    model = replace(MODEL, id="wide", queries=(known, *MODEL.queries[1:]), attributes=wide)
    sets = set()
    for row in range(20):
        agent, vault = living(WORDS, row, model)
        answer = handle(asked(known.phrasings[0]), MONDAY, agent)
        text = f"{known.phrasings[0]} {answer.words}".rstrip()
        assert len(ADDRESS.replace("{query}", quote_plus(text))) <= LONGEST
        assert len(quote_plus(answer.words)) <= MOST
        sets.add(tuple(name for each in vault.disclosures for name, _ in each.disclosed))
    assert len(sets) == 1
    assert bool(sets.pop()) == (spare > 40)
