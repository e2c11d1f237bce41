"""The header to a service: a parser of RFC 9651 reads what was sent, within the cap."""

import re
from dataclasses import replace
from typing import Any

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.handle import handle
from agent.daemon.header import (
    LARGEST,
    SEPARATOR,
    Attributes,
    longest,
    members_of,
    most_bytes,
    shared_attributes,
    yes_no_of,
)
from agent.daemon.what_if import explained
from agent.decision.values import NO_ROOM
from agent.model.attributes import UNSPECIFIED
from tests.decision.made import NAMES
from tests.worlds.people import MODEL, MONDAY, OPEN, SHOP, living

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
    """Return what a service reads in a header."""
    parsed = http_sf.parse(header.encode("ascii"), tltype="dictionary")
    assert isinstance(parsed, dict)
    assert all(isinstance(member, tuple) and not member[1] for member in parsed.values())
    return {name: member[0] for name, member in parsed.items()}  # type: ignore[index]  # checked above


def as_text(item: object) -> str:
    """Return the value that an item carries."""
    if isinstance(item, bool):
        return "yes" if item else "no"
    assert isinstance(item, str | http_sf.DisplayString)
    return str(item)


def drawn(attributes: Attributes, data: st.DataObject) -> dict[str, str]:
    """Draw a value for each attribute."""
    return {name: data.draw(st.sampled_from([*values])) for name, values in attributes.items()}


@given(ATTRIBUTES, st.data())
def test_what_is_read_is_what_was_sent(attributes: Attributes, data: st.DataObject) -> None:
    """Any value of any script, in the order of the values; Booleans for yes and no alone."""
    values, yes_no = drawn(attributes, data), yes_no_of(attributes)
    back = read(shared_attributes(values, yes_no))
    assert [(name, as_text(item)) for name, item in back.items()] == [*values.items()]
    for name, item in back.items():
        assert isinstance(item, bool) == ({*attributes[name]} == {"yes", "no"})
        plain = all(0x20 <= ord(sign) <= 0x7E for sign in values[name])
        assert isinstance(item, http_sf.DisplayString) == (not plain)


@given(ATTRIBUTES, st.data())
def test_a_header_is_made_of_members(attributes: Attributes, data: st.DataObject) -> None:
    """Joined, those of single values are what all of them are at once."""
    values, members = drawn(attributes, data), members_of(attributes)
    whole = SEPARATOR.join(members[pair] for pair in values.items())
    assert whole == shared_attributes(values, yes_no_of(attributes))


@given(ATTRIBUTES, st.data())
def test_the_longest_is_exact(attributes: Attributes, data: st.DataObject) -> None:
    """No header is longer than what was counted on, and one is as long."""
    yes_no, members = yes_no_of(attributes), longest(attributes)
    values = drawn(attributes, data)
    bound = most_bytes(members.values())
    assert len(shared_attributes(values, yes_no)) <= bound
    largest = {
        name: max(values, key=lambda each: len(shared_attributes({name: each}, yes_no)))
        for name, values in attributes.items()
    }
    assert len(shared_attributes(largest, yes_no)) == bound


@given(ATTRIBUTES, st.data())
def test_a_part_of_the_attributes_needs_no_more(
    attributes: Attributes, data: st.DataObject
) -> None:
    """Also where some of them are not specified, and so left out: the cap holds before that."""
    members, yes_no = longest(attributes), yes_no_of(attributes)
    some = {name for name in attributes if data.draw(st.booleans())}
    sent = {name: text for name, text in drawn(attributes, data).items() if name in some}
    assert len(shared_attributes(sent, yes_no)) <= most_bytes(members[name] for name in some)
    assert most_bytes(members[name] for name in some) <= most_bytes(members.values())


@pytest.mark.parametrize(
    ("values", "header"),
    [
        ({}, ""),
        ({"region": "west_europe", "int_python": "yes"}, 'region="west_europe", int_python'),
        ({"int_python": "no"}, "int_python=?0"),
        ({"region": 'a"b\\c'}, r'region="a\"b\\c"'),
        ({"region": "Österreich"}, 'region=%"%c3%96sterreich"'),
        ({"region": "a\tb"}, 'region=%"a%09b"'),
        ({"region": "a\x7f"}, 'region=%"a%7f"'),
        ({"region": "yes"}, 'region="yes"'),
    ],
)
def test_examples(values: dict[str, str], header: str) -> None:
    """As a service sees them; the first is that of DESIGN.md."""
    assert shared_attributes(values, {"int_python"}) == header


@pytest.mark.parametrize("rule", ["", 'mode = "standing"\n', ALWAYS])
def test_an_answer_fits_the_header_whoever_it_is_of(rule: str) -> None:
    """What has no room is left out before the profile is opened: for everybody the same."""
    said = set()
    for row in range(20):
        agent, vault = living(OPEN + rule, row, LONG)
        why = {each.name: each.reason for each in explained(SHOP, MONDAY, agent).outcomes}
        answer = handle(SHOP, MONDAY, agent)
        assert len(answer.header) <= LARGEST == 1024
        said.add(tuple(name for name, _ in vault.disclosures[0].disclosed))
        assert NO_ROOM in why.values()
        assert all(why[name] != NO_ROOM for name in answer.attributes)
    assert len(said) == 1
    assert len(said.pop()) == 1
