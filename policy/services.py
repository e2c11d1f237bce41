"""Services that are known by name or by address: search engines, searches, and assistants. Pure.

engines.toml lists the engines that take the language and the country of a search in its address:
nothing of it is in use until a rule says `carry = "parameters"`. assistants.toml lists those that
the user may choose from: the extension has a copy of it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from itertools import chain
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from agent.errors import UsageError
from policy.hosts import HIGHEST_PORT, LOCAL, host_of, is_local, site_of, suffixes

BETWEEN = "-"  # the values that a parameter is of
SLOT = "{query}"
SHORT, ALIKE = 4, 0.75  # letters of a name that others only begin with; of difflib
LONGEST = 2000  # characters of an address
TOO_LONG = f"it has more than {LONGEST} characters"
WRITE = f"write it like https://search.example/find?q={SLOT}"
_FORM = re.compile(r"(https?)://([^/?#\\]+)(/[^?#]*)?\?([^?#][^#]*)")
_HOME = re.compile(r"(https?)://([^\s/?#@{}\\]+)/?")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?")
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)  # which browsers take out
_PARAMETER = re.compile(r"[A-Za-z0-9._-]+")  # what is the same however a browser writes it
_FIXED = re.compile(r"(?:[A-Za-z0-9._~!$()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_USUAL_PORTS = {"http": 80, "https": 443}


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """One parameter of an address; ``of``: the names of the attributes that it is made of.

    ``same``: values that are those of the attributes with BETWEEN between them, whatever their
    case; ``other``: the rest, by those.
    """

    name: str
    of: tuple[str, ...]
    same: tuple[str, ...] = ()
    other: dict[str, str] = {}

    @property
    def values(self) -> Mapping[str, str]:
        """What it can be, by the values of its attributes with BETWEEN between them."""
        return {each.lower(): each for each in self.same} | self.other

    def of_values(self, values: Mapping[str, str]) -> str | None:
        """Return its value; None where one of its attributes has none, or none is documented."""
        return self.values.get(BETWEEN.join(values.get(name, "") for name in self.of))


class SearchEngine(Struct, frozen=True, forbid_unknown_fields=True):
    """A search engine; ``domains``: one recipient; ``source``: where its makers document that."""

    title: str
    domains: tuple[str, ...]
    source: str
    parameters: tuple[Parameter, ...]

    def needs(self, names: Collection[str]) -> frozenset[str]:
        """List those of the attributes that its parameters can be made of, whatever the values."""
        whole = (each.of for each in self.parameters if {*each.of} <= {*names})
        return frozenset(name for of in whole for name in of)

    def address(self, values: Mapping[str, str]) -> dict[str, str]:
        """The parameters for the values of attributes, by name."""
        pairs = ((each.name, each.of_values(values)) for each in self.parameters)
        return {name: value for name, value in pairs if value is not None}


@cache
def engines() -> Mapping[str, SearchEngine]:
    """Every engine by the name that a rule has for it."""
    text = (files("policy") / "engines.toml").read_text("utf-8")
    return msgspec.toml.decode(text, type=dict[str, SearchEngine])


def engine_at(host: str) -> str | None:
    """The name of the engine at a canonical host, None where none is known to be."""
    return _names().get(site_of(host))


class Assistant(Struct, frozen=True, forbid_unknown_fields=True):
    """A well-known assistant, its site's ``address``, and whom rules name.

    ``domains``: where it answers as well; ``company``: others of its makers.
    """

    name: str
    address: str
    recipient: str
    domains: tuple[str, ...] = ()
    company: tuple[str, ...] = ()


@cache
def assistants() -> tuple[Assistant, ...]:
    """The well-known assistants."""
    text = (files("policy") / "assistants.toml").read_text("utf-8")
    return tuple(msgspec.toml.decode(text, type=dict[str, tuple[Assistant, ...]])["assistant"])


@cache
def companies() -> Mapping[str, tuple[str, ...]]:
    """By domain, all those that the same company has registered, as far as the tables say."""
    named = [each.domains for each in engines().values()]
    # Two labels are the site of each of these: a test knows, and the list of suffixes takes long.
    named += [(".".join(e.recipient.split(".")[-2:]), *e.domains, *e.company) for e in assistants()]
    companies = dict[str, tuple[str, ...]]()
    for domains in named:
        before = chain.from_iterable(companies.get(each, ()) for each in domains)
        whole = tuple(dict.fromkeys((*before, *domains)))
        companies |= dict.fromkeys(whole, whole)
    return companies


def owned_with(host: str) -> tuple[str, ...]:
    """The domains of whoever registered a canonical host, of which the first stands for all.

    Whatever means this machine has one: localhost.
    """
    site = LOCAL if is_local(host) else site_of(host)
    return companies().get(site, (site,))


def meant_by(name: str) -> str | None:
    """The domain of a well-known assistant that a name without a dot probably means."""
    domains = chain.from_iterable((each.recipient, *each.domains) for each in assistants())
    names = {each.partition(".")[0]: each for each in domains}
    names |= {each.name.casefold().replace(" ", ""): each.recipient for each in assistants()}
    plain = "".join(filter(str.isalnum, name.casefold()))
    begun = [each for each in names if len(each) > SHORT and plain.startswith(each)]
    near = begun or get_close_matches(plain, names, n=1, cutoff=ALIKE)
    return names[near[0]] if near else None


def codes(name: str) -> tuple[str, ...]:
    """The values of an attribute that any engine documents, in their order."""
    parameters = [each for engine in engines().values() for each in engine.parameters]
    naming = [(each.of.index(name), each.values) for each in parameters if name in each.of]
    return tuple(sorted({key.split(BETWEEN)[place] for place, values in naming for key in values}))


@cache
def _names() -> Mapping[str, str]:
    return {domain: name for name, each in engines().items() for domain in each.domains}


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """Where a recipient is searched: its canonical ``host``, and the address as browsers write it.

    ``{query}`` is in ``text`` once, as the whole value of one parameter of the query string.
    """

    host: str
    text: str

    @classmethod
    def parse(cls, text: str) -> "Search":
        """The search at an address; UsageError where a browser could not tell it.

        There is no user and no fragment in it, and nothing that browsers write in another way; a
        host in any script is written in punycode, and a usual port is left out.
        Source: RFC 3986, 3; WHATWG URL, 4.4.
        """
        if len(text) > LONGEST:
            raise _unfit(TOO_LONG)
        if in_clear(text):
            raise _unfit("it is not https, so the network could read what it carries")
        parts = _FORM.fullmatch(text)
        if parts is None or text.count(SLOT) != 1:
            raise _unfit(f"it is not a web address with {SLOT} once, after the ?")
        scheme, authority, path, rest = parts.groups(default="/")
        host, origin = _origin(scheme, authority)
        if not _PATH.fullmatch(path) or _DOTS.search(path):
            raise _unfit("browsers write its path in another way")
        _check_parameters(rest.split("&"))
        written = f"{origin}{path}?{rest}"
        if len(written) > LONGEST:  # punycode is longer
            raise _unfit(TOO_LONG)
        return cls(host, written)


def in_clear(text: str) -> bool:
    """Whether the network reads what is sent to an address: not https, nor this machine's http.

    A host alone says nothing of that.
    """
    scheme, separator, _ = text.lower().partition("://")
    if not separator or scheme == "https":
        return False
    try:
        return scheme != "http" or not is_local(host_of(text))
    except UsageError:
        return True


def usable(text: str) -> Search | None:
    """The search at an address, None where a browser could not tell it."""
    try:
        return Search.parse(text)
    except UsageError:
        return None


def home_of(text: str) -> tuple[str, str]:
    """The canonical host of a whole site's address, and its origin as browsers write it.

    UsageError where it is none, or where the network reads what is sent there.
    """
    parts = _HOME.fullmatch(text)
    if parts is None or in_clear(text):
        what = f"{text!r} is not the https address of a whole site"
        raise UsageError(what, "write it like https://chat.example/")
    return _origin(parts[1], parts[2])


def _origin(scheme: str, authority: str) -> tuple[str, str]:
    """The canonical host, and the origin as browsers write it."""
    if "@" in authority:
        raise _unfit("it has a user")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise _unfit("its host or port is not valid")
    port = None if parts[2] is None else int(parts[2])
    if port is not None and not 0 < port <= HIGHEST_PORT:
        raise _unfit(f"{port} is not a port")
    host = host_of(parts[1])
    place = f"[{host}]" if ":" in host else host
    place += "" if port in (None, _USUAL_PORTS[scheme]) else f":{port}"
    return host, f"{scheme}://{place}"


def _check_parameters(parts: Sequence[str]) -> None:
    """Raise UsageError where {query} is not the whole value of one parameter with that name."""
    name, _, slot = next(part for part in parts if SLOT in part).partition("=")
    if slot != SLOT or not _PARAMETER.fullmatch(name):
        raise _unfit(f"{SLOT} is not the whole value of a parameter")
    others = [part for part in parts if SLOT not in part]
    if not all(map(_FIXED.fullmatch, others)):
        raise _unfit("browsers write what is after its ? in another way")
    if any(unquote(part.partition("=")[0]) == name for part in others):
        raise _unfit(f"it has the parameter {name} twice")


def _unfit(why: str) -> UsageError:
    return UsageError(f"browsers cannot use this search: {why}", WRITE)


def own_search(text: str, host: str) -> str:
    """A search as browsers write it; UsageError as `own_address`."""
    search = Search.parse(text)
    _check_own(search.host, host, WRITE)
    return search.text


def own_address(text: str, host: str) -> str:
    """The address of a whole site as a rule has it; UsageError where it is not the host's.

    ``host``: canonical. A host below it is its own too, unless somebody else registered that.
    """
    named, origin = home_of(text)
    _check_own(named, host, "write the address of its whole site, like https://chat.example/")
    return f"{origin}/"


def _check_own(named: str, host: str, hint: str) -> None:
    if host not in suffixes(named) or site_of(named) != site_of(host):
        raise UsageError(f"{named} is not {host}, nor below it", hint)
