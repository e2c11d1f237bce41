"""Which rule decides: as FORMAT.md says, and whatever the order of the file."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.match import Rulebook, Ruling
from policy.precedence import Verdict
from policy.read import preset, read
from policy.settings import SETTINGS
from tests.policy import naive
from tests.policy.naive import PER_ATTRIBUTE, claims, decided
from tests.policy.strategies import NAMES, TODAY, Asked, Document, documents, rendered, requests

WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
REQUESTS = st.lists(requests(), min_size=1, max_size=6)


RULE = '[[rule]]\nrecipient = "a.example"\n'


def book(text: str) -> Rulebook:
    """Return a policy's text as a rulebook."""
    return Rulebook(read(text, "test", preset), NAMES)


def ruled(text: str, recipient: str = "shop.example", query: str = "") -> Ruling:
    """Return what a policy's text rules for one request."""
    return book(text).match(recipient, query, TODAY)


def verdicts(ruling: Ruling) -> Mapping[tuple[str, str | None], Verdict]:
    """Return every verdict of a ruling by its setting, and its attribute where it has one."""
    found: dict[tuple[str, str | None], Verdict] = {
        (k, None): v for k, v in ruling.settings.items()
    }
    for name, each in ruling.attributes.items():
        found |= {(key, name): verdict for key, verdict in each.items()}
    return found


def values(ruling: Ruling) -> dict[tuple[str, str | None], Any]:
    """Return what is ruled, without who rules it."""
    return {place: verdict.value for place, verdict in verdicts(ruling).items()}


@settings(max_examples=3 * settings().max_examples)
@given(documents(), REQUESTS)
def test_it_is_as_the_document_says(document: Document, asked: list[Asked]) -> None:
    """Value, deciding rule and losers are those of a comparison of all rules with all."""
    rulebook = book(rendered(document))
    for each in asked:
        ruling = rulebook.match(*each)
        found = verdicts(ruling)
        for key, name in [*((key, None) for key in WHOLE), *_each_attribute()]:
            expected = claims(document, each, key, name)
            verdict = found.get((key, name))
            assert (verdict is None) == (not expected)
            if verdict is not None:
                _assert_is(verdict, expected, key)


def _each_attribute() -> list[tuple[str, str]]:
    return [(key, name) for key in PER_ATTRIBUTE for name in NAMES]


def _assert_is(verdict: Verdict, expected: list[naive.Claim], key: str) -> None:
    best = decided(expected, key)
    assert verdict.value == best[0].value
    assert type(verdict.value) in (type(best[0].value), float)
    own = (int(verdict.rule.layer), verdict.rule.path)
    assert own in [(claim.entry.layer, claim.entry.path) for claim in best]
    others = {(claim.entry.layer, claim.entry.path) for claim in expected} - {own}
    assert {(int(rule.layer), rule.path) for rule in verdict.lost} == others
    assert len(verdict.lost) == len(others)


@given(documents(), REQUESTS, st.randoms(use_true_random=False))
def test_order_does_not_matter(document: Document, asked: list[Asked], rng: Random) -> None:
    """Neither that of the rules nor that of keys; who decides is the same, up to equals."""
    rules = [dict(each) for each in document.get("rule", [])]
    for number, rule in enumerate(rules):
        rule.setdefault("name", f"number {number}")
    keys = [key for key in document if key != "rule"]
    first = {key: document[key] for key in keys} | {"rule": rules}
    rng.shuffle(rules)
    rng.shuffle(keys)
    second = {key: document[key] for key in keys} | {"rule": [_turned(rule) for rule in rules]}
    one, other = book(rendered(first)), book(rendered(second))
    for each in asked:
        before, after = verdicts(one.match(*each)), verdicts(other.match(*each))
        assert values(one.match(*each)) == values(other.match(*each))
        for (key, name), verdict in before.items():
            best = decided(claims(first, each, key, name), key)
            if len(best) == 1:
                assert after[key, name].rule.name == verdict.rule.name


def _turned(table: Document) -> Document:
    return dict(reversed(table.items()))


@given(documents(), REQUESTS)
def test_memory_changes_nothing(document: Document, asked: list[Asked]) -> None:
    """A rulebook that has answered other requests rules as a new one does."""
    used, text = book(rendered(document)), rendered(document)
    for each in (*asked, *asked):
        one, other = used.match(*each), book(text).match(*each)
        assert (one.host, one.pool) == (other.host, other.pool)
        assert values(one) == values(other)


@given(documents(), requests())
def test_who_pools_and_what_is_the_host(document: Document, asked: Asked) -> None:
    """The pool is the registered domain, or the group that has any host of it as a member."""
    ruling = book(rendered(document)).match(*asked)
    assert ruling.pool == naive.pool(ruling.host, document.get("groups", {}))


@pytest.mark.parametrize(
    ("text", "disclose"),
    [
        ('preset = "balanced"\n[attributes]\n"*" = "never"', "never"),
        ('preset = "balanced"\ndisclose = "never"', "never"),
        ('preset = "balanced"\ndisclose = "auto"', "ask"),
        (f'preset = "strict"\n{RULE}disclose = "auto"', "never"),
        (f'preset = "balanced"\nattributes."*" = "never"\n{RULE}disclose = "always"', "never"),
        ('preset = "strict"\n[attributes]\nsalary = "auto"', "auto"),
    ],
)
def test_a_preset_opens_nothing_that_the_file_closes(text: str, disclose: str) -> None:
    """And what it closes stays closed until the file names it."""
    ruling = Rulebook(read(text, "policy", preset), ("salary",)).match("a.example", "gif", TODAY)
    assert ruling.attributes["salary"]["disclose"].value == disclose


def test_no_way_of_writing_slips_past_a_block() -> None:
    """A query is compared by its words, and the model reads ``_`` as a space too."""
    book = Rulebook(read('[queries]\nblock = ["notice-period"]', "policy", preset), ())
    for query in ("notice period", "Notice_Period", "my notice\u2011period"):
        assert book.match("shop.example", query, TODAY).settings["nothing"].value is True
