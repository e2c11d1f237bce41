"""The pages of `reticent policy show` and `explain`: what holds, and which rules decide."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from typing import Any, NamedTuple

from agent.cli.printing import Column, facts, paragraph, printable, strong, table
from policy.hosts import ANYBODY
from policy.match import Rulebook, Ruling
from policy.precedence import GUARDED, Loss, Place, Verdict, Verdicts, losses, may, reach_of
from policy.rules import SIGN, Layer, Policy, Rule, spoken
from policy.settings import SETTINGS, DaemonSettings, Value
from policy.toml_edit import line_of, lines_of

SOURCES = {Layer.FILE: "file", Layer.PRESET: "preset", Layer.DEFAULTS: "defaults"}
DECIDED = (Column("setting"), Column("value", wraps=True), Column("decided by", wraps=True))
RULE = (Column("rule", wraps=True), Column("line", right=True), Column("decides", wraps=True))
ORDER = ("always", "auto", "ask", "never", GUARDED)
WHY = {
    "block": "a block wins over {}",
    "more specific": "more specific than {}",
    "later layer": "the file wins over {}",
    "stricter": "stricter than {}",
    "the same": "like {}",
}
LEAVES = {
    "may leave": ("always", "auto"),
    "waits for you": ("ask",),
    "never leaves": ("never", GUARDED),
}
SEVERAL = {"may leave": "may leave", "waits for you": "wait for you", "never leaves": "never leave"}
SETTING = (Column("setting"), Column("value", wraps=True), Column("from", wraps=True))


class Origins:
    """The rules of one policy, and the lines on which they stand."""

    def __init__(self, policy: Policy) -> None:
        """Read the lines once."""
        self.source = printable(policy.source)
        self._lines = lines_of(policy.text)

    def line(self, rule: Rule, key: str = "") -> int | None:
        """Return the line of a rule of the file, or of a setting in it."""
        return line_of(self._lines, (*rule.path, key)) if rule.layer is Layer.FILE else None

    def short(self, rule: Rule, key: str = "", value: str = "") -> str:
        """Return what to call a rule beside others of its file, with its value if that is given."""
        name = rule.source if rule.layer is Layer.PRESET else rule.name
        line = f"line {self.line(rule, key)}" if rule.layer is Layer.FILE else ""
        known = ": ".join(each for each in (line, value) if each)
        return f"{name} ({known})" if known else name

    def long(self, rule: Rule, key: str = "") -> str:
        """Return what to call a rule with the file that it stands in."""
        if rule.layer is Layer.FILE:
            return f"{rule.name}, {self.source}:{self.line(rule, key)}"
        return self.short(rule, key)

    def record(self, rule: Rule, key: str = "") -> dict[str, str | int | None]:
        """Return a rule in JSON's types."""
        return {
            "rule": rule.name,
            "from": SOURCES[rule.layer],
            "source": rule.source,
            "line": self.line(rule, key),
        }


def written(value: Value) -> str:
    """Return a value as it stands on a page."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def terms(verdicts: Mapping[str, Verdict]) -> str:
    """Return all that is ruled of an attribute."""
    parts = [may(verdicts)]
    if parts == [GUARDED]:
        parts = [f"{GUARDED} (weight {written(verdicts['guard'].value)})"]
    if "sensitivity" in verdicts:
        parts.append(f"for {written(verdicts['sensitivity'].value)} bits or more")
    return ", ".join(parts)


class Explained(NamedTuple):
    """A request, and what a policy rules about it on one day."""

    policy: Policy
    ruling: Ruling
    query: str
    today: date

    def place(self, attribute: str | None = None) -> Place:
        """Return what its rules are compared for."""
        return Place(self.ruling.host, self.ruling.pool, spoken(self.query), attribute)

    def matching(self) -> list[Rule]:
        """Return the rules of the file that match, for any attribute or some."""
        names = (None, *self.ruling.attributes)
        return [
            rule
            for rule in self.policy.rules
            if rule.layer is Layer.FILE
            and not rule.is_over(self.today)
            and any(reach_of(rule, self.place(name)) is not None for name in names)
        ]


def explained_text(explained: Explained) -> str:
    """Return the page, the plain sentence on top."""
    origins = Origins(explained.policy)
    parts = [
        strong(paragraph(_explained_headline(explained, origins))),
        facts(_explained_facts(explained, origins)),
    ]
    rows = [*_settings(explained, origins)]
    if rows:
        parts += ["Settings of the request", table(DECIDED, rows)]
    default = ", ".join(
        f"{key} {written(verdict.value)}"
        for key, verdict in explained.ruling.settings.items()
        if verdict.rule.layer is Layer.DEFAULTS
    )
    parts += [paragraph(f"As by default: {default}.")] if default else []
    parts += ["Attributes", "\n".join(_explained_attributes(explained, origins))]
    matching = [_matching(rule, explained, origins) for rule in explained.matching()]
    if matching:
        parts += ["Rules of the file that match", table(RULE, matching)]
    return "\n\n".join(parts)


def _explained_headline(explained: Explained, origins: Origins) -> str:
    ruling = explained.ruling
    nothing = ruling.settings["nothing"]
    if nothing.value:
        return (
            f"To {ruling.host} nothing leaves: so rules {origins.short(nothing.rule, 'nothing')}."
        )
    counts = {
        words: sum(may(verdicts) in kinds for verdicts in ruling.attributes.values())
        for words, kinds in LEAVES.items()
    }
    said = [f"{count} {words if count == 1 else SEVERAL[words]}" for words, count in counts.items()]
    return f"To {ruling.host}, of {len(ruling.attributes)} attributes, {', '.join(said)}."


def _explained_facts(explained: Explained, origins: Origins) -> Iterator[tuple[str, str]]:
    ruling = explained.ruling
    pool = f"the group {ruling.pool[1:]}" if ruling.pool.startswith(SIGN) else ruling.pool
    yield "policy", origins.source
    yield "query", printable(explained.query)
    yield "remembers", f"{pool} remembers what it is told"


def _settings(explained: Explained, origins: Origins) -> Iterator[tuple[str, ...]]:
    for key in SETTINGS:
        verdict = explained.ruling.settings.get(key)
        if verdict is not None and verdict.rule.layer is not Layer.DEFAULTS:
            why = because(key, verdict, explained.place(), origins)
            yield key, written(verdict.value), why


def _explained_attributes(explained: Explained, origins: Origins) -> Iterator[str]:
    """Yield the attributes with the same verdict together, and why it is that."""
    groups: dict[tuple[int, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, verdicts in explained.ruling.attributes.items():
        why = tuple(_because_of(name, verdicts, explained, origins))
        groups[ORDER.index(may(verdicts)), terms(verdicts), why].append(name)
    for (_, ruled, why), names in sorted(groups.items(), key=lambda each: each[0][0]):
        yield paragraph(f"{ruled}: {', '.join(names)}", "  ")
        yield from (paragraph(each, "    ") for each in why)


def _because_of(
    name: str, verdicts: Mapping[str, Verdict], explained: Explained, origins: Origins
) -> Iterator[str]:
    """Yield who decided each setting of an attribute that matters."""
    for key, verdict in verdicts.items():
        if _matters(key, verdicts):
            why = because(key, verdict, explained.place(name), origins)
            yield f"by {why}" if key == "disclose" else f"{key} by {why}"


def _matters(key: str, verdicts: Mapping[str, Verdict]) -> bool:
    """Say whether a setting of an attribute has an effect: either its guard, or how it leaves."""
    guarded = may(verdicts) == GUARDED
    return key not in ("guard", "disclose") or (key == "guard") == guarded


def because(key: str, verdict: Verdict, place: Place, origins: Origins) -> str:
    """Return the rule that decided, and which others lost and why; defaults go without saying."""
    grouped: dict[str, dict[str, None]] = defaultdict(dict)
    for loss in losses(key, verdict, place):
        if loss.rule.layer is not Layer.DEFAULTS:
            lost = origins.short(loss.rule, key, written(loss.value))
            grouped[_why(loss, verdict, origins)][lost] = None
    said = [why.format(", ".join(lost)) for why, lost in grouped.items()]
    return "; ".join([origins.short(verdict.rule, key), *said])


def _why(loss: Loss, verdict: Verdict, origins: Origins) -> str:
    """Return why a rule lost, said of the one that decided, with a gap for the one that lost."""
    if loss.winner is verdict.rule:
        return WHY[loss.why]
    winner = origins.short(loss.winner).replace("{", "{{").replace("}", "}}")
    return f"while {{}} lost to {winner}"


def _matching(rule: Rule, explained: Explained, origins: Origins) -> tuple[str, ...]:
    """Return a rule with what it decides of this request."""
    ruling = explained.ruling
    decided = [key for key, verdict in ruling.settings.items() if verdict.rule is rule]
    for key in rule.settings:
        names = [
            name
            for name, verdicts in ruling.attributes.items()
            if key in verdicts and verdicts[key].rule is rule and _matters(key, verdicts)
        ]
        if names:
            decided.append(
                f"{key} of {names[0] if len(names) == 1 else f'{len(names)} attributes'}"
            )
    return rule.name, str(origins.line(rule)), ", ".join(decided) or "nothing"


class Shown(NamedTuple):
    """What a policy rules by itself: for one recipient, or for those without rules of their own."""

    policy: Policy
    ruling: Ruling
    recipient: str | None
    today: date

    def others(self) -> list[Rule]:
        """Return the rules of the file for some requests only, beside what is shown."""
        rules = (rule for rule in self.policy.rules if rule.layer is Layer.FILE)
        if self.recipient is None:
            return [each for each in rules if each.recipients or each.groups or each.queries]
        place = Place(self.ruling.host, self.ruling.pool, "")
        asked = (each for each in rules if each.queries)
        return [
            each
            for each in asked
            if reach_of(replace(each, queries=(), attributes=()), place) is not None
        ]


def shown_of(policy: Policy, names: Sequence[str], recipient: str | None, today: date) -> Shown:
    """Return what holds whatever is asked; UsageError where the recipient is no host."""
    if recipient is None:
        rules = tuple(rule for rule in policy.rules if not (rule.recipients or rule.groups))
        general = replace(policy, rules=rules, groups={})
        return Shown(policy, Rulebook(general, names).match(ANYBODY, "", today), None, today)
    ruling = Rulebook(policy, names).match(recipient, "", today)
    return Shown(policy, ruling, ruling.host, today)


def shown_text(shown: Shown) -> str:
    """Return the page, the plain sentence on top."""
    origins = Origins(shown.policy)
    rows = [
        (key, written(verdict.value), origins.long(verdict.rule, key))
        for key in SETTINGS
        if (verdict := shown.ruling.settings.get(key)) is not None
    ]
    parts = [strong(paragraph(_headline(shown, origins))), *_facts(shown)]
    parts += [table(SETTING, rows), "Attributes", "\n".join(_attributes(shown, origins))]
    others = [*_others(shown, origins)]
    if others:
        parts += ["Rules for some requests only", "\n".join(others)]
    return "\n\n".join(parts)


def _headline(shown: Shown, origins: Origins) -> str:
    who = shown.recipient or "recipients without rules of their own"
    return f"What {origins.source} rules for {who}, and where each value comes from."


def _facts(shown: Shown) -> Iterator[str]:
    """Yield what there is to say beside settings, if there is anything."""
    policy, pool = shown.policy, shown.ruling.pool
    pairs = []
    if shown.recipient is not None:
        who = f"the group {pool[1:]}" if pool.startswith(SIGN) else pool
        pairs.append(("remembers", f"{who} remembers what it is told"))
    elif policy.groups:
        members = (
            f"{name} ({', '.join(each.text for each in of)})" for name, of in policy.groups.items()
        )
        pairs.append(("groups", ", ".join(members)))
    if shown.recipient is None:
        pairs.append(("daemon", _daemon(policy.daemon)))
    if policy.trusted_keys:
        pairs.append(("trusted keys", ", ".join(policy.trusted_keys)))
    if pairs:
        yield facts(pairs)


def _daemon(settings: DaemonSettings) -> str:
    minutes, prompts = settings.lock_after_minutes, settings.prompts_per_hour
    after = f"{minutes:g} minutes without use" if minutes else "eight hours without a command"
    locks = f"locks after {after}"
    clicks = "; browsers may tell which results you visit" if settings.clicks else ""
    return f"{locks}, and asks at most {prompts} times an hour{clicks}"


def _attributes(shown: Shown, origins: Origins) -> Iterator[str]:
    """Yield the attributes with the same values from the same places together."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, verdicts in shown.ruling.attributes.items():
        came = {
            key: origins.long(verdict.rule, key)
            for key, verdict in verdicts.items()
            if key != "disclose" or may(verdicts) == verdict.value
        }
        whole = len({*came.values()}) == 1
        texts = [each if whole else f"{key} from {each}" for key, each in came.items()]
        groups[terms(verdicts), "; ".join(dict.fromkeys(texts))].append(name)
    for (ruled, source), names in groups.items():
        yield paragraph(f"{ruled}: {', '.join(names)}", "  ")
        yield paragraph(f"from {source}" if not source.startswith("disclose") else source, "    ")


def _others(shown: Shown, origins: Origins) -> Iterator[str]:
    for rule in shown.others():
        expired = rule.is_over(shown.today)
        yield paragraph(f"{origins.long(rule)}{' (expired)' if expired else ''}", "  ")
        where = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
        sets = ", ".join(f"{key} {written(value)}" for key, value in rule.settings.items())
        yield paragraph(f"{where}: {sets}", "    ")


def explained_record(explained: Explained) -> dict[str, Any]:
    """Return one request under a policy: what holds, by which rule, and over which."""
    ruling, origins = explained.ruling, Origins(explained.policy)
    return {
        "policy": explained.policy.source,
        "recipient": ruling.host,
        "pool": ruling.pool,
        "query": explained.query,
        "today": str(explained.today),
        "matching": [_rule(each, origins, explained.today) for each in explained.matching()],
        "settings": {
            key: _decided(key, verdict, explained.place(), origins)
            for key, verdict in ruling.settings.items()
        },
        "attributes": {
            name: {
                key: _decided(key, verdict, explained.place(name), origins)
                for key, verdict in verdicts.items()
            }
            for name, verdicts in ruling.attributes.items()
        },
    }


def shown_record(shown: Shown) -> dict[str, Any]:
    """Return a policy: what holds by itself, where from, and the rules for some requests only."""
    policy, origins = shown.policy, Origins(shown.policy)
    return {
        "policy": policy.source,
        "recipient": shown.recipient,
        "pool": None if shown.recipient is None else shown.ruling.pool,
        "today": str(shown.today),
        "trusted_keys": [*policy.trusted_keys],
        "daemon": asdict(policy.daemon),
        "groups": {name: [each.text for each in of] for name, of in policy.groups.items()},
        "settings": _values(shown.ruling.settings, origins),
        "attributes": {
            name: _values(verdicts, origins) for name, verdicts in shown.ruling.attributes.items()
        },
        "rules": [_rule(each, origins, shown.today) for each in shown.others()],
    }


def _decided(key: str, verdict: Verdict, place: Place, origins: Origins) -> dict[str, Any]:
    """Return a value, the rule behind it, and why each other lost."""
    return {
        "value": verdict.value,
        **origins.record(verdict.rule, key),
        "lost": [
            {
                "value": loss.value,
                **origins.record(loss.rule, key),
                "because": loss.why,
                "to": loss.winner.name,
            }
            for loss in losses(key, verdict, place)
        ],
    }


def _values(verdicts: Verdicts, origins: Origins) -> Mapping[str, Any]:
    return {
        key: {"value": verdict.value, **origins.record(verdict.rule, key)}
        for key, verdict in verdicts.items()
    }


def _rule(rule: Rule, origins: Origins, today: date) -> dict[str, Any]:
    return {
        **origins.record(rule),
        "for": dict(rule.conditions),
        "expired": rule.is_over(today),
        "settings": dict(rule.settings),
    }
