"""Which hosts a pattern of a policy matches, and how patterns stand to each other."""

import ipaddress
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.hosts import HostPattern, suffixes
from tests.policy.hosts import HOSTS, PIECES


@st.composite
def patterns(draw: st.DrawFn) -> HostPattern:
    """Draw a pattern for a host or, where there is one, for what is below it."""
    host = draw(HOSTS)
    below = draw(st.booleans()) and len(suffixes(f"x.{host}")) > 1 and host != "localhost"
    return HostPattern.parse(f"*.{host}" if below and ":" not in host else host)


def witnesses(pattern: HostPattern) -> list[str]:
    """Return a host for each of the ways in which a pattern can match."""
    if pattern.text.startswith("*."):
        return [f"fresh.{pattern.key}"]
    alone = pattern.key == "localhost" or is_address(pattern.key)
    return [pattern.key] if alone else [pattern.key, f"fresh.{pattern.key}"]


def is_address(host: str) -> bool:
    """Say whether a host is an address, as the standard library sees it."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


@given(patterns(), HOSTS)
def test_a_pattern_matches_what_its_text_says(pattern: HostPattern, host: str) -> None:
    """By labels: FORMAT.md, Recipients."""
    wild, key = pattern.text.startswith("*."), pattern.text.removeprefix("*.")
    own, given_ = key.split("."), host.split(".")
    alone = key == "localhost" or is_address(key)
    below = not alone and len(given_) > len(own) and given_[-len(own) :] == own
    assert pattern.matches(host) == (below or (host == key and not wild))


@given(patterns())
def test_a_pattern_has_a_host_that_it_matches(pattern: HostPattern) -> None:
    """Which is the host that it names, where that is one."""
    assert pattern.matches(pattern.host)
    assert pattern.host == pattern.key or not pattern.matches(pattern.key)


@given(patterns(), HOSTS)
def test_a_pattern_is_found_by_its_key(pattern: HostPattern, host: str) -> None:
    """Among the suffixes of whatever it matches."""
    if pattern.matches(host):
        assert pattern.key in suffixes(host)
    assert all(pattern.matches(each) for each in witnesses(pattern))


@given(patterns(), patterns())
def test_covering_is_matching_whatever_the_other_matches(
    one: HostPattern, other: HostPattern
) -> None:
    """And meeting is matching something of it."""
    assert one.covers(other) == all(one.matches(host) for host in witnesses(other))
    both = [*witnesses(one), *witnesses(other)]
    assert one.meets(other) == any(one.matches(host) and other.matches(host) for host in both)
    assert one.meets(other) == other.meets(one)


@given(patterns(), patterns(), HOSTS)
def test_covering_and_meeting_hold_for_any_host(
    one: HostPattern, other: HostPattern, host: str
) -> None:
    """Not only for the witnesses."""
    if one.matches(host) and other.matches(host):
        assert one.meets(other)
    if one.covers(other) and other.matches(host):
        assert one.matches(host)


@given(patterns(), patterns())
def test_of_two_patterns_the_one_that_covers_less_ranks_higher(
    one: HostPattern, other: HostPattern
) -> None:
    """So that rank is how specific a pattern is."""
    assert (one == other) == (one.text == other.text)
    if one.covers(other) and one != other:
        assert one.rank < other.rank


@given(patterns())
def test_a_pattern_reads_its_own_text(pattern: HostPattern) -> None:
    """It is canonical."""
    again = HostPattern.parse(pattern.text)
    assert again == pattern
    assert hash(again) == hash(pattern)
    assert (again.key, again.rank) == (pattern.key, pattern.rank)


@given(st.text() | PIECES | PIECES.map("*.".__add__))
def test_every_text_is_a_pattern_or_a_usage_error(text: str) -> None:
    """Nothing else is raised."""
    with suppress(UsageError):
        pattern = HostPattern.parse(text)
        assert HostPattern.parse(pattern.text) == pattern


@pytest.mark.parametrize(
    ("text", "canonical", "rank"),
    [
        ("Books.example", "books.example", 4),
        ("*.Books.example", "*.books.example", 5),
        ("www.books.example", "www.books.example", 6),
        ("*.bücher.example", "*.xn--bcher-kva.example", 5),
        ("example", "example", 2),
        ("192.0.2.7", "192.0.2.7", 506),
        ("2001:DB8::1", "2001:db8::1", 506),
        ("[2001:db8::1]", "2001:db8::1", 506),
        ("LocalHost", "localhost", 506),
    ],
)
def test_examples_of_patterns(text: str, canonical: str, rank: int) -> None:
    """Half a step between a domain and one with a label more."""
    pattern = HostPattern.parse(text)
    assert (pattern.text, pattern.rank) == (canonical, rank)


NO_PATTERN = {
    "scheme": ("https://books.example",),
    "port": ("books.example:443", "[2001:db8::1]:443"),
    "path": ("books.example/path",),
    "user": ("me@books.example",),
    "ends with a dot": ("books.example.",),
    r"has a \*": ("*", "books.*", "*books.example", "*.*.example"),
    "empty": ("*.", ""),
    "no host is below": (
        *("*.192.0.2.7", "*.2001:db8::1", "*.localhost"),
        "*." + ".".join(["a" * 62] * 3 + ["a" * 63]),
    ),
    "address": ("1.2.3",),
}


@pytest.mark.parametrize(
    ("text", "why"), [(text, why) for why, texts in NO_PATTERN.items() for text in texts]
)
def test_examples_of_what_is_no_pattern(text: str, why: str) -> None:
    """Each says why, and what to write."""
    with pytest.raises(UsageError, match=why):
        HostPattern.parse(text)
