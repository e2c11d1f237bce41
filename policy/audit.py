"""What in a policy has no effect, or another one than it seems to have."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, product
from typing import Any, NamedTuple

from agent.errors import Problem, UsageError
from policy.families import families
from policy.hosts import ANYBODY, DOUBT, KINDS, odd_ending
from policy.match import Attributes, Rulebook
from policy.read import EMPTY_POLICY, is_empty_policy, keeps, near
from policy.rules import DEFAULT_RULE, Layer, NamePattern, Policy, Pools, Rule
from policy.services import Search, engine_at, engines
from policy.settings import OF_HOSTS, SETTINGS, shown
from policy.toml_text import Key, dotted, line_of, lines_of

MEANT = "did you mean"
PARTED = {("rule",), ("together",)}  # whose parts are keys


class Remark(NamedTuple):
    """A finding about a rule: its line and key, what is wrong, and how to fix it.

    ``settings``: those of the rule that have no effect; all of them if the rule has none at all.
    """

    line: int
    key: str
    what: str
    hint: str
    rule: Rule
    settings: tuple[str, ...] = ()


def audit(
    policy: Policy, attributes: Attributes | None, today: date, topics: Sequence[str] = ()
) -> tuple[Remark, ...]:
    """Remarks on the rules of the file, in its order.

    ``attributes``: of the models, None to leave out what depends on them; ``topics``: all that
    their topics are called, none to leave that out.
    """
    if is_empty_policy(policy.text):
        what = f"{EMPTY_POLICY.what}, so the daemon does not use it"
        return (Remark(EMPTY_POLICY.line, "", what, EMPTY_POLICY.hint, DEFAULT_RULE),)
    facts = attributes or {}
    names = (name for each in facts.values() for name in sorted(each.names))
    auditor = _Auditor(policy, [*dict.fromkeys(names)], today, topics)
    remarks = [each for rule in auditor.rules for each in auditor.remarks(rule)]
    remarks += [*auditor.telling(facts), *auditor.priced(facts), *auditor.contradictions()]
    return tuple(sorted(remarks, key=lambda each: (each.line, each.key, each.what)))


def idle(
    policy: Policy, names: Sequence[str], topics: Sequence[frozenset[str]], today: date
) -> tuple[Problem, ...]:
    """The mistakes in rules of the file that are to withhold something, and withhold nothing.

    Of attributes that no model has, and of words that are a topic's, which stand for no more than
    these words. ``names``: of all attributes that there ever were; ``topics``: all that each topic
    is called.
    """
    lines, problems = lines_of(policy.text), list[Problem]()
    own = (each for each in (*policy.rules, *policy.contexts) if each.is_own and each.withholds)
    rules = [*(each for each in own if not each.is_over(today)), *policy.together]
    withheld = {pattern for rule in rules for pattern in rule.topics}
    called = [*topics, *(frozenset({each, f"@{each}"}) for each in families())]

    def note(rule: Rule, part: str, what: str, hint: str) -> None:
        part = "facts" if rule in policy.together else part
        path = (*rule.path, part) if rule.path[:1] in PARTED else rule.path
        problems.append(Problem(line_of(lines, path), dotted(path), what, hint))

    for rule in rules:
        unknown = (e for e in rule.attributes if e.text[0] not in "@#")
        for pattern in [e for e in unknown if names and not any(map(e.matches, names))]:
            intended = near(pattern, names)
            if intended is None or not keeps(rule, policy):
                family = pattern.text.strip("*_")
                hint = "`reticent model info` lists all facts"
                if family in families() and rule not in policy.together:
                    hint = f'write "@{family}" for that family'
                hint = f"{MEANT} {intended!r}?" if intended else hint
                what = f"no model has a fact {shown(pattern.text)}, so this keeps nothing back"
                note(rule, "attribute", what, hint)
        for words in rule.queries:
            topic = next((each for each in called if words.text in each), ())
            if topic and not any(e.text in topic or any(map(e.matches, topic)) for e in withheld):
                what = f"{words.text!r} is a topic, and here it stands for these very words alone"
                key = "block_topics" if rule.path[:1] == ("queries",) else "topic"
                note(rule, "query", what, f"write {key} = [{words.text!r}] as well")
    return tuple(problems)


def pressing(policy: Policy, names: Sequence[str], today: date) -> tuple[Remark, ...]:
    """The remarks to make unasked: on each name that is probably meant for one of ``names``.

    And on each rule by which no site at all is sent anything, so that searches can be put in order.
    """
    auditor = _Auditor(policy, names, today, ())
    meant = (e for r in auditor.rules for e in auditor.strangers(r) if e.hint.startswith(MEANT))
    return (*meant, *chain.from_iterable(map(auditor.silencing, auditor.rules)))


def priced_sets(rule: Rule, attributes: Attributes) -> set[tuple[str, ...]]:
    """The sets of different attributes, each sorted, that a price of several facts is for."""
    names = ([n for n, e in attributes.items() if each.text in e.names] for each in rule.attributes)
    return {tuple(sorted(each)) for each in product(*names) if len({*each}) == len(each)}


def called(rule: Rule, lines: Mapping[Key, int], key: str = "") -> str:
    """Name a rule, with the line of a setting in it if it is of the file.

    ``lines``: of that file, as `policy.toml_text.lines_of` returns them.
    """
    if not rule.is_own:
        return rule.name
    return f"{rule.name!r} (line {line_of(lines, (*rule.path, key))})"


class _Auditor:
    """A policy with what is asked again and again about its rules; ``rules``: those of the file."""

    def __init__(
        self, policy: Policy, names: Sequence[str] | None, today: date, topics: Sequence[str]
    ) -> None:
        self._policy, self._names, self._today, self._topics = policy, names, today, topics
        self.rules = [rule for rule in (*policy.rules, *policy.contexts) if rule.is_own]
        self._lines = lines_of(policy.text)
        valid = [rule for rule in policy.rules if not rule.is_over(today)]
        guarding = [rule for rule in valid if "guard" in rule.settings]
        self._guards = [rule for rule in guarding if float(rule.settings["guard"]) > 0]
        self._unguarded = [rule for rule in guarding if float(rule.settings["guard"]) == 0]

    def remarks(self, rule: Rule) -> Iterator[Remark]:
        """Yield the remarks on one rule."""
        if rule.is_over(self._today):
            what, hint = f"expired on {rule.expires}", "delete the rule, or give it a later day"
            yield self._remark(rule, ("expires",), what, hint, rule.settings)
            return
        unknown = self.strangers(rule)
        yield from unknown
        if any(each.settings for each in unknown):
            return
        yield from self._guarded(rule)
        yield from self._searched(rule)
        yield from self.silencing(rule)
        for each in rule.recipients:
            if ending := odd_ending(each.host):
                what, hint = DOUBT.format(ending), f"check how {each.text} is written"
                yield self._remark(rule, ("recipient",), what, hint)

    def strangers(self, rule: Rule) -> list[Remark]:
        """A remark on each attribute that the model lacks, and on each topic."""
        remarks = list[Remark]()
        parts: tuple[tuple[str, Sequence[NamePattern], Sequence[str], str], ...] = (
            ("attribute", rule.attributes, self._names or (), "it is not sent"),
            ("topic", rule.topics, self._topics, "that is meant"),
        )
        for part, patterns, names, until in parts:
            # The facts of a profile are not for this to know.
            matching = [e for e in patterns if e.text[0] == "#" or any(map(e.matches, names))]
            for pattern in [each for each in patterns if names and each not in matching]:
                hint = f"`reticent model info` lists its {part}s"
                if intended := near(pattern, names):
                    hint = f"{MEANT} {intended!r}?"
                    hint += f" until you correct it, {until}" if keeps(rule, self._policy) else ""
                what = f"the model has no {part} {shown(pattern.text)}"
                key = (part,) if rule.path[0] == "rule" else ()
                useless = () if matching else rule.settings
                remarks.append(self._remark(rule, key, what, hint, useless))
        return remarks

    def silencing(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a rule that has results ordered here, and holds for all sites."""
        everywhere = not (rule.recipients or rule.groups or rule.is_over(self._today))
        if everywhere and rule.settings.get("results") == "rerank":
            what = "'rerank' holds for every site, so each is sent nothing, search or not"
            yield self._remark(rule, ("results",), what, "set it in a rule for each search")

    def telling(self, attributes: Attributes) -> Iterator[Remark]:
        """Yield a remark on each rule that also holds for what tells its facts, or that is void.

        Void is one that would let out what tells a fact on which another rule is stricter.
        """
        book = Rulebook(self._policy, attributes)
        ruled = book.match(ANYBODY, "", self._today).attributes
        telling = defaultdict[tuple[Rule, str], list[str]](list)
        for name, verdict in ((name, ruled[name]["disclose"]) for name in attributes):
            one = telling[verdict.rule, verdict.tells]
            if verdict.tells and attributes[name].names.isdisjoint(one):
                one.append(name)
        for (rule, told), names in telling.items():
            if names and rule.is_own:
                what = f"it also holds for what tells {told!r}: {', '.join(names)}"
                yield self._remark(rule, (), what, "relax it if one of them may be sent")
        on_facts = (rule for rule in self.rules if rule.attributes and "disclose" in rule.settings)
        for rule in on_facts:
            ruled = book.match(self._policy.host_for(rule), "", self._today).attributes
            for pattern in [each for each in rule.attributes if each.text in attributes]:
                verdict, value = ruled[pattern.text]["disclose"], rule.settings["disclose"]
                if verdict.tells and any(rule is each.rule for each in verdict.claims[:-1]):
                    other = called(verdict.rule, self._lines, "disclose")
                    what = f"{shown(value)} has no effect: {other} rules {verdict.value!r} on"
                    what += f" {verdict.tells!r}, which {pattern.text!r} tells"
                    yield self._remark(rule, (), what, "relax that rule, or leave out this one")

    def priced(self, attributes: Attributes) -> Iterator[Remark]:
        """Yield a remark on each price of facts that are one, by whatever names."""
        known = {name for each in attributes.values() for name in each.names}
        for rule in self._policy.together:
            if known >= {e.text for e in rule.attributes} and not priced_sets(rule, attributes):
                what = "these are one fact, so they never cost more together"
                yield self._remark(rule, ("facts",), what, "name another", rule.settings)

    def contradictions(self) -> Iterator[Remark]:
        """Yield a remark on each setting that is overridden by name of another part of its pool."""
        pools, rivals = Pools(self._policy.groups), dict[Any, list[tuple[str, Rule]]]()
        for rule in [each for each in self.rules if not each.is_over(self._today)]:
            of = {each.text: pools.named(each) for each in rule.recipients}
            of |= {each: pools.named(each) for each in rule.groups if each not in KINDS}
            for text, key in product(filter(of.get, of), rule.settings.keys() - OF_HOSTS):
                place = key, of[text], rule.attributes, rule.queries, rule.topics
                rivals.setdefault(place, []).append((text, rule))
        for (key, *_), some in rivals.items():
            strict = [SETTINGS[key].strictness(rule.settings[key]) for _, rule in some]
            whole, winner = some[max(range(len(some)), key=lambda at: (strict[at], at))]
            why = "stricter" if SETTINGS[key].order else "later"
            for part, rule in some:
                if part != whole and rule.settings[key] != winner.settings[key]:
                    by = f"{called(winner, self._lines, key)}, which is {why}, decides"
                    what = f"{part} and {whole} are one recipient, and {by}"
                    yield self._remark(rule, (key,), what, "write one rule for both")

    def _guarded(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a rule that lets out what is never sent, because it is guarded."""
        disclose = rule.settings.get("disclose", "never")
        if disclose == "never" or any(_names_meet(each, rule) for each in self._unguarded):
            return
        guards = (each for each in self._guards if each is rule or _guards_all(each, rule))
        guard = next(guards, None)
        if guard is None:
            return
        where = "this rule" if guard is rule else called(guard, self._lines, "guard")
        what = f"{shown(disclose)} has no effect: {where} guards it, so it is never sent"
        preset = guard.layer is Layer.PRESET
        hint = "set guard = 0 as well, if it may be sent" if preset else "leave out one of the two"
        key = () if rule.path[:1] == ("attributes",) else ("disclose",)
        yield self._remark(rule, key, what, hint, ("disclose",))

    def _searched(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a search that browsers cannot use, or that carries nothing."""
        if "search" not in rule.settings:
            return
        try:
            search = Search.parse(str(rule.settings["search"]))
        except UsageError as error:
            yield self._remark(rule, ("search",), error.what, error.hint)
            return
        nameless = "engine" not in rule.settings and engine_at(search.host) is None
        if rule.settings.get("carry") == "parameters" and nameless:
            what = f"no search engine is known at {search.host}, so it gets nothing"
            hint = f"write engine = 'searxng', or one of {', '.join(engines())}"
            yield self._remark(rule, ("carry",), what, hint)

    def _remark(
        self, rule: Rule, key: Key, what: str, hint: str, settings: Iterable[str] = ()
    ) -> Remark:
        path = (*rule.path, *key)
        return Remark(line_of(self._lines, path), dotted(path), what, hint, rule, (*settings,))


def _guards_all(guard: Rule, rule: Rule) -> bool:
    """Whether a guard always holds, for all that a rule is about."""
    # A * of the rule's own pattern fits under a * only.
    covered = all(any(own.matches(its.text) for own in guard.attributes) for its in rule.attributes)
    return guard.lasting and (not guard.attributes or (bool(rule.attributes) and covered))


def _names_meet(one: Rule, other: Rule) -> bool:
    """Whether two rules may be about the same attribute."""
    if not (one.attributes and other.attributes):
        return True
    return any(
        ("*" in own.text and "*" in its.text) or own.matches(its.text) or its.matches(own.text)
        for own in one.attributes
        for its in other.attributes
    )
