"""The user's word: in memory for the next request, or as a managed rule of the policy. Pure.

A word that lasts takes what it is about out of the older managed rules for the same recipients,
since of equally specific rules the stricter would win, whatever came last. Other rules stay as they
are, and `outcome` names those that win. A word for everyone and for good is the attribute's entry.
A guarded attribute stays guarded, whatever the user says.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from types import MappingProxyType
from typing import get_args

from agent.decision.terms import Terms
from agent.decision.values import Decision
from agent.errors import UsageError
from agent.wire.policy import Disclose, Ruled, Word
from policy.amend import SHORT, Entry, RuleScope, free_name, with_settings
from policy.hosts import HostPattern, site_of
from policy.match import GUARDED, Attributes, Rulebook, Ruling, Verdict, may
from policy.read import called, preset, read
from policy.rules import SIGN, Layer, Policy, Pools, Rule, is_group
from policy.toml_text import lines_of, parsed, rewritten

VERBS: Mapping[Disclose, str] = {
    "auto": "approved",
    "never": "denied",
    "ask": "asked",
    "always": "always",
}
OPENNESS: tuple[Disclose, ...] = get_args(Disclose)  # the strictest first
OWN_WORD = Rule("your own word", MappingProxyType({}), Layer.FILE, "")  # stands in no file
LONGEST = 120  # characters of a recipient in a name, which has at most 200
_NUMBERED = re.compile(r"(?: \([0-9]+\))?")


@dataclass(frozen=True, slots=True)
class Instruction:
    """The user's word on attributes, from now on.

    ``host``: canonical, and with it all that it pools with, unless it is for ``everyone``;
    ``names``: of the attributes, each with all that it goes by; ``query``: of the request that it
    is about; ``until``: the last day, None for no end; ``answers``: whether it answers a review,
    and so opens only what is ruled `ask`.
    """

    host: str
    disclose: Disclose
    names: Attributes = field(default_factory=dict)
    query: str = ""
    everyone: bool = False
    until: date | None = None
    answers: bool = False

    @property
    def called(self) -> frozenset[str]:
        """All that any model calls what it is about."""
        return frozenset(chain.from_iterable(each.names for each in self.names.values()))

    @property
    def concepts(self) -> frozenset[str]:
        """What it is about, under the names that models share."""
        return frozenset(chain.from_iterable(each.concepts for each in self.names.values()))

    @property
    def approves(self) -> bool:
        """Whether it is a yes to what waits."""
        return self.answers and self.disclose == "auto"


def instruction(
    word: Word, host: str, names: Attributes, today: date, query: str | None = None
) -> Instruction:
    """Read a word about a canonical host; ``query``: of the review that it answers, if it does.

    UsageError where the number of days is missing, or given without need.
    """
    if (word.lasting == "days") != (word.days is not None):
        raise UsageError("days goes with lasting=days", "give both or neither")
    return Instruction(
        host,
        word.disclose,
        names,
        query or "",
        everyone=word.about == "everyone",
        until=None if word.days is None else today + timedelta(days=word.days),
        answers=query is not None,
    )


@dataclass(frozen=True, slots=True)
class Preference:
    """The user's word on one fact, by its concept, for the next request that it changes.

    ``pool``: for whom, None for everyone; ``ruled``: what the policy ruled of it then. It holds
    where the policy still rules that, or something more open than the word. An approval is used up
    when the fact is first sent, a denial of what is ruled `ask` when it would have been asked for,
    another word by the next request that is decided.
    """

    concept: str
    pool: str | None
    disclose: Disclose
    ruled: Disclose

    def holds(self, ruled: Disclose) -> bool:
        """Say whether it holds where the policy rules this now."""
        is_closing = OPENNESS.index(ruled) > OPENNESS.index(self.disclose)
        return ruled != self.disclose and (is_closing or ruled == self.ruled)


Preferences = tuple[Preference, ...]  # the oldest first


def ruled_of(ruling: Ruling, name: str) -> Disclose | None:
    """Say how an attribute is disclosed, None where it is guarded or not in the ruling."""
    verdicts = ruling.attributes.get(name)
    value = GUARDED if verdicts is None else may(verdicts)
    return None if value == GUARDED else OPENNESS[OPENNESS.index(value)]


def holding(preferences: Preferences, ruling: Ruling) -> Mapping[str, Preference]:
    """Find the latest preference that holds for each attribute, whatever it was called."""
    latest: dict[str, Preference] = {}
    for each in preferences:
        if each.pool not in (None, ruling.pool):
            continue
        for name, attribute in ruling.known.items():
            ruled = ruled_of(ruling, name) if each.concept in attribute.concepts else None
            if ruled is not None and each.holds(ruled):
                latest[name] = each
    return latest


def denied_once(preferences: Preferences, ruling: Ruling) -> frozenset[str]:
    """Name what a ruling would ask for, and the user denied for once."""
    return frozenset(
        name
        for name, each in holding(preferences, ruling).items()
        if each.disclose == "never" and ruled_of(ruling, name) == "ask"
    )


def applied(terms: Terms, preferences: Preferences) -> Terms:
    """Apply the user's preferences to the terms.

    What is denied once still waits: it is not sent, and the decision shows that the request would
    have asked.
    """
    ruling = terms.ruling
    if ruling is None:
        return terms
    denied = denied_once(preferences, ruling)
    new = {
        name: each.disclose
        for name, each in holding(preferences, ruling).items()
        if name not in denied
    }
    if not new:
        return terms

    def with_new(before: frozenset[str], value: Disclose) -> frozenset[str]:
        return before.difference(new).union(name for name in new if new[name] == value)

    verdicts = {
        name: {**ruling.attributes[name], SHORT: Verdict(value, OWN_WORD)}
        for name, value in new.items()
    }
    return replace(
        terms,
        excluded=with_new(terms.excluded, "never"),
        ask=with_new(terms.ask, "ask"),
        always=with_new(terms.always, "always"),
        ruling=replace(ruling, attributes={**ruling.attributes, **verdicts}),
    )


def used_up(preferences: Preferences, decision: Decision, ruling: Ruling) -> Preferences:
    """Remove the preferences that a decision uses up."""
    new = {*decision.disclosed}.difference(decision.again)
    waiting = decision.waiting
    denied, used = denied_once(preferences, ruling), set[Preference]()
    for name, each in holding(preferences, ruling).items():
        ruled = ruled_of(ruling, name) or each.ruled
        if name in denied:
            is_used = name in waiting
        elif OPENNESS.index(each.disclose) > OPENNESS.index(ruled):
            is_used = name in new
        else:
            is_used = decision.code == "answered"
        used |= {each} if is_used else set()
    return tuple(each for each in preferences if each not in used)


def without_word(preferences: Preferences, word: Instruction, pool: str | None) -> Preferences:
    """Remove the preferences that an instruction replaces; ``pool``: None for everyone."""
    return tuple(
        each
        for each in preferences
        if each.concept not in word.concepts or pool not in (None, each.pool)
    )


def with_word(
    preferences: Preferences, word: Instruction, pool: str | None, ruling: Ruling
) -> Preferences:
    """Add an instruction for the next request, of which this is the ruling."""
    new = list[Preference]()
    for name, attribute in word.names.items():
        ruled = "ask" if word.answers else ruled_of(ruling, name)
        if ruled is not None:
            new += [Preference(e, pool, word.disclose, ruled) for e in sorted(attribute.concepts)]
    return (*without_word(preferences, word, pool), *new)


@dataclass(frozen=True, slots=True)
class ManagedRule:
    """A rule that the user's word made: ``recipient`` as a policy names it, None for everyone.

    ``until``: the last day, None for no end; ``name``: of the rule; ``place``: among the rules.
    """

    recipient: str | None
    names: tuple[str, ...]
    disclose: Disclose
    until: date | None = None
    name: str = ""
    place: int = -1

    @property
    def title(self) -> str:
        """What the rule is called, unless another has that name."""
        whom = "everyone"
        if self.recipient is not None:
            sign = SIGN if is_group(self.recipient) else ""
            whom = f"{sign}{self.recipient[-LONGEST:]}"
        end = "" if self.until is None else f" until {self.until}"
        return f"{VERBS[self.disclose]} for {whom}{end}"

    def is_like(self, other: "ManagedRule") -> bool:
        """Say whether one rule can say both."""
        own = (self.recipient, self.disclose, self.until)
        return own == (other.recipient, other.disclose, other.until)

    def table(self) -> dict[str, Entry]:
        """Write the rule as TOML has it."""
        table: dict[str, Entry] = {"name": self.name}
        if self.recipient is not None:
            table["recipient"] = self.recipient
        table |= {"attribute": [*self.names], SHORT: self.disclose}
        if self.until is not None:
            table["expires"] = self.until
        return table


def managed_rules(text: str) -> list[ManagedRule]:
    """Find the rules of a policy that the user's word made and that stand as it made them."""
    managed = []
    for place, table in enumerate(parsed(text).get("rule", [])):
        name, recipient = table.get("name"), table.get("recipient")
        names, until, disclose = table.get("attribute"), table.get("expires"), table.get(SHORT)
        if not isinstance(name, str) or not isinstance(recipient, str | None):
            continue
        if disclose in VERBS and isinstance(names, list):
            rule = ManagedRule(recipient, tuple(names), disclose, until, name, place)
            numbered = _NUMBERED.fullmatch(name.removeprefix(rule.title))
            if rule.table() == table and name.startswith(rule.title) and numbered:
                managed.append(rule)
    return managed


def recipient_of(pool: str) -> str:
    """Name a pool as a policy does; UsageError where no rule can mean it and nobody else."""
    if pool.startswith(SIGN):
        return pool.removeprefix(SIGN)
    if is_group(pool):
        hint = "add it to a group in the policy and try again"
        raise UsageError(f"no rule can name {pool!r}, which has no dot", hint)
    below = f"x.{pool}"
    if HostPattern.parse(pool).matches(below) and site_of(below) != pool:
        what = f"a rule for {pool!r} would apply to everyone registered below it"
        raise UsageError(what, "if that is what you want, write the rule by hand")
    return pool


def owner_of(policy: Policy, host: str) -> str:
    """Name the owner of a host as a policy does, without the rest of its group.

    UsageError where no rule can mean it and nobody else.
    """
    site = site_of(host)
    return recipient_of(Pools(policy.groups).of(host) if is_group(site) else site)


def with_block(text: str, policy: Policy, host: str, until: date | None = None) -> str:
    """Write into a policy that a host's owner gets nothing; UsageError as in `rewritten`."""
    where = RuleScope(recipient=owner_of(policy, host), expires=until)
    return with_settings(text, policy, where, {"nothing": True})


def with_instruction(text: str, policy: Policy, word: Instruction, today: date) -> str:
    """Write into a policy what the user wants, comments kept.

    UsageError where no rule can mean the recipient alone, and as in `rewritten`.
    """
    pool = None if word.everyone else recipient_of(Pools(policy.groups).of(word.host))
    rule, document, bare = (
        ManagedRule(pool, (), word.disclose, word.until),
        parsed(text),
        parsed(text),
    )
    for old in managed_rules(text):
        bare["rule"][old.place] = None
        if pool in (None, old.recipient) and not rule.is_like(old):
            rest = tuple(each for each in old.names if each not in word.called)
            document["rule"][old.place] = replace(old, names=rest).table() if rest else None
    by_hand = read(rewritten(text, bare), policy.source, preset)
    text = rewritten(text, document)
    policy = read(text, policy.source, preset)
    ruled = ruling_of(by_hand, word, today).attributes
    # An answer does not open what somebody has closed by hand since then.
    names = [each for each in word.names if not word.approves or may(ruled[each]) == "ask"]
    if word.everyone and word.until is None:
        for name in names:
            entries = parsed(text).get("attributes", {}).keys() & word.names[name].names
            for each in sorted(entries) or [name]:
                where = RuleScope(attribute=each)
                text = with_settings(text, policy, where, {SHORT: word.disclose})
                policy = read(text, policy.source, preset)
        return text
    document = parsed(text)
    like = next((each for each in managed_rules(text) if rule.is_like(each)), None)
    if like is not None:
        all_names = tuple(dict.fromkeys((*like.names, *names)))
        document["rule"][like.place] = replace(like, names=all_names).table()
    elif names:
        title = free_name(document, rule.title)
        new = replace(rule, names=tuple(names), name=title).table()
        document.setdefault("rule", []).append(new)
    return rewritten(text, document)


def outcome(policy: Policy, word: Instruction, today: date) -> Ruled:
    """Say what a policy makes of an instruction, once it says it."""
    ruled = {name: each[SHORT] for name, each in ruling_of(policy, word, today).attributes.items()}
    allowed = {"auto", "always"} if word.approves else {word.disclose}
    losing = {name: each.rule.name for name, each in ruled.items() if each.value not in allowed}
    winning = [each.rule.name for name, each in ruled.items() if name not in losing]
    return Ruled(
        written=winning[0] if winning else None,
        without_effect=[*losing],
        decided_by=[*losing.values()],
    )


def check_effect(before: Policy, after: Policy, word: Instruction, today: date) -> None:
    """Raise UsageError, naming what decides, where an instruction would have no effect at all."""
    losing = outcome(after, word, today)
    if len(losing.without_effect) < len(word.names):
        return
    name, winner = losing.without_effect[0], losing.decided_by[0]
    rule = next((each for each in before.rules if each.name == winner), None)
    if rule is not None:
        winner = called(rule, lines_of(before.text), SHORT)
    or_alone = ", or decide for this recipient alone" if word.everyone else ""
    what = f"this would have no effect: {winner} decides about {name}"
    raise UsageError(what, f"change that by hand{or_alone}", before.source)


def ruling_of(policy: Policy, word: Instruction, today: date) -> Ruling:
    """Apply a policy to the request that an instruction is about."""
    return Rulebook(policy, word.names).match(word.host, word.query, today)


def check_open(policy: Policy, word: Instruction, today: date) -> Ruling:
    """Apply a policy to the request that an instruction is about.

    UsageError where an attribute is guarded, or where the recipient that it allows gets nothing.
    """
    ruling = ruling_of(policy, word, today)
    for name in word.names:
        verdicts = ruling.attributes[name]
        if may(verdicts) == GUARDED:
            what = f"{name} is guarded by {verdicts['guard'].rule.name!r}, so it is never sent"
            raise UsageError(what, "to allow it, remove the guard from the policy")
    nothing = ruling.settings["nothing"]
    if nothing.value is True and word.disclose != "never" and not word.everyone:
        what = f"{ruling.host} gets nothing, by {nothing.rule.name!r}, so this has no effect"
        hint = f"`reticent policy block --undo {ruling.host}` lifts a block"
        raise UsageError(what, f"{hint}, or change that rule")
    return ruling
