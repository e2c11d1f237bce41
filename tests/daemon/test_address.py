"""Words after a query: of attributes chosen whatever the values are, and nothing else."""

from dataclasses import replace
from urllib.parse import quote_plus

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.daemon.handle import handle
from agent.daemon.header import MOST, words_after
from agent.daemon.what_if import explained
from agent.model.attributes import UNSPECIFIED
from agent.wire.decide import Ask
from policy.services import LONGEST
from tests.decision.histories import Rules, policies
from tests.decision.made import NAMES, WORDED
from tests.worlds.people import MODEL, MONDAY, OPEN, PEOPLE, ROWS, SHOP, living

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
    """Of all 300 people; some of them add words, and some add none."""
    sets, words = set(), set()
    for row in range(len(ROWS)):
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


def test_parameters_carry_nothing_of_a_model() -> None:
    """A search that sends parameters sends those alone."""
    agent, vault = living(WORDS.replace('"words"', '"parameters"'))
    answer = handle(SHOP, MONDAY, agent)
    assert (answer.header, answer.words, answer.attributes) == ("", "", {})
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


def test_the_reason_is_said() -> None:
    """An attribute without a word cannot be sent in the address."""
    agent, _ = living(WORDS)
    why = {each.name: each.reason for each in explained(SHOP, MONDAY, agent).outcomes}
    assert {name for name in why if why[name] == "not carried"} == {*NAMES} - WORDED
