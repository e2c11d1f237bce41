"""Which host a text names, who registered it, and which hosts a pattern matches."""

import ipaddress
import re
import string
from ast import literal_eval
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.hosts import HostPattern, host_of, mapped, odd_ending, site_of, suffixes
from policy.services import Search, meant_by, own_address, own_search
from tests.policy.strategies import ADDRESSES, ANY_DOMAINS, ANY_HOSTS, PIECES


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


@given(st.text() | PIECES)
@example("http://[::1")
@example("xn--" + "9" * 59)
@example("xn--a-" + "z" * 50)
@example("\ud800.example")
@example("ü" * 100_000)
def test_every_text_is_a_host_or_a_usage_error(text: str) -> None:
    """And what comes back is a host that means itself."""
    host = None
    with suppress(UsageError):
        host = host_of(text)
    if host is None:
        return
    assert host_of(host) == host
    assert 0 < len(host) <= 253
    assert set(host) <= {*string.ascii_lowercase, *string.digits, *"-_.:"}
    assert _is_address(host) or all(0 < len(label) <= 63 for label in host.split("."))


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.soak)])
def test_every_character_in_a_label_gives_a_host_that_means_itself(step: int) -> None:
    """All that reading a name changes, alone, between letters and before an accent."""
    for character in filter(lambda each: mapped(each) != each, map(chr, range(0, 0x110000, step))):
        for text in (character, f"a{character}b", f"{character}\u0301"):
            with suppress(UsageError):
                host = host_of(text)
                assert host_of(host) == host


@given(ANY_HOSTS, st.sampled_from(["https", "HTTP", "ws+x"]), st.integers(0, 65_535))
def test_all_around_the_host_is_dropped(host: str, scheme: str, port: int) -> None:
    """Scheme, user, port, path, query and fragment, however written; so are case and a last dot."""
    assert host_of(host.upper() + "." * (":" not in host)) == host
    written = f"[{host}]" if ":" in host else host
    for before in ("", "//", f"{scheme}://", f"{scheme}://me@", f"{scheme}://me:a@b@"):
        for after in ("", "/", "/a b/c@d:80", "?q=x:1/@", "#y", "?http://other.example"):
            assert host_of(f"{before}{written}{after}") == host
            assert host_of(f"{before}{written}:{port}{after}") == host


@given(st.text("abzäöüéñçøåłžőαβγωабвяыقمرא漢字かな", min_size=1, max_size=8))
def test_own_script_is_as_in_the_standard_librarys_idna(label: str) -> None:
    """Where IDNA 2003 and UTS 46 agree."""
    expected = b""
    with suppress(UnicodeError):
        expected = label.encode("idna")
    assume(expected)
    assert host_of(f"{label.upper()}.example") == f"{expected.decode()}.example"


def test_an_error_is_one_sentence_without_password_path_or_words() -> None:
    """Nor does it repeat a long text."""
    for text in ("?" + "a" * 100_000, "ü" * 100_000):
        with pytest.raises(UsageError) as caught:
            host_of(text)
        assert len(str(caught.value)) < 200
    for before, after in product(["https://", "@"], ["\\", ":x", " ", ".."]):
        with pytest.raises(UsageError) as caught:
            host_of(f"{before}me:secret@books.example{after}/path?q=private")
        assert not any(each in str(caught.value) for each in ("secret", "path", "private"))


@given(ANY_HOSTS)
def test_whoever_registered_a_host_is_above_it_and_registered_itself(host: str) -> None:
    """So that a site is the name of all hosts of one owner."""
    site = site_of(host)
    assert site in suffixes(host)
    assert site_of(site) == site
    if site != host:
        assert site_of(f"www.{host}") == site


@given(ANY_DOMAINS, ADDRESSES.map(host_of))
def test_a_domain_has_as_many_suffixes_as_labels(domain: str, address: str) -> None:
    """Each is what the one before is without its first label; nothing is above an address."""
    found = suffixes(domain)
    assert len(found) == len(domain.split("."))
    assert found[0] == domain
    assert all(one.split(".", 1)[1] == two for one, two in pairwise(found))
    assert suffixes(address) == (address,)


@st.composite
def patterns(draw: st.DrawFn) -> HostPattern:
    host = draw(ANY_HOSTS)
    below = draw(st.booleans()) and len(suffixes(f"x.{host}")) > 1 and host != "localhost"
    return HostPattern.parse(f"*.{host}" if below and ":" not in host else host)


@given(patterns(), ANY_HOSTS)
def test_a_pattern_matches_what_its_text_says(pattern: HostPattern, host: str) -> None:
    """By labels: FORMAT.md, Recipients."""
    wild, key = pattern.text.startswith("*."), pattern.text.removeprefix("*.")
    own, given_ = key.split("."), host.split(".")
    alone = key == "localhost" or _is_address(key)
    below = not alone and len(given_) > len(own) and given_[-len(own) :] == own
    assert pattern.matches(host) == (below or (host == key and not wild))
    assert pattern.key in suffixes(host) or not pattern.matches(host)
    assert pattern.matches(pattern.host)


SHOWN = Path(__file__).with_name("hosts.txt")
CALLS: Mapping[str, Callable[[str], str]] = {
    "host": host_of,
    "site": site_of,
    "ending": lambda text: str(odd_ending(text)),
    "meant": lambda text: str(meant_by(text)),
    "pattern": lambda text: HostPattern.parse(text).text,
    "search": lambda text: Search.parse(text).text,
    "own": lambda text: own_address(text, "shop.example"),
    "searched": lambda text: own_search(text, "www.shop.example"),
}


def outcome(call: str, text: str) -> str:
    """What a call makes of a text, or why nothing."""
    try:
        return f"= {CALLS[call](text)}"
    except UsageError as error:
        return f"! {error.what}" if error.hint else "without a hint"


def test_examples_of_hosts_and_addresses(pytestconfig: pytest.Config) -> None:
    """Hosts, who registered them, patterns; searches that browsers can use, own addresses."""
    lines = []
    for line in SHOWN.read_text(encoding="utf-8").splitlines():
        call, _, rest = line.partition(" ")
        text = re.split(r" [=!] ", rest)[0]
        lines.append(f"{call} {text} {outcome(call, literal_eval(text))}\n")
    if pytestconfig.getoption("accept"):
        SHOWN.write_text("".join(lines), encoding="utf-8")
    assert "".join(lines) == SHOWN.read_text(encoding="utf-8"), "look at it, then accept it"
