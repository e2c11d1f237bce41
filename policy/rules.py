"""A policy as a value: rules, the patterns that they match by, and groups of recipients."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from fnmatch import fnmatchcase
from itertools import chain
from typing import NamedTuple

from agent.errors import UsageError, nearest, normalise
from policy.families import ASKED_ONCE, families
from policy.hosts import ANYBODY, ASSISTANT, ENGINE, KINDS, LOCAL, HostIndex, HostPattern, host_of
from policy.services import assistants, engines, meant_by, owned_with
from policy.settings import DEFAULTS, DaemonSettings, Value
from policy.toml_text import line_of

EXACT = 1 << 20  # more specific than any pattern
FACT = "#"  # before the id of a fact
_FORM = re.compile(r"@[a-z]+|#[0-9a-z]{1,32}|[a-z*][a-z0-9_*]*")
MOST_CHARACTERS = 200
# Scripts without spaces: Thai, Lao, Burmese, Khmer, kana, bopomofo, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UNSEEN = dict.fromkeys((0x034F, *range(0xFE00, 0xFE10)), "")  # joiners, variants
_BREAK = "\u200b"  # of a word, which is not seen
_NAMING = "#+"  # as in c++ and c#
KeyPath = tuple[str | int, ...]
ANY = 0  # the rank of a part that a rule leaves out
KIND = 1  # the rank of a kind of recipient, and of a group as hosts: below that of any pattern
POOL = EXACT  # the rank of whatever is in one pool: above that of a pattern for several owners
Groups = Mapping[str, tuple[HostPattern, ...]]
SIGN = "@"  # before the name of a group, where a host may stand as well


@dataclass(frozen=True, slots=True)
class NamePattern:
    """The name of an attribute or a topic, ``#`` and the id of a fact, or what stands for several.

    ``*`` in it stands for any characters or none, ``@`` and the name of a family for all in that.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> "NamePattern":
        """The pattern; UsageError where no attribute can have such a name, or no such family is."""
        if not _FORM.fullmatch(text):
            hint = "a name has small letters, digits and _; * stands for any of them"
            raise UsageError(f"{text!r} is not an attribute name", hint)
        known = [SIGN + each for each in families()]
        if text.startswith(SIGN) and text not in known:
            raise UsageError.unknown("family", text, known)
        return cls(text)

    @property
    def rank(self) -> int:
        """How specific it is: the more characters it fixes the more, a family, a name, an id."""
        if "*" in self.text:
            return len(self.text.replace("*", "")) + 1
        return EXACT + {SIGN: -1, FACT: 1}.get(self.text[0], 0)

    def matches(self, name: str) -> bool:
        """Whether it is this name, or stands for it. Linear in the name."""
        if self.text.startswith(SIGN):
            return name in families()[self.text[1:]]
        return fnmatchcase(name, self.text)


def spoken(text: str, *, keep: str = "") -> str:
    """The words of a text, normalised: punctuation, symbols and U+200B are spaces, # and + stay.

    Whatever is written in more than one way must not slip past a block. ``keep``: more characters
    that stay. Idempotent.
    """
    plain = normalise(text.replace(_BREAK, " ")).translate(_UNSEEN)
    plain = plain.replace("i\u0307", "i")  # what a dotted I folds to
    kept = (each if _is_word(each) or each in _NAMING + keep else " " for each in plain)
    return " ".join("".join(kept).split())


@dataclass(frozen=True, slots=True)
class Words:
    """Words that stand side by side in a query, whole; ``*`` ends a word that may go on.

    A word is a run of letters, digits and the marks on them; in scripts without spaces
    every letter is one. Punctuation is white space in both, but # and + stand in the query as in
    the pattern, and are whole anywhere: ``c`` and ``c++`` are both found in "c++11".
    """

    text: str
    _pieces: tuple[str, ...] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> "Words":
        """The pattern; UsageError where no query could match, or ``*`` ends no word."""
        words = spoken(text, keep="*")
        if len(words) > MOST_CHARACTERS:
            what = f"a query of a policy has more than {MOST_CHARACTERS} characters"
            raise UsageError(what, "write fewer words, or several patterns")
        if not any(each.isalnum() for each in words):
            given = normalise(text)[:MOST_CHARACTERS]
            raise UsageError(f"{given!r} has no letter and no digit", "write words of a query")
        around = zip(f" {words}", words, f"{words[1:]} ", strict=False)
        if any(star == "*" and (not _is_word(one) or _is_word(two)) for one, star, two in around):
            hint = "write * only for the rest of a word, as in pregnan*"
            raise UsageError(f"{words!r} has a * that does not end a word", hint)
        return cls(words, tuple(words.split("*")))

    @property
    def rank(self) -> int:
        """How specific it is: its characters that are neither ``*`` nor white space."""
        return len(self.text) - self.text.count("*") - self.text.count(" ")

    def matches(self, query: str) -> bool:
        """Whether a query, as `spoken` returns it, has the words."""
        head = self._pieces[0]
        at = query.find(head)
        while at >= 0:
            if not _joined(query, at) and self._stand(query, at + len(head)):
                return True
            at = query.find(head, at + 1)
        return False

    def _stand(self, query: str, at: int) -> bool:
        """Whether from `at`, where the first piece ends, the others follow to a word's end.

        Each begins where a word ends, so there is one place to look, and time is linear.
        """
        for piece in self._pieces[1:]:
            while _joined(query, at):
                at += 1
            if not query.startswith(piece, at):
                return False
            at += len(piece)
        return not _joined(query, at)


def topic_pattern(text: str) -> NamePattern:
    """A topic by its name or title, as `spoken` returns it, or a family; UsageError for neither."""
    words = spoken(text)
    if not 0 < len(words) <= MOST_CHARACTERS:
        hint = f"write its name or title, or one of {', '.join(families())}"
        raise UsageError(f"{normalise(text)[:MOST_CHARACTERS]!r} is not a topic", hint)
    return NamePattern(SIGN + words if words in families() else words)


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and at a place are of one word."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (_is_word(before) and _is_word(after)):
        return False
    return _is_mark(after) or not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _is_word(character: str) -> bool:
    return character.isalnum() or _is_mark(character)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


class Layer(IntEnum):
    """Where a rule comes from; between equally specific rules, the later layer wins."""

    DEFAULTS = 0
    PRESET = 1
    FILE = 2


class Reach(NamedTuple):
    """How specific a rule is for one request and attribute (FORMAT.md, "Which rule decides")."""

    recipient: int
    attribute: int
    query: int
    topic: int = ANY

    @property
    def is_exact(self) -> bool:
        """Whether the rule names the attribute itself, or the one fact."""
        return self.attribute >= EXACT


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule: its ``settings`` hold where each part of it that is not empty matches.

    ``name``: what to call it; ``source`` and ``path``: the file it is from, and its key there;
    ``expires``: the last day on which it holds, None for no end; ``excepted``: recipients for which
    it does not hold; ``hours``, ``days``, ``doors``: when, and at which doors, it holds alone.
    """

    name: str
    settings: Mapping[str, Value]
    layer: Layer
    source: str
    path: KeyPath = ()
    recipients: tuple[HostPattern, ...] = ()
    groups: tuple[str, ...] = ()
    attributes: tuple[NamePattern, ...] = ()
    queries: tuple[Words, ...] = ()
    topics: tuple[NamePattern, ...] = ()
    expires: date | None = None
    excepted: tuple[HostPattern | str, ...] = ()
    hours: str = ""
    days: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """For what it holds: what each of its parts lists, but for the empty ones."""
        parts = {
            "recipient": (*(each.text for each in self.recipients), *self.groups),
            "attribute": tuple(each.text for each in self.attributes),
            "query": tuple(each.text for each in self.queries),
            "topic": tuple(each.text for each in self.topics),
            "expires": () if self.expires is None else (str(self.expires),),
            "except": tuple(e if isinstance(e, str) else e.text for e in self.excepted),
            "hours": (self.hours,) if self.hours else (),
            "days": self.days,
            "door": self.doors,
        }
        return {key: texts for key, texts in parts.items() if texts}

    @property
    def conditions(self) -> dict[str, str]:
        """The same, each part as it is written in a file."""
        return {key: ", ".join(texts) for key, texts in self.parts.items()}

    @property
    def is_own(self) -> bool:
        """Whether it is of the user's file."""
        return self.layer is Layer.FILE

    @property
    def anywhere(self) -> bool:
        """Whether it names no recipient."""
        return not (self.recipients or self.groups)

    @property
    def lasting(self) -> bool:
        """Whether it holds for every request, on every day."""
        return not self.parts.keys() - {"attribute"}

    @property
    def blocks(self) -> bool:
        """Whether it blocks queries or topics, and so wins over everything."""
        return bool(self.queries or self.topics) and self.settings.get("nothing") is True

    @property
    def withholds(self) -> bool:
        """Whether it keeps something from being sent, or makes it dearer."""
        own = self.settings
        kept = {"never", "ask"} & {own.get("disclose"), own.get("own")}
        stricter = bool(kept) or True in (own.get("nothing"), own.get("coarse"))
        return stricter or any(float(own.get(key, 0)) > 0 for key in ("sensitivity", "guard"))

    def is_about(self, names: Iterable[str]) -> bool:
        """Whether it is about an attribute that has these names."""
        return not self.attributes or any(e.matches(n) for e in self.attributes for n in names)

    @property
    def family(self) -> str | None:
        """The family of ASKED_ONCE that it is about, if a preset has it."""
        texts = {each.text for each in self.attributes if self.layer is Layer.PRESET}
        return next(filter(texts.__contains__, ASKED_ONCE), None)

    def line_in(self, lines: Mapping[KeyPath, int], *path: str | int) -> int | None:
        """The line of what it has at a path, None where it is not of the file."""
        return line_of(lines, (*self.path, *path)) if self.layer is Layer.FILE else None

    def is_over(self, today: date) -> bool:
        """Whether its last day has passed."""
        return self.expires is not None and self.expires < today


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """The rules of a file, of its preset and of the defaults.

    ``groups``: recipients that pool what they learn, by name; ``lists``: others that have a name;
    ``trusted_keys``: of makers of models, empty where no signature is asked for; ``daemon``: how it
    behaves; ``judge``: of which facts help, its settings by key, empty without one; ``text``: of
    the file, to find lines in; ``contexts``: each as `Contexts` has it; ``tests``: what is to come
    true, as rules; ``together``: each as a rule on its facts, with the price as its setting.
    """

    source: str
    rules: tuple[Rule, ...]
    groups: Mapping[str, tuple[HostPattern, ...]] = field(default_factory=dict)
    lists: Mapping[str, tuple[HostPattern | str, ...]] = field(default_factory=dict)
    trusted_keys: tuple[str, ...] = ()
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    judge: Mapping[str, str] = field(default_factory=dict)
    text: str = field(default="", repr=False)
    contexts: tuple[Rule, ...] = ()
    tests: tuple[Rule, ...] = ()
    together: tuple[Rule, ...] = ()

    @property
    def names_topics(self) -> bool:
        """Whether any rule names a topic, so that what a query means decides about it."""
        return any(rule.topics for rule in self.rules)

    @property
    def models(self) -> frozenset[str]:
        """The names of all models that rules choose."""
        chosen = (rule.settings.get("population") for rule in self.rules)
        return frozenset(str(name) for name in chosen if name is not None)

    def host_for(self, rule: Rule) -> str:
        """A host that a rule is for; one that no rule names where it is for all."""
        members = (each for name in rule.groups for each in self.groups.get(name, ()))
        for pattern in chain(rule.recipients, members):
            return pattern.host
        return KINDS.get(rule.groups[0], ANYBODY) if rule.groups else ANYBODY

    def kinds(self) -> HostIndex[str]:
        """The kind of each recipient but for any other site: by a rule, or by what it is."""
        domains = chain.from_iterable(each.domains for each in engines().values())
        listed = chain.from_iterable((each.recipient, *each.domains) for each in assistants())
        kinds = {
            ASSISTANT: [*map(HostPattern, (KINDS[ASSISTANT], *listed))],
            ENGINE: [*map(HostPattern, (KINDS[ENGINE], *domains))],
        }
        for rule in self.rules:
            is_assistant = rule.settings.get("assistant") is True
            if is_assistant or rule.settings.keys() & {"search", "engine"}:
                kind = kinds[ASSISTANT if is_assistant else ENGINE]
                kind += chain(rule.recipients, *(self.groups.get(e, ()) for e in rule.groups))
        return HostIndex((each, kind) for kind, patterns in kinds.items() for each in patterns)


DEFAULT_RULE = Rule("the defaults", DEFAULTS, Layer.DEFAULTS, "reticent")
NAMELESS = Rule("no rule can name it", {"nothing": True}, Layer.DEFAULTS, "reticent")
"""Holds for a bare name that no group has."""


class Pools:
    """Which recipients share what they learn, indexed for fast lookups."""

    def __init__(self, groups: Groups) -> None:
        """Take the groups, which have no recipient in common."""
        self._groups = groups
        self._members = HostIndex((each, name) for name, its in groups.items() for each in its)

    def of(self, host: str) -> str:
        """Who shares what a host learns: ``@`` and its group, or its registered domain.

        The domains of a company are one recipient: the first, or the group that any is in. So is
        whatever means this machine.
        """
        group, owner = self.group(host), owned_with(host)[0]
        return owner if group is None else SIGN + group

    def group(self, host: str) -> str | None:
        """The group that a host belongs to, by any domain of its owner."""
        found = chain.from_iterable(map(self._members.find, owned_with(host)))
        return next((name for name, _ in found), None)

    def lacks(self, host: str) -> bool:
        """Whether a host is a bare name, which only a group could have, and none has it."""
        return is_group(host) and self.group(host) is None

    def domains(self, host: str) -> frozenset[str]:
        """A host of each domain in the pool of a host, and that host."""
        owners = (host, *(each.host for each in self._groups.get(self.group(host) or "", ())))
        return frozenset((host, *chain.from_iterable(map(owned_with, owners))))

    def named(self, recipient: str | HostPattern) -> str | None:
        """The pool of which a rule names a part or all, or the kind; None for several owners."""
        if isinstance(recipient, HostPattern):
            return None if recipient.site is None else self.of(recipient.site)
        return recipient if recipient in KINDS else SIGN + recipient


def recipient(text: str, groups: Collection[str]) -> str | HostPattern:
    """The recipient of a rule: a pattern, or the name of a group, also after @, or of a kind.

    UsageError where it is none of these, with the assistant that it may mean.
    """
    name = text.strip().removeprefix(SIGN)
    if not is_group(name):
        return HostPattern.parse(text)
    if name not in (known := [*groups, *KINDS]):
        is_assistant = meant_by(name) is not None and nearest(name, known) is None
        raise bare(name) if is_assistant else UsageError.unknown("group", name, known)
    return name


def named_host(text: str, groups: Groups) -> str:
    """The canonical host that a user names; UsageError as `host_of`, and for a bare name."""
    host = host_of(text)
    if Pools(groups).lacks(host):
        raise bare(host)
    return host


def bare(name: str) -> UsageError:
    """The error for a name without a dot that no group has, with the assistant it may mean."""
    near, hint = meant_by(name), "write its domain, or add it to a group in the policy"
    hint = f"did you mean {near}?" if near else hint
    return UsageError(f"{name!r} is no recipient: it has no dot", hint)


def is_group(recipient: str) -> bool:
    """Whether a policy takes this for the name of a group: nothing in it is of a host."""
    return not {*recipient} & {*".:*"} and recipient.strip().lower() != LOCAL
