"""The user's word: in memory for the next request, or as a managed rule of the policy. Pure.

A word that lasts takes what it is about out of the older managed rules for the same recipients,
since of equally specific rules the stricter would win, whatever came last. Other rules stay as they
are, and `outcome` names those that win. A word for everyone and for good is the attribute's entry.
A guarded attribute stays guarded, whatever the user says.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import Any, get_args

from agent.decision.context import Terms, on_words
from agent.decision.own_facts import OwnFacts
from agent.decision.values import Decision
from agent.errors import UsageError
from agent.model.model import Model
from agent.wire.policy import Disclose, PolicyEdit, Ruled, Win
from policy import amend
from policy.amend import SHORT, RuleScope, add_rule, with_settings
from policy.conditions import request_of
from policy.families import TopicProbabilities
from policy.hosts import HostPattern
from policy.match import GUARDED, Attributes, Rulebook, Ruling, Verdict, may
from policy.read import preset, read, with_typo_guard
from policy.rules import FACT, SIGN, Layer, Policy, Pools, Rule, bare, is_group, recipient
from policy.sections import CONDITIONS
from policy.settings import SETTINGS, Value
from policy.toml_text import lines_of, parsed, rewritten

VERBS = {"auto": "approved", "never": "denied", "ask": "asked", "always": "always"}
OPENNESS: tuple[Disclose, ...] = get_args(Disclose)  # the strictest first
OWN_WORD = Rule("your own word", MappingProxyType({}), Layer.FILE, "")  # stands in no file
LONGEST = 120  # characters of a recipient in a name, which has at most 200
NO_FACTS: Mapping[str, Disclose] = MappingProxyType({})
NARROW = {*CONDITIONS} - {"recipient", "name", "expires"}  # of a rule that refuses not everything
MANAGED = {"name", "recipient", "attribute", SHORT, "expires"}  # keys of a managed rule


@dataclass(frozen=True, slots=True)
class Instruction:
    """The user's word on attributes, from now on.

    ``host``: canonical, and with it all that it pools with, unless it is for ``everyone``;
    ``names``: of the attributes, each with all that it goes by; ``query``: of the request that it
    is about; ``topics``: what that may be about; ``until``: the last day, None for no end;
    ``answers``: whether it answers a review, and so opens only what is ruled `ask`.
    """

    host: str
    disclose: Disclose
    names: Attributes = field(default_factory=dict)
    query: str = ""
    everyone: bool = False
    until: date | None = None
    answers: bool = False
    topics: TopicProbabilities = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class Preference:
    """The user's word on one fact, by its concept, for the next request that it changes.

    ``pool``: for whom, None for everyone; ``ruled``: what the policy ruled of it then. It holds
    where the policy still rules that, or something more open than the word. An approval is used up
    when the fact is first sent, another word by the next request that is decided.
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


def waits(ruling: Ruling, name: str, *, named: bool) -> bool:
    """Say whether a fact waits for the user; ``named``: a rule of theirs names the recipient."""
    ruled = ruled_of(ruling, name) if name in ruling.known else "ask"
    return ruled == "ask" or (not named and name.startswith(FACT) and ruled in ("auto", "always"))


def holding(
    preferences: Preferences, ruling: Ruling, facts: Mapping[str, Disclose] | None = None
) -> Mapping[str, Preference]:
    """Find the latest preference that holds for each attribute, whatever it was called.

    ``facts``: what is ruled of those in own words, None where that does not matter.
    """
    latest: dict[str, Preference] = {}
    single = {e.concept: e.ruled for e in preferences if e.concept.startswith(FACT)}
    single = single if facts is None else {**facts}
    for each in preferences:
        if each.pool not in (None, ruling.pool):
            continue
        for name, attribute in ruling.known.items():
            ruled = ruled_of(ruling, name) if each.concept in attribute.concepts else None
            if ruled is not None and each.holds(ruled):
                latest[name] = each
        if each.concept in single and each.holds(single[each.concept]):
            latest[each.concept] = each
    return latest


def with_own_words(terms: Terms, own: OwnFacts, model: Model, *, strange: bool) -> Terms:
    """The same terms, with what is ruled on words that go beside a listed value.

    ``own``: facts whose words may go; ``strange``: all facts in own words wait for the user.
    """
    places = {model.attributes[e].name for e in model.own if strange} - terms.excluded
    facts, verdicts = dict(terms.facts), terms.ruling.attributes if terms.ruling else {}
    for at in (each for each, has in enumerate(own.valued) if has):
        fact, name = own.facts[at].id, model.attributes[own.attributes[at]].name
        if fact not in facts and (before := terms.disclose(name)) != GUARDED:
            ruled: Any = on_words(verdicts[name], FACT + fact).value
            stricter = min(before, ruled, "ask" if strange else before, key=OPENNESS.index)
            facts |= {fact: stricter} if stricter != before else {}
    rest = terms.always - places
    return replace(terms, ask=terms.ask | places, always=rest, facts=tuple(facts.items()))


def ruled_on(own: OwnFacts, terms: Terms, model: Model) -> dict[str, Disclose]:
    """What is ruled on facts in own words that are not guarded, by what rules call them."""
    first = {kind: place for place, kind in reversed([*model.own.items()])}
    every = zip(own.facts, own.attributes, own.valued, strict=True)
    behind = {fact.id: at if has else first[at] for fact, at, has in every}
    names = {fact: model.attributes[at].name for fact, at in behind.items()}
    ruled = {FACT + fact: terms.disclose(name, fact) for fact, name in names.items()}
    return {fact: each for fact, each in ruled.items() if each != "guarded"}


def applied(
    terms: Terms, preferences: Preferences, facts: Mapping[str, Disclose] = NO_FACTS
) -> Terms:
    """Apply the user's preferences to the terms; ``facts``: as of `holding`."""
    ruling = terms.ruling
    if ruling is None or not preferences:
        return terms
    held = {name: each.disclose for name, each in holding(preferences, ruling, facts).items()}
    single = {name.removeprefix(FACT): each for name, each in held.items() if name in facts}
    new = {name: each for name, each in held.items() if name not in facts}
    verdicts = {
        name: {**ruling.attributes[name], SHORT: Verdict(value, OWN_WORD)}
        for name, value in new.items()
    }
    excluded, ask, always = (
        old.difference(new).union(name for name in new if new[name] == value)
        for old, value in ((terms.excluded, "never"), (terms.ask, "ask"), (terms.always, "always"))
    )
    ruling = replace(ruling, attributes={**ruling.attributes, **verdicts})
    words = tuple({**dict(terms.facts), **single}.items())
    return replace(terms, excluded=excluded, ask=ask, always=always, ruling=ruling, facts=words)


def used_up(preferences: Preferences, decision: Decision, ruling: Ruling) -> Preferences:
    """Remove the preferences that a decision uses up."""
    new, used = {*decision.disclosed}.difference(decision.again), set[Preference]()
    new |= {FACT + fact for name, fact in decision.facts.items() if name in new}
    for name, each in holding(preferences, ruling).items():
        ruled = ruled_of(ruling, name) or each.ruled
        is_opening = OPENNESS.index(each.disclose) > OPENNESS.index(ruled)
        if name in new if is_opening else decision.code == "answered":
            used.add(each)
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


def title_of(rule: Mapping[str, Any]) -> str:
    """Name a rule that the user's word makes, unless another has that name."""
    whom, end = rule.get("recipient", "everyone"), rule.get("expires")
    sign = SIGN if "recipient" in rule and is_group(whom) else ""
    until = "" if end is None else f" until {end}"
    return f"{VERBS[rule[SHORT]]} for {sign}{whom[-LONGEST:]}{until}"


def is_managed(rule: Mapping[str, Any]) -> bool:
    """Say whether the user's word made a rule of a valid policy, and nobody has changed it."""
    return (
        {"name", "attribute", SHORT} <= rule.keys() <= MANAGED
        and isinstance(rule["attribute"], list)
        and isinstance(rule.get("recipient", ""), str)
        and str(rule["name"]).startswith(title_of(rule))
    )


def recipient_of(policy: Policy, host: str) -> str:
    """Name the pool of a host as a policy does; UsageError where no rule can mean it alone."""
    pool = Pools(policy.groups).of(host)
    if pool.startswith(SIGN):
        return pool.removeprefix(SIGN)
    if is_group(pool):
        raise bare(pool)
    if HostPattern.parse(pool).site is None:
        what = f"a rule for {pool!r} would apply to everyone registered below it"
        raise UsageError(what, "if that is what you want, write the rule by hand")
    return pool


def with_block(text: str, policy: Policy, host: str, until: date | None = None) -> str:
    """Write into a policy that a host's pool gets nothing; UsageError as in `rewritten`."""
    where = RuleScope(recipient=recipient_of(policy, host), expires=until)
    return with_settings(text, policy, where, {"nothing": True})


def with_rulings(scopes: Iterable[RuleScope], value: Disclose, text: str, policy: Policy) -> str:
    """Write a word into a policy for each of some scopes; UsageError as in `rewritten`."""
    for where in scopes:
        text = with_settings(text, read(text, policy.source, preset), where, {SHORT: value})
    return text


def with_instruction(text: str, policy: Policy, word: Instruction, today: date) -> str:
    """Write into a policy what the user wants, comments kept.

    UsageError where no rule can mean the recipient alone, and as in `rewritten`.
    """
    pool = None if word.everyone else recipient_of(policy, word.host)
    ruled = ruling_of(policy, word, today).attributes
    # An answer does not open what somebody has closed since then.
    # Own words that are ruled auto wait, too, for whom nobody named.
    opens = {e: {"ask", "auto"} if e.startswith(FACT) else {"ask"} for e in word.names}
    names = [each for each in word.names if not word.approves or may(ruled[each]) in opens[each]]
    called = replace(word, names={each: word.names[each] for each in names}).called
    parts = {"recipient": pool, "attribute": names, SHORT: word.disclose, "expires": word.until}
    new: dict[str, Any] = {key: part for key, part in parts.items() if part is not None}
    document, alike, is_for = parsed(text), None, naming(policy, word.host)
    rules = document.get("rule", [])
    for place, rule in enumerate(rules):
        if not is_managed(rule) or not (word.everyone or is_for(rule.get("recipient"))):
            continue
        if all(rule.get(key) == new.get(key) for key in ("recipient", SHORT, "expires")):
            alike = place
            continue
        others = [each for each in rule["attribute"] if each not in called]
        rules[place] = {**rule, "attribute": others} if others else None
    if word.everyone and word.until is None:  # the entries of its attributes
        entries = {*document.get("attributes", ())}
        own = (sorted(entries & word.names[name].names) or [name] for name in names)
        scopes = [RuleScope(attribute=each) for each in chain.from_iterable(own)]
        return with_rulings(scopes, word.disclose, rewritten(text, document), policy)
    if alike is not None:
        rules[alike]["attribute"] = [*dict.fromkeys((*rules[alike]["attribute"], *names))]
    elif names:
        add_rule(document, title_of(new), new)
    return rewritten(text, document)


def outcome(policy: Policy, word: Instruction, today: date) -> Ruled:
    """Say what a policy makes of an instruction, once it says it."""
    ruled = {name: each[SHORT] for name, each in ruling_of(policy, word, today).attributes.items()}
    allowed = {"auto", "always"} if word.approves else {word.disclose}
    losing = {name: each.because for name, each in ruled.items() if each.value not in allowed}
    winning = [each.because for name, each in ruled.items() if name not in losing]
    return Ruled(
        written=winning[0] if winning else None,
        without_effect=[*losing],
        decided_by=[*losing.values()],
    )


def check_effect(policy: Policy, word: Instruction, today: date) -> None:
    """Raise UsageError, naming what decides, where an instruction would have no effect at all."""
    losing = outcome(policy, word, today)
    if len(losing.without_effect) < len(word.names):
        return
    name, winner = losing.without_effect[0], losing.decided_by[0]
    what = f"this would have no effect: {winner!r} decides about {name}"
    raise UsageError(what, "change that by hand", policy.source)


def ruling_of(policy: Policy, word: Instruction, today: date) -> Ruling:
    """Apply a policy to the request that an instruction is about."""
    return Rulebook(policy, word.names).match(word.host, word.query, today, word.topics)


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


def with_assistant(text: str, recipient: str, address: str, until: date | None = None) -> str:
    """The text of a policy with one more rule, by which a recipient is an assistant.

    ``until``: the last day, None for no end.
    """
    document, end = parsed(text), {} if until is None else {"expires": until}
    parts = {"recipient": recipient, "address": address, "assistant": True, **end}
    add_rule(document, f"assistant {recipient}", parts)
    return rewritten(text, document)


def naming(policy: Policy, host: str) -> Callable[[str | None], bool]:
    """Make what says whether the recipient of a rule is the pool of a host, or a part of it."""
    groups, pools = policy.groups, Pools(policy.groups)
    pool = pools.of(host)

    def is_for(text: str | None) -> bool:
        with suppress(UsageError):  # a list, whose members stay apart
            return text is not None and pools.named(recipient(text, groups)) == pool
        return False

    return is_for


def without_refusals(text: str, policy: Policy, host: str) -> str:
    """The text of a policy in which no rule that names the pool of a host gives it nothing.

    A rule that names others too keeps them; one for some queries, times or doors stays.
    """
    document, is_for = parsed(text), naming(policy, host)
    rules = document.get("rule", [])
    for place, rule in enumerate(rules):
        listed = rule.get("recipient", [])
        listed = [listed] if isinstance(listed, str) else listed
        others = [each for each in listed if not is_for(each)]
        narrow = NARROW & rule.keys()
        if rule.get("nothing") is not True or len(others) == len(listed) or narrow:
            continue
        if others:
            rule["recipient"] = others
        elif SETTINGS.keys() & rule.keys() == {"nothing"}:
            rules[place] = None
        else:
            del rule["nothing"]
    return rewritten(text, document)


def plan_of(edit: PolicyEdit, today: date) -> tuple[RuleScope, dict[str, Value | None]]:
    """For which requests an edit is, and what it sets there, None for what it takes out.

    UsageError for what is no setting or no value of one, and for a day that is over.
    """
    unset = dict.fromkeys(map(amend.checked_key, edit.unset))
    values = {key: amend.checked_value(key, value) for key, value in edit.set.items()}
    if not values and not unset:
        raise UsageError("this edit changes nothing", "name a setting to set or to unset")
    if both := next((key for key in unset if key in values), None):
        raise UsageError(f"{both!r} is both set and unset", "choose one of the two")
    if values and edit.expires and edit.expires < today:
        raise UsageError(f"{edit.expires} is over, so this would never hold", "name a later day")
    where = RuleScope(edit.recipient, edit.attribute, edit.query, edit.expires, edit.more)
    return where, {**values, **unset}


def overriding_rules(
    policy: Policy,
    where: RuleScope,
    values: Mapping[str, Value | None],
    names: Attributes,
    today: date,
) -> list[Win]:
    """Find the rules that decide otherwise about requests of a scope, each with its line.

    By a guard, where one keeps what was to be sent. ``values``: None for what was taken out;
    ``names``: the attributes of the model.
    """
    lines = lines_of(policy.text)
    book = Rulebook(with_typo_guard(policy, [*names]), where.names(names, policy))
    ruling = book.match(*request_of(where.rule(policy), policy, today))
    deciding: dict[tuple[str, str, Value, Rule], list[str]] = {}
    for key, value in ((k, each) for k, each in values.items() if each is not None):
        about = ruling.attributes if SETTINGS[key].about == "attribute" else {"": ruling.settings}
        for name, verdicts in about.items():
            guarded = key == "disclose" and value != "never" and may(verdicts) == GUARDED
            verdict = verdicts.get("guard" if guarded else key)  # none where it is for nobody
            if verdict is not None and (guarded or verdict.value != value):
                what = key, "guard" if guarded else key, verdict.value, verdict.rule
                deciding.setdefault(what, []).extend([name] if name else [])
    return [
        Win(key=key, value=value, names=its, rule=rule.name, line=rule.line_in(lines, key))
        for (_, key, value, rule), its in deciding.items()
    ]
