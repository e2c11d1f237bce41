"""Addresses to search that browsers can use, and those that a policy rules (FORMAT.md). Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from agent.errors import UsageError
from policy.hosts import HIGHEST_PORT, host_of
from policy.match import Rulebook

SLOT = "{query}"
LONGEST = 2000  # characters of an address
WRITE = f"write it like https://search.example/find?q={SLOT}"

_OF_THIS_MACHINE = re.compile(r"(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|::1")
_FORM = re.compile(r"(https?)://([^/?#\\]+)(/[^?#]*)?\?([^?#][^#]*)")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?")
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)  # which browsers take out
_NAME = re.compile(r"[A-Za-z0-9._-]+")  # what is the same however a browser writes it
_CODED = re.compile(r"%([0-7][0-9A-Fa-f])")
_FIXED = re.compile(r"(?:[A-Za-z0-9._~!$()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """Where a recipient is searched: its canonical ``host``, and the address as browsers write it.

    ``{query}`` is in ``text`` once, as the whole value of one parameter of the query string.
    """

    host: str
    text: str

    @classmethod
    def parse(cls, text: str) -> "Search":
        """Return the search at an address; UsageError where a browser could not tell it.

        There is no user and no fragment in it, and nothing that browsers write in another way; a
        host in any script is written in punycode, and a usual port is left out.
        Source: RFC 3986, 3; WHATWG URL, 4.4.
        """
        _check_length(text)
        if in_clear(text):
            raise _unfit("it is not https, so the network would read what it carries")
        found = _FORM.fullmatch(text)
        if found is None or text.count(SLOT) != 1:
            raise _unfit(f"it is no web address with {SLOT} once, after the ?")
        scheme, authority, path, rest = found.groups(default="/")
        host, port = _place(authority)
        if not _PATH.fullmatch(path) or _DOTS.search(path):
            raise _unfit("browsers write its path in another way")
        _check_parameters(rest)
        shown = f"[{host}]" if ":" in host else host
        place = shown if port in (None, _USUAL_PORTS[scheme]) else f"{shown}:{port}"
        written = f"{scheme}://{place}{path}?{rest}"
        _check_length(written)  # punycode is longer
        return cls(host, written)


def in_clear(text: str) -> bool:
    """Say whether the network reads what is sent to an address: not https, nor this machine's http.

    A host alone says nothing of that.
    """
    scheme, separator, _ = text.lower().partition("://")
    if not separator or scheme == "https":
        return False
    try:
        return scheme != "http" or _OF_THIS_MACHINE.fullmatch(host_of(text)) is None
    except UsageError:
        return True


def usable(text: str) -> Search | None:
    """Return the search at an address, None where a browser could not tell it."""
    try:
        return Search.parse(text)
    except UsageError:
        return None


def searches(book: Rulebook, today: date) -> Iterator[Search]:
    """Yield the searches of a policy that browsers can use, of recipients that get anything.

    Each is of the rule that decides about its own host on that day; some may come twice.
    """
    for rule in book.policy.rules:
        text = rule.settings.get("search")
        search = usable(text) if isinstance(text, str) and not rule.is_over(today) else None
        if search is None or book.refusing(search.host, today):
            continue
        if book.match(search.host, "", today).settings["search"].value == text:
            yield search


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise _unfit(f"it has more than {LONGEST} characters")


def _place(authority: str) -> tuple[str, int | None]:
    """Return the canonical host, and the port if there is one."""
    if "@" in authority:
        raise _unfit("there is a user in it")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise _unfit("its host or its port is none")
    port = None if found[2] is None else int(found[2])
    if port is not None and not 0 < port <= HIGHEST_PORT:
        raise _unfit(f"{port} is no port")
    return host_of(found[1]), port


def _check_parameters(rest: str) -> None:
    """Raise UsageError where {query} is not the whole value of one parameter with that name."""
    parts = rest.split("&")
    name, _, slot = next(part for part in parts if SLOT in part).partition("=")
    if slot != SLOT or not _NAME.fullmatch(name):
        raise _unfit(f"{SLOT} is not the whole value of a parameter")
    others = [part for part in parts if SLOT not in part]
    if not all(map(_FIXED.fullmatch, others)):
        raise _unfit("browsers write what is after its ? in another way")
    if name in (_decoded(part.partition("=")[0]) for part in others):
        raise _unfit(f"it has the parameter {name} twice")


def _decoded(name: str) -> str:
    return _CODED.sub(lambda found: chr(int(found[1], 16)), name)


def _unfit(why: str) -> UsageError:
    return UsageError(f"browsers cannot use this search: {why}", WRITE)
