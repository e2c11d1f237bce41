"""Which host a text names, who registered it, and which hosts a pattern matches."""

import ipaddress
import string
from contextlib import suppress
from itertools import pairwise, product

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.hosts import HostPattern, host_of, mapped, site_of, suffixes
from tests.policy.strategies import ADDRESSES, ANY_DOMAINS, ANY_HOSTS, PIECES


def is_address(host: str) -> bool:
    """Say whether a host is an address, as the standard library sees it."""
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
    assert is_address(host) or all(0 < len(label) <= 63 for label in host.split("."))


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
    """Scheme, user, port, path, query and fragment, however written."""
    written = f"[{host}]" if ":" in host else host
    for before in ("", "//", f"{scheme}://", f"{scheme}://me@", f"{scheme}://me:a@b@"):
        for after in ("", "/", "/a b/c@d:80", "?q=x:1/@", "#y", "?http://other.example"):
            assert host_of(f"{before}{written}{after}") == host
            assert host_of(f"{before}{written}:{port}{after}") == host


@given(ANY_DOMAINS)
def test_case_and_a_final_dot_do_not_matter(domain: str) -> None:
    """The DNS does not see them."""
    assert host_of(domain.upper() + ".") == host_of(domain)


@given(st.text("abzäöüéñçøåłžőαβγωабвяыقمرא漢字かな", min_size=1, max_size=8))
def test_own_script_is_as_in_the_standard_librarys_idna(label: str) -> None:
    """Where IDNA 2003 and UTS 46 agree."""
    expected = b""
    with suppress(UnicodeError):
        expected = label.encode("idna")
    assume(expected)
    assert host_of(f"{label.upper()}.example") == f"{expected.decode()}.example"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("books.example", "books.example"),
        ("BOOKS.Example.", "books.example"),
        ("https://me:secret@Books.example:8443/a/b?q=c#d", "books.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BU\u0308CHER.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("STRAẞE.example", "xn--strae-oqa.example"),
        ("J\u030c.example", "xn--ska.example"),  # only the small one is one character
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ("ｂｏｏｋｓ．ｅｘａｍｐｌｅ", "books.example"),
        ("i❤️.example", "xn--i-7iq.example"),
        ("bo\u00adoks.example", "books.example"),
        ("_dmarc.books.example", "_dmarc.books.example"),
        ("r3---sn-x.books.example", "r3---sn-x.books.example"),
        ("localhost", "localhost"),
        ("LOCALHOST:80", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("１９２.0.2.7:80", "192.0.2.7"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("http://[::FFFF:192.0.2.7]/", "192.0.2.7"),
        ("//books.example/x", "books.example"),
    ],
)
def test_examples_of_hosts(text: str, host: str) -> None:
    """What browsers, configurations and people write."""
    assert host_of(text) == host


NO_HOST = {
    "empty": ("", ".", "https://", "file:///etc/hosts"),
    "empty label": ("books..example", ".example"),
    "has only ASCII": ("xn--bücher.example",),
    "cannot contain": (
        *("books example", "books.example ", "\u0301a.example"),
        *("a\u200db.example", "a\u202eb\u0301x.example", "b\ufffdcher.example", "b%6Foks.example"),
        *("https://evil.℀.books.example", "*.books.example"),
    ),
    "more than 63": ("a" * 64 + ".example", "ü" * 60 + ".example"),
    "more than 253": (".".join(["a" * 50] * 5), ".".join(["üöä" * 9] * 9)),
    "punycode": (
        *("xn--a.example", "xn--.example", "xn--abc-.example", "xn--BCHER-KVA-.example"),
        "xn---0bb.example",  # of what xn--0bb is the punycode of
        "xn--bcher-2pa.example",  # of bÜcher
    ),
    "address": (
        *("1.2.3", "256.1.1.1", "1.2.3.04", "2130706433", "0x7f.1", "127.0.0.0x1", "1.2.3.4.5"),
        *("2001:db8::1::2", "[192.0.2.7]", "[::1"),
    ),
    "zone": ("fe80::1%eth0",),
    "port": (
        *("books.example:", "books.example:http", "books.example:65536", "https:/books.example"),
        "git@books.example:me/it",
    ),
    "backslash": ("https://books.example\\@other.example",),
    "name of a group": ("@shops", "@books.example/path"),
}


def test_examples_of_what_is_no_host() -> None:
    """Each says why."""
    for why, texts in NO_HOST.items():
        for text in texts:
            with pytest.raises(UsageError, match="is not a host name: .*" + why) as caught:
                host_of(text)
            assert "books.example" in caught.value.hint


def test_an_error_repeats_no_long_text() -> None:
    """It is one sentence."""
    with pytest.raises(UsageError) as caught:
        host_of("?" + "a" * 100_000)
    assert len(str(caught.value)) < 200
    with pytest.raises(UsageError) as caught:
        host_of("ü" * 100_000)
    assert len(str(caught.value)) < 200


def test_an_error_repeats_no_password_and_no_path() -> None:
    """Nor what was searched for."""
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


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.books.example", "books.example"),
        ("a.b.books.co.uk", "books.co.uk"),
        ("co.uk", "co.uk"),
        ("www.foo.github.io", "foo.github.io"),
        ("foo.github.io", "foo.github.io"),
        ("github.io", "github.io"),
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("a.b.c.kobe.jp", "b.c.kobe.jp"),
        ("www.xn--55qx5d.cn", "www.xn--55qx5d.cn"),
        ("example", "example"),
        ("localhost", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_examples_of_who_registered_a_host(host: str, site: str) -> None:
    """Public suffixes of registries and of companies, and hosts without an owner."""
    assert site_of(host) == site


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
    """Draw a pattern for a host or, where there is one, for what is below it."""
    host = draw(ANY_HOSTS)
    below = draw(st.booleans()) and len(suffixes(f"x.{host}")) > 1 and host != "localhost"
    return HostPattern.parse(f"*.{host}" if below and ":" not in host else host)


@given(patterns(), ANY_HOSTS)
def test_a_pattern_matches_what_its_text_says(pattern: HostPattern, host: str) -> None:
    """By labels: FORMAT.md, Recipients."""
    wild, key = pattern.text.startswith("*."), pattern.text.removeprefix("*.")
    own, given_ = key.split("."), host.split(".")
    alone = key == "localhost" or is_address(key)
    below = not alone and len(given_) > len(own) and given_[-len(own) :] == own
    assert pattern.matches(host) == (below or (host == key and not wild))
    assert pattern.key in suffixes(host) or not pattern.matches(host)
    assert pattern.matches(pattern.host)


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


def test_examples_of_what_is_no_pattern() -> None:
    """Each says why, and what to write."""
    for why, texts in NO_PATTERN.items():
        for text in texts:
            with pytest.raises(UsageError, match=why):
                HostPattern.parse(text)
