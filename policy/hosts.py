"""Hosts: what a caller names as the recipient, who registered it, and patterns for it.

A name comes from any script as the DNS has it (UTS 46, nontransitional, as in browsers), and not
by the codec "idna" (IDNA 2003), to which straße.example is strasse.example, another host.
"""

import functools
import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from agent.errors import UsageError

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

NAME_LENGTH, LABEL_LENGTH = 253, 63  # RFC 1035, 2.3.4; the name as text, without its final dot
SHOWN = 80  # characters of a wrong host that an error repeats
_PREFIX = "xn--"
_NOT_ALLOWED = re.compile(r"[^a-z0-9_-]")
_KEPT = frozenset("ßς\u200c\u200d")  # the deviations of UTS 46, which IDNA 2003 changes
_IGNORED = re.compile("[\u00ad\u200b\u2060\ufe00-\ufe0f\ufeff]")
_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"}  # categories
_REFUSED = re.compile(
    "(?<![^\x00-\x7f])[\u200c\u200d]"  # a joiner where nothing joins
    "|\ufffd"  # what was once another character
    "|[^a-z0-9_\x80-\U0010ffff-]"
)
Value = TypeVar("Value")
LOCAL = "localhost"
_OF_THIS_MACHINE = re.compile(r"(?:[a-z0-9_-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|::1")
# Endings for use in private or in documents (RFC 2606, 6761, 6762, 9476), and very common ones.
_SURE = {"alt", "arpa", "example", "home", "internal", "invalid", "lan", "local", LOCAL, "test"}
_SURE |= {"ai", "com", "net", "org"}
DOUBT = "no public domain ends in .{}"
ANYBODY = "anybody.invalid"  # RFC 2606: nobody's name, so no rule for some recipients matches
ASSISTANT, ENGINE, OTHER = "any assistant", "any search engine", "any other site"
# The kinds of recipients, each with a host of that kind that no rule names.
KINDS = {ASSISTANT: f"assistant.{ANYBODY}", ENGINE: f"engine.{ANYBODY}", OTHER: ANYBODY}
HIGHEST_PORT = 65_535
_SCHEME = re.compile(r"\A(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_PORT = re.compile(r"[0-9]{1,5}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ADDRESS_PART = re.compile(r"[/\\?#@]|\]:|^[^:]*:[^:]*$")


def refusal(text: str, why: str) -> UsageError:
    """The error for a `text` that is no host, and why."""
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    hint = "write a host such as books.example, 192.0.2.7 or 2001:db8::1"
    return UsageError(f"{shown!r} is not a host name: {why}", hint)


def ascii_name(name: str) -> str:
    """A name in small letters and punycode, without a final dot. Idempotent.

    UsageError where a label or the name is empty or too long, has a character that no host has,
    or is not the punycode of anything. Source: UTS 46; RFC 3492; RFC 1035, 2.3.4.
    """
    own = mapped(name).removesuffix(".")
    if not own:
        raise refusal(name, "it is empty")
    if len(own) > NAME_LENGTH:  # punycode is longer still
        raise refusal(name, f"it has more than {NAME_LENGTH} characters")
    ascii_ = ".".join(_ascii_label(label, name) for label in own.split("."))
    if len(ascii_) > NAME_LENGTH:
        raise refusal(name, f"it has more than {NAME_LENGTH} characters in punycode")
    return ascii_


def mapped(name: str) -> str:
    """A name with case folded, in NFKC and with plain dots, all else as it is."""
    if name.isascii():
        return name.lower()
    composed = unicodedata.normalize("NFKC", _IGNORED.sub("", name)).replace("ẞ", "ß")
    folded = "".join(each if each in _KEPT else each.casefold() for each in composed)
    # Folding can leave what NFKC would compose.
    return unicodedata.normalize("NFKC", folded).replace("\u3002", ".")


def _ascii_label(label: str, name: str) -> str:
    if not label:
        raise refusal(name, "it has an empty label")
    encode = not label.isascii() and len(label) <= LABEL_LENGTH  # it takes the length squared
    ascii_ = _encoded(label, name) if encode else label
    if len(ascii_) > LABEL_LENGTH:
        raise refusal(name, f"a label has more than {LABEL_LENGTH} characters")
    if wrong := _NOT_ALLOWED.search(ascii_):
        raise refusal(name, f"a host name cannot contain {wrong[0]!r}")
    if label.isascii() and label.startswith(_PREFIX) and not _is_punycode(label, name):
        raise refusal(name, f"{label!r} is not the punycode of anything")
    return ascii_


def _encoded(label: str, name: str) -> str:
    """The punycode of a label in its own script."""
    if label.startswith(_PREFIX):
        raise refusal(name, f"a label that begins with {_PREFIX} has only ASCII letters")
    if (wrong := _unsound(label)) is not None:
        raise refusal(name, f"a host name cannot contain {wrong!r}")
    return _PREFIX + label.encode("punycode").decode("ascii")


def _is_punycode(label: str, name: str) -> bool:
    """Whether a label is what its own decoding is encoded to."""
    try:
        own = label.removeprefix(_PREFIX).encode("ascii").decode("punycode")
    except ValueError:
        return False
    return not own.isascii() and _unsound(own) is None and _encoded(own, name) == label


def _unsound(own: str) -> str | None:
    """Find a character that no label has, or return a label that is not mapped; None if sound."""
    if refused := _REFUSED.search(own):
        return refused[0]
    if unicodedata.category(own[0])[0] == "M":  # a mark on nothing
        return own[0]
    hidden = (each for each in own if each not in _KEPT and unicodedata.category(each) in _HIDDEN)
    return next(hidden, None if mapped(own) == own else own)


def host_of(text: str) -> str:
    """The canonical host in what a caller names: a host, host:port or URL. Idempotent.

    A name comes back in small letters and punycode without a final dot, an address of IPv6 in
    its short form without brackets, one that stands for an address of IPv4 as that. UsageError
    where there is no host, and for numbers that only some programs read as an address (1.2.3).
    Source: RFC 3986, 3.2; RFC 5952; WHATWG URL, 3.5.
    """
    authority = re.split(r"[/?#]", _SCHEME.sub("", text, count=1), maxsplit=1)[0]
    named = authority.rpartition("@")[2]  # without a user and a password
    if text.startswith("@"):  # the empty user of URLs, and to us how the name of a group begins
        raise refusal(f"@{named}", "it is the name of a group")
    if "\\" in authority:  # where the path begins to browsers, part of the host to others
        raise refusal(named, "there is a backslash before its end")
    host, colon, port = named.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):  # no port, or an address of IPv6
        return _canonical(named)
    if not _PORT.fullmatch(port) or int(port) > HIGHEST_PORT:
        raise refusal(named, "no port follows the colon")
    return _canonical(host)


def site_of(host: str) -> str:
    """Who registered a canonical host: the public suffix and one label before it.

    An address, a single label and a public suffix stand for themselves, and so do two labels.
    Source: publicsuffix.org, its private section included.
    """
    alone = host.count(".") < 2 or _is_alone(host)  # noqa: PLR2004  (two labels need no list)
    return host if alone else load_suffixes().privatesuffix(host) or host


@functools.cache
def load_suffixes() -> "PublicSuffixList":
    """Load the list of public suffixes, once, which takes 40 ms."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def is_local(host: str) -> bool:
    """Whether a canonical host is this machine, by any of its names and addresses."""
    return _OF_THIS_MACHINE.fullmatch(host) is not None


def odd_ending(host: str) -> str | None:
    """The last label of a canonical host, if no registry has it and no network of one's own.

    None as well for an address, and for a single label.
    """
    ending = host.rpartition(".")[2]
    if _is_alone(host) or "." not in host or ending in _SURE:
        return None
    return None if load_suffixes().publicsuffix(host, accept_unknown=False) else ending


def suffixes(host: str) -> tuple[str, ...]:
    """A canonical host and all domains above it, longest first; of an address only it."""
    if _is_alone(host):
        return (host,)
    labels = host.split(".")
    return tuple(".".join(labels[start:]) for start in range(len(labels)))


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A domain with everything below it; with ``*.`` not itself; or one address or localhost.

    ``text``: canonical.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> "HostPattern":
        """The pattern in a policy; UsageError where no host can be like that."""
        rest = text.removeprefix("*.")
        if rest == text and "://" in text:
            return cls(host_of(text))
        if _ADDRESS_PART.search(rest):
            hint = "write the host alone, as in books.example"
            raise UsageError(f"{rest!r} has a scheme, a user, a port or a path", hint)
        if rest.endswith("."):
            raise UsageError(f"{rest!r} ends with a dot", "leave out the final dot")
        if "*" in rest:
            hint = "write * only as the first label, as in *.a.example; leave recipient out for all"
            raise UsageError(f"{text!r} has a * in the wrong place", hint)
        key = _canonical(rest)
        if rest == text:
            return cls(key)
        if _is_alone(key) or len(key) > NAME_LENGTH - len("a."):
            raise UsageError(f"no host is below {key!r}", "leave out the *.")
        return cls(f"*.{key}")

    @property
    def key(self) -> str:
        """The text without ``*.``: one of the `suffixes` of every host that matches."""
        return self.text.removeprefix("*.")

    @property
    def rank(self) -> int:
        """How specific it is: the more labels the more, ``*.`` between two numbers of labels."""
        # An address has more than any domain has.
        labels = NAME_LENGTH if _is_alone(self.key) else self.key.count(".") + 1
        return 2 * labels + (self.key != self.text)

    @property
    def site(self) -> str | None:
        """The registered domain that all its hosts are of; None where several owners have some."""
        if _is_alone(self.key) or is_local(self.key):
            return LOCAL if is_local(self.key) else self.key
        below = f"x.{self.key}"
        site = site_of(below)
        return None if site == below else site

    @property
    def host(self) -> str:
        """A host that it matches."""
        return self.key if self.matches(self.key) else f"a.{self.key}"

    def matches(self, host: str) -> bool:
        """Whether the pattern stands for a canonical host."""
        return host == self.text or (host.endswith(f".{self.key}") and not _is_alone(self.key))


class HostIndex(Generic[Value]):
    """Values by the patterns of hosts that they are for."""

    def __init__(self, pairs: Iterable[tuple[HostPattern, Value]]) -> None:
        """Take each pattern with its value."""
        self._by_key: dict[str, list[tuple[HostPattern, Value]]] = {}
        for pattern, value in sorted(pairs, key=lambda pair: pair[0].rank, reverse=True):
            self._by_key.setdefault(pattern.key, []).append((pattern, value))

    def find(self, host: str) -> Iterator[tuple[Value, int]]:
        """Yield the values for a canonical host, each with its rank, the most specific first."""
        for domain in suffixes(host):
            for pattern, value in self._by_key.get(domain, ()):
                if pattern.matches(host):
                    yield value, pattern.rank


def _canonical(text: str) -> str:
    if ":" in text or text.startswith("["):
        inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        return _address(ipaddress.IPv6Address, inner, text)
    name = ascii_name(text)
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _address(ipaddress.IPv4Address, name, text)
    return name


def _address(
    kind: Callable[[str], ipaddress.IPv4Address | ipaddress.IPv6Address], address: str, text: str
) -> str:
    try:
        parsed = kind(address)
    except ValueError as error:
        raise refusal(text, "it is not an address either") from error
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.scope_id is not None:
        raise refusal(text, "a zone (after %) means something to one machine only")
    return str(parsed.ipv4_mapped or parsed)


def _is_alone(host: str) -> bool:
    """Whether nothing is below a canonical host: it is an address, or localhost."""
    return ":" in host or host == LOCAL or host.rpartition(".")[2].isdigit()
