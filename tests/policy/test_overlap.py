"""Settings without order: a policy is accepted if no request has two answers, and only then."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import combinations
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import PolicyError, Problem
from policy.read import preset, read
from tests.policy import naive
from tests.policy.naive import Claim, Entry
from tests.policy.strategies import TODAY, Document, rendered

GROUPS = {"one": ["shop.example", "a.co.uk"], "two": ["books.example", "*.track.test"]}
RECIPIENTS = (
    *("shop.example", "www.shop.example", "*.shop.example", "*.example", "books.example"),
    *("m.books.example", "*.co.uk", "one", "two"),
)
QUERIES = ("flu", "tax", "fl*", "flu*", "debt", "new tax")
EXPIRES = (date(2027, 3, 1), date(2027, 3, 2))


@st.composite
def setters(draw: st.DrawFn) -> Document:
    """Draw a policy in which rules for few requests set the same, which has no order."""
    rules = []
    for _ in range(draw(st.integers(2, 5))):
        rule: Document = {"mode": draw(st.sampled_from(["dynamic", "standing"]))}
        for key, texts in (("recipient", RECIPIENTS), ("query", QUERIES)):
            some = st.lists(st.sampled_from(texts), max_size=2, unique=True)
            if listed := draw(some):
                rule[key] = listed
        if draw(st.integers(0, 3)) == 0:
            rule["expires"] = draw(st.sampled_from(EXPIRES))
        rules.append(rule)
    return {"groups": GROUPS, "rule": rules}


def clashes(document: Document) -> bool:
    """Say whether for some request two rules of which neither wins have different answers.

    Every host that a rule could tell from the others is tried, with every two queries.
    """
    rules = [entry for entry in naive.entries(document) if entry.layer == 2 and entry.settings]
    for day, recipient in ((day, host) for day in (*EXPIRES, TODAY.max) for host in _hosts()):
        held = [rule for rule in rules if rule.expires is None or day <= rule.expires]
        for query in _texts():
            found = [*_claims(held, recipient, query)]
            for pair in combinations(found, 2):
                if pair[0].value != pair[1].value and not any(_settled(pair, found)):
                    return True
    return False


def _settled(pair: tuple[Claim, ...], found: list[Claim]) -> Iterator[bool]:
    one, other = pair
    yield naive.more_specific(one, other) or naive.more_specific(other, one)
    for third in found:
        yield naive.more_specific(third, one) and naive.more_specific(third, other)


def _claims(rules: list[Entry], recipient: str, query: str) -> Iterator[Claim]:
    for rule in rules:
        host = naive.recipient_rank(rule.recipient, recipient, GROUPS)
        words = naive.query_rank(rule.query, query)
        if host is not None and words is not None:
            yield Claim(rule, (host, 0.0, words), rule.settings["mode"])


def _hosts() -> list[str]:
    domains = [each.removeprefix("*.") for each in RECIPIENTS if "." in each]
    domains += [each.removeprefix("*.") for members in GROUPS.values() for each in members]
    return sorted({*domains, *(f"zz.{each}" for each in domains), "zz.zz"})


def _texts() -> list[str]:
    samples = [each.replace("*", "qq") for each in QUERIES]
    return ["", *samples, *(f"{one} zz {other}" for one, other in combinations(samples, 2))]


def problems(text: str) -> Sequence[Problem]:
    """Return what is wrong with a policy."""
    try:
        read(text, "test", preset)
    except PolicyError as error:
        return error.problems
    return ()


@settings(max_examples=3 * settings().max_examples)
@given(setters())
def test_what_is_accepted_has_one_answer_and_what_is_refused_had_two(document: Document) -> None:
    """The check of the file misses nothing, and refuses nothing that is settled."""
    found = problems(rendered(document))
    assert bool(found) == clashes(document)
    assert all(each.key.endswith("mode") and "neither wins" in each.what for each in found)


def rule(mode: str, recipient: str = "", query: str = "", expires: str = "") -> str:
    """Return a rule."""
    text = f'[[rule]]\nmode = "{mode}"\n'
    text += f'recipient = "{recipient}"\n' if recipient else ""
    text += f'query = "{query}"\n' if query else ""
    return text + (f"expires = {expires}\n" if expires else "")


SHOP = rule("standing", "shop.example")
FLU = rule("dynamic", query="flu")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (SHOP + rule("dynamic", "shop.example"), [(5, "rule[2].mode")]),
        (SHOP + FLU, [(5, "rule[2].mode")]),
        (SHOP + FLU + SHOP, [(5, "rule[2].mode"), (8, "rule[3].mode")]),
        (FLU + rule("standing", query="tax"), [(5, "rule[2].mode")]),
        (SHOP + FLU + rule("standing", "*.example", "flu"), [(5, "rule[2].mode")]),
        (SHOP + FLU + rule("standing", "shop.example", "flu", "2027-01-01"), [(5, "rule[2].mode")]),
        ('mode = "dynamic"\n' + rule("standing"), [(3, "rule[1].mode")]),
    ],
)
def test_not_settled(text: str, places: list[tuple[int, str]]) -> None:
    """The later of the two is named; a third rule must win over both, for as long as both hold."""
    assert [(each.line, each.key) for each in problems(text)] == places


def test_both_rules_are_named() -> None:
    """The problem says which other rule it is about, and what that sets."""
    (problem,) = problems(SHOP.replace("mode", 'name = "my shop"\nmode') + FLU)
    assert problem.what.startswith("'my shop' sets 'standing' for requests that this rule")
    assert problem.hint == "set the same, make one more specific, or add a rule for both at once"


MANY = 2000
LARGE = {
    "queries": ["query = 'w{0}'"] * MANY,
    "recipients": ["recipient = 'a{0}.example'"] * MANY,
    "one above": ["recipient = 'a{0}.example'"] * (MANY - 1) + ["recipient = '*.example'"],
    "one in all": ["recipient = '*.example'"] * (MANY - 1) + ["recipient = 'a.example'"],
    "both": ["recipient = 'a{0}.example'\nquery = 'w{0}'"] * MANY,
    "one or the other": ["recipient = 'a{0}.example'", "query = 'w{0}'"] * (MANY // 2),
    "long words": ["query = '{1}'"] * MANY,
    "beginnings": ["query = '{1}*'"] * MANY,
    "everybody": [""] * MANY,
    "deep": ["recipient = '{2}example'"] * MANY,
}


@pytest.mark.parametrize("name", LARGE)
def test_many_rules_are_compared_soon(name: str) -> None:
    """As many as a file may have; where it cannot be said in a second that none clash, that is."""
    text = "".join(
        f"[[rule]]\nmode = '{('dynamic', 'standing')[each % 2]}'\n"
        f"{part.format(each, 'a' * (1 + each % 190), 'a.' * (1 + each % 120))}\n"
        for each, part in enumerate(LARGE[name])
    )
    began = process_time()
    found = problems(text)
    assert process_time() - began < 4
    said = {each.what for each in found}
    assert all("neither wins" in each or "too many rules overlap" in each for each in said)
    assert bool(said) == (name not in ("recipients", "one above", "both"))
