"""`reticent policy show` and `explain`: what holds, and which rules decide."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import click

from agent.cli.options import ASKED, QUERY, Output, answers, option, today
from agent.cli.policy import (
    model_option,
    note_unknown_query,
    noted,
    policy_option,
    read_model,
    read_policy,
    recipient_option,
    with_shipped,
)
from agent.cli.printing import Column, facts, numeric, page, paragraph, table, wide
from agent.decision.decide import read_by
from agent.decision.terms import rulebook
from agent.decision.values import Reading
from agent.errors import UsageError
from agent.model.model import Model
from agent.words.titles import WHY_NOTHING, Titles, read_as, titled
from policy.hosts import ANYBODY
from policy.match import GUARDED, Ruling, Verdict, Verdicts, losses, may
from policy.rules import SIGN, Layer, Policy, Rule, spoken
from policy.settings import SETTINGS, DaemonSettings, Value
from policy.toml_text import line_of, lines_of

SOURCES = {Layer.FILE: "file", Layer.PRESET: "preset", Layer.DEFAULTS: "defaults"}
DECIDED = (Column("setting"), wide("value"), wide("decided by"))
RULE = (wide("rule"), numeric("line"), wide("decides"))
SETTING = (Column("setting"), wide("value"), wide("from"))
ORDER = ("always", "auto", "ask", "never", GUARDED)
WHY = {
    "block": "a block wins over {}",
    "more specific": "more specific than {}",
    "later layer": "the file wins over {}",
    "stricter": "stricter than {}",
    "later": "later in the file than {}",
    "the same": "like {}",
}
Source = Callable[[str, Verdict], str]  # of a setting: its key, and what is ruled


class Origins:
    """The rules of one policy, and the lines on which they stand."""

    def __init__(self, policy: Policy) -> None:
        """Read the lines once."""
        self.source = policy.source
        self._lines = lines_of(policy.text)

    def line(self, rule: Rule, key: str = "") -> int | None:
        """Return the line of a rule of the file, or of a setting in it."""
        return line_of(self._lines, (*rule.path, key)) if rule.layer is Layer.FILE else None

    def short(self, rule: Rule, key: str = "", value: str = "") -> str:
        """Return what to call a rule beside others of its file, with its value if that is given."""
        name = rule.source if rule.layer is Layer.PRESET else rule.name
        line = f"line {self.line(rule, key)}" if rule.layer is Layer.FILE else ""
        place = ": ".join(filter(None, (line, value)))
        return f"{name} ({place})" if place else name

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


@dataclass(frozen=True, slots=True)
class View:
    """What a policy rules on one day: about a query, or with an empty one whatever is asked."""

    policy: Policy
    ruling: Ruling
    query: str
    today: date
    titles: Titles
    origins: Origins

    def reaches(self, rule: Rule, attribute: str | None = None) -> bool:
        """Say whether a rule is for this recipient and query, and the attribute if one is named."""
        return rule.matches(self.ruling.host, self.ruling.pool, spoken(self.query), attribute)

    @property
    def settings(self) -> list[tuple[str, Verdict]]:
        """What is ruled of the request, in the order of the language."""
        ruled = self.ruling.settings
        return [(key, ruled[key]) for key in SETTINGS if key in ruled]

    @property
    def of_file(self) -> list[Rule]:
        """The rules of the file itself, in its order."""
        return [rule for rule in self.policy.rules if rule.layer is Layer.FILE]

    @property
    def pool(self) -> str:
        """Who remembers what the recipient learns."""
        pool = self.ruling.pool
        return f"the whole group {pool[1:]}" if pool.startswith(SIGN) else pool

    def attributes(self, word: str, source: Source) -> str:
        """Return the attributes with the same verdict from the same source together.

        ``word``: before each source, as in "from the defaults".
        """
        groups: dict[tuple[int, str, tuple[str, ...]], list[str]] = defaultdict(list)
        for name, verdicts in self.ruling.attributes.items():
            kind = may(verdicts)
            text = kind
            if kind == GUARDED:
                text += f" (weight {written(verdicts['guard'].value)})"
            if "sensitivity" in verdicts:
                text += f", for {written(verdicts['sensitivity'].value)} bits or more"
            sources = {
                key: f"{word} {source(key, verdict)}"
                for key, verdict in verdicts.items()
                if matters(key, verdicts)
            }
            why = tuple(
                each if key == "disclose" or len({*sources.values()}) == 1 else f"{key} {each}"
                for key, each in sources.items()
            )
            groups[ORDER.index(kind), text, tuple(dict.fromkeys(why))].append(name)
        lines = []
        for (_, text, why), names in sorted(groups.items(), key=lambda each: each[0][0]):
            lines.append(paragraph(f"{text}: {', '.join(titled(names, self.titles))}", "  "))
            lines += [paragraph(each, "    ") for each in why]
        return "\n".join(lines)

    def ruled(self, *, lost: bool) -> dict[str, Any]:
        """Return all that is ruled in JSON's types; ``lost``: with why other rules lost."""

        def stands(rule: Rule, key: str, value: Value) -> dict[str, Any]:
            return {"value": value, **self.origins.record(rule, key)}

        def values(verdicts: Verdicts) -> dict[str, dict[str, Any]]:
            found = {key: stands(each.rule, key, each.value) for key, each in verdicts.items()}
            for key, verdict in verdicts.items() if lost else ():
                found[key]["lost"] = [
                    stands(loss.rule, key, loss.value)
                    | {"because": loss.why, "to": loss.winner.name}
                    for loss in losses(key, verdict)
                ]
            return found

        attributes = self.ruling.attributes.items()
        return {
            "settings": values(self.ruling.settings),
            "attributes": {name: values(verdicts) for name, verdicts in attributes},
        }

    def record(self, rule: Rule) -> dict[str, Any]:
        """Return a whole rule in JSON's types."""
        return {
            **self.origins.record(rule),
            "for": dict(rule.conditions),
            "expired": rule.is_over(self.today),
            "settings": dict(rule.settings),
        }


def view_of(file: Path, model: Model, recipient: str | None, query: str = "") -> View:
    """Return what a policy rules today; for no ``recipient``: without the rules that name some.

    UsageError where the recipient is not a host.
    """
    titles = {each.name: each.title for each in model.attributes}
    policy, day, models = read_policy(file), today(), with_shipped(model)
    noted(policy, models)
    book = rulebook(policy, model, models)
    policy = general = book.policy
    if recipient is None:
        rules = tuple(rule for rule in policy.rules if not (rule.recipients or rule.groups))
        general = replace(policy, rules=rules, groups={})
        book = rulebook(general, model, models)
    ruling = book.match(ANYBODY if recipient is None else recipient, query, day)
    return View(policy, ruling, query, day, titles, Origins(policy))


def matters(key: str, verdicts: Verdicts) -> bool:
    """Say whether a setting of an attribute has an effect: either its guard, or how it leaves."""
    guarded = may(verdicts) == GUARDED
    return key not in ("guard", "disclose") or (key == "guard") == guarded


def explain(recipient: str, query: str, file: Path, model: Path | None) -> Output:
    """Return which rules decide about one request, which they override, and why."""
    used = read_model(model, query)
    view = view_of(file, used, recipient, query)
    note_unknown_query(query, used)
    ruling = view.ruling
    called = {name for each in ruling.known.values() for name in each.names}
    matching = [
        rule
        for rule in view.of_file
        if not rule.is_over(view.today)
        and any(view.reaches(rule, name) for name in (None, *called))
    ]
    message = {
        "policy": view.policy.source,
        "recipient": ruling.host,
        "pool": ruling.pool,
        "query": query,
        "today": str(view.today),
        "matching": [view.record(each) for each in matching],
        **view.ruled(lost=True),
    }
    return Output(message, explained(view, matching, read_by(used.read(query), used)))


def explained(view: View, matching: list[Rule], meant: Reading | None) -> str:
    """Return the page about a request, the verdict on top; ``meant``: what it is read as."""
    ruling, origins = view.ruling, view.origins
    kinds = [may(verdicts) for verdicts in ruling.attributes.values()]
    sent, waiting = sum(each in ("always", "auto") for each in kinds), kinds.count("ask")
    head = (
        f"Of {len(kinds)} facts, {sent} may be sent to {ruling.host}; waiting for your approval: "
        f"{waiting}; never sent: {len(kinds) - sent - waiting}."
    )
    if meant is None and ruling.settings["unknown_queries"].value == "nothing":
        head = f"Nothing is sent to {ruling.host}: {WHY_NOTHING['unknown query']}."
    if (nothing := ruling.settings["nothing"]).value:
        head = (
            f"Nothing is sent to {ruling.host}: {origins.short(nothing.rule, 'nothing')} says so."
        )
    rows, default = [], []
    for key, each in view.settings:
        if each.rule.layer is Layer.DEFAULTS:
            default.append(f"{key} {written(each.value)}")
        else:
            rows.append((key, written(each.value), because(view, key, each)))
    about = {"policy": origins.source, "query": view.query}
    about["read as"] = read_as(meant)
    about["remembered by"] = view.pool
    rules = [(each.name, str(origins.line(each)), _decides(each, ruling)) for each in matching]
    return page(
        head,
        facts(about.items()),
        *(["Settings of the request", table(DECIDED, rows)] if rows else []),
        paragraph(f"By default: {', '.join(default)}.") if default else "",
        "Attributes",
        view.attributes("by", lambda key, each: because(view, key, each)),
        *(["Rules of the file that match", table(RULE, rules)] if rules else []),
    )


def because(view: View, key: str, verdict: Verdict) -> str:
    """Return the rule that decided, and which others lost and why; defaults are left out."""
    grouped: dict[str, dict[str, None]] = defaultdict(dict)
    for loss in losses(key, verdict):
        if loss.rule.layer is not Layer.DEFAULTS:
            why = WHY[loss.why]
            if loss.winner is not verdict.rule:
                winner = view.origins.short(loss.winner)
                why = f"while {{}} lost to {winner.replace('{', '{{').replace('}', '}}')}"
            grouped[why][view.origins.short(loss.rule, key, written(loss.value))] = None
    parts = [why.format(", ".join(lost)) for why, lost in grouped.items()]
    return "; ".join([view.origins.short(verdict.rule, key), *parts])


def _decides(rule: Rule, ruling: Ruling) -> str:
    """Return what a rule decides of a request."""
    decided = [key for key, verdict in ruling.settings.items() if verdict.rule is rule]
    for key in rule.settings:
        names = [
            name
            for name, verdicts in ruling.attributes.items()
            if key in verdicts and verdicts[key].rule is rule and matters(key, verdicts)
        ]
        if names:
            decided.append(
                f"{key} of {names[0] if len(names) == 1 else f'{len(names)} attributes'}"
            )
    return ", ".join(decided) or "nothing"


@click.command()
@recipient_option
@option("--query", QUERY, "TEXT", ASKED)
@policy_option
@model_option
@answers
def show(recipient: str | None, query: str | None, file: Path, model: Path | None) -> Output:
    """Show every setting in force, and where it comes from.

    A setting comes from the file, its preset or the defaults. Rules for some requests only are
    listed below. With --query it shows which rules decide about that request, and why others lost.
    """
    if query is not None:
        if recipient is None:
            raise UsageError("--query needs --recipient", "name who receives the request")
        return explain(recipient, query, file, model)
    view = view_of(file, read_model(model), recipient)
    policy, ruling = view.policy, view.ruling
    host = None if recipient is None else ruling.host
    others = [
        each
        for each in view.of_file
        if (each.queries and view.reaches(replace(each, queries=(), attributes=())))
        or (host is None and (each.recipients or each.groups or each.queries))
    ]
    message = {
        "policy": policy.source,
        "recipient": host,
        "pool": None if host is None else ruling.pool,
        "today": str(view.today),
        "trusted_keys": [*policy.trusted_keys],
        "daemon": asdict(policy.daemon),
        "groups": {name: [each.text for each in of] for name, of in policy.groups.items()},
        **view.ruled(lost=False),
        "rules": [view.record(each) for each in others],
    }
    return Output(message, shown(view, host, others))


def shown(view: View, host: str | None, others: list[Rule]) -> str:
    """Return the page about a policy, for whom it is on top."""
    policy, origins = view.policy, view.origins
    rows = [(key, written(each.value), origins.long(each.rule, key)) for key, each in view.settings]
    members = (
        f"{name} ({', '.join(each.text for each in of)})" for name, of in policy.groups.items()
    )
    pairs = {
        "remembered by": view.pool if host else "",
        "groups": "" if host else ", ".join(members),
        "daemon": "" if host else _daemon(policy.daemon),
        "trusted keys": ", ".join(policy.trusted_keys),
    }
    rules = []
    for rule in others:
        expired = " (expired)" if rule.is_over(view.today) else ""
        where = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
        sets = ", ".join(f"{key} {written(value)}" for key, value in rule.settings.items())
        rules.append(paragraph(f"{origins.long(rule)}{expired}", "  "))
        rules.append(paragraph(f"{where}: {sets}", "    "))
    return page(
        f"What {origins.source} rules for {host or 'recipients without rules of their own'}, and "
        "where each value comes from.",
        facts((name, text) for name, text in pairs.items() if text),
        table(SETTING, rows),
        "Attributes",
        view.attributes("from", lambda key, each: origins.long(each.rule, key)),
        *(["Rules for some requests only", "\n".join(rules)] if rules else []),
    )


def _daemon(settings: DaemonSettings) -> str:
    minutes, prompts = settings.lock_after_minutes, settings.prompts_per_hour
    after = f"{minutes:g} minutes without use" if minutes else "eight hours without a command"
    clicks = "; browsers may tell which results you visit" if settings.clicks else ""
    where = " in a dialog" if settings.prompt == "pinentry" else ""
    return f"locks after {after}, and asks{where} at most {prompts} times an hour{clicks}"
