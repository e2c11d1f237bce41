"""Hosts: what a caller names as the recipient, who registered it, and patterns for it."""

import functools
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.errors import UsageError
from policy.labels import NAME_LENGTH, ascii_name, refusal

LOCAL = "localhost"
ANYBODY = "anybody.invalid"  # RFC 2606: nobody's name, so that no rule for some recipients is meant
HIGHEST_PORT = 65_535

_SCHEME = re.compile(r"\A(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_PORT = re.compile(r"[0-9]{1,5}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ADDRESS_PART = re.compile(r"[/\\?#@]|\]:|^[^:]*:[^:]*$")


def host_of(text: str) -> str:
    """Return the canonical host in what a caller names: a host, host:port or URL. Idempotent.

    A name comes back in small letters and punycode without a final dot, an address of IPv6 in
    its short form without brackets, one that stands for an address of IPv4 as that. UsageError
    where there is no host, and for numbers that only some programs read as an address (1.2.3).
    Source: RFC 3986, 3.2; RFC 5952; WHATWG URL, 3.5.
    """
    return _canonical(_without_port(_authority(text)))


def site_of(host: str) -> str:
    """Return who registered a canonical host: the public suffix and one label before it.

    An address, a single label and a public suffix stand for themselves.
    Source: publicsuffix.org, its private section included.
    """
    return host if _is_alone(host) else _registrable()(host) or host


def load_suffixes() -> None:
    """Load the list of public suffixes, which takes 40 ms, before anybody waits for it."""
    _registrable()


def suffixes(host: str) -> tuple[str, ...]:
    """Return a canonical host and all domains above it, longest first; of an address only it."""
    if _is_alone(host):
        return (host,)
    labels = host.split(".")
    return tuple(".".join(labels[start:]) for start in range(len(labels)))


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A domain with everything below it; with ``*.`` not itself; or one address or localhost.

    ``text``: canonical; ``key``: the text without ``*.``, one of the `suffixes` of every host
    that matches; ``rank``: the more labels the higher, ``*.`` between two numbers of labels.
    """

    text: str
    key: str = field(repr=False, compare=False)
    rank: int = field(repr=False, compare=False)
    _itself: str = field(repr=False, compare=False)  # "" is no host
    _below: str | tuple[str, ...] = field(repr=False, compare=False)  # no text ends with ()

    @classmethod
    def parse(cls, text: str) -> "HostPattern":
        """Return the pattern in a policy; UsageError where no host can be like that."""
        rest = text.removeprefix("*.")
        if "*" in rest:
            hint = "write * only as the first label, as in *.a.example; leave recipient out for all"
            raise UsageError(f"{text!r} has * where it stands for nothing", hint)
        key = _canonical(_bare(rest))
        if rest == text:
            below = () if _is_alone(key) else f".{key}"
            return cls(key, key, 2 * _labels(key), key, below)
        if _is_alone(key) or len(key) > NAME_LENGTH - len("a."):
            raise UsageError(f"nothing is below {key!r}", "leave out the *.")
        return cls(f"*.{key}", key, 2 * _labels(key) + 1, "", f".{key}")

    @property
    def host(self) -> str:
        """A host that it matches."""
        return self.key if self.matches(self.key) else f"a.{self.key}"

    def matches(self, host: str) -> bool:
        """Say whether a canonical host is meant."""
        return host == self._itself or host.endswith(self._below)

    def covers(self, other: "HostPattern") -> bool:
        """Say whether this matches whatever the other matches."""
        return self.text == other.text or self.matches(other.key)

    def meets(self, other: "HostPattern") -> bool:
        """Say whether some host matches both."""
        return self.key == other.key or self.matches(other.key) or other.matches(self.key)


def _authority(text: str) -> str:
    """Return what an URL has between its scheme and its path, without a user and a password."""
    authority = re.split(r"[/?#]", _SCHEME.sub("", text, count=1), maxsplit=1)[0]
    host = authority.rpartition("@")[2]
    if text.startswith("@"):  # the empty user of URLs, and to us how the name of a group begins
        raise refusal(f"@{host}", "it is the name of a group")
    if "\\" in authority:  # where the path begins to browsers, part of the host to others
        raise refusal(host, "there is a backslash before its end")
    return host


def _without_port(authority: str) -> str:
    host, colon, port = authority.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):  # no port, or an address of IPv6
        return authority
    if not _PORT.fullmatch(port) or int(port) > HIGHEST_PORT:
        raise refusal(authority, "after the colon stands no port")
    return host


def _bare(text: str) -> str:
    """Return what stands in a policy; UsageError where it is an URL, has a port or a final dot."""
    if _ADDRESS_PART.search(text):
        hint = "write the host alone, as in books.example"
        raise UsageError(f"{text!r} has a scheme, a user, a port or a path", hint)
    if text.endswith("."):
        raise UsageError(f"{text!r} ends with a dot", "leave out the final dot")
    return text


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
        found = kind(address)
    except ValueError as error:
        raise refusal(text, "it is no address either") from error
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.scope_id is not None:
        raise refusal(text, "a zone (after %) is known to one machine only")
    return str(found.ipv4_mapped or found)


def _is_alone(host: str) -> bool:
    """Say whether nothing is below a canonical host: it is an address, or localhost."""
    return ":" in host or host == LOCAL or host.rpartition(".")[2].isdigit()


def _labels(key: str) -> int:
    """Return how many labels a domain has; more than any domain has for an address."""
    return NAME_LENGTH if _is_alone(key) else key.count(".") + 1


@functools.cache
def _registrable() -> Callable[[str], str | None]:
    """Load the list of public suffixes, once."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList().privatesuffix
