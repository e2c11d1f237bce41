"""`reticent policy show`: what holds, for everybody or one request, and which rules decide."""

from collections import defaultdict
from collections.abc import Iterator
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
from agent.cli.printing import Column, facts, page, paragraph, table, wide
from agent.decision.decide import read_by
from agent.decision.terms import rulebook
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
ORDER = ("always", "auto", "ask", "never", GUARDED)
WHY = {
    "block": "a block wins over {}",
    "more specific": "more specific than {}",
    "later layer": "the file wins over {}",
    "stricter": "stricter than {}",
    "later": "later in the file than {}",
    "the same": "like {}",
}


class Origins:
    """The rules of one policy, and the lines on which they stand."""

    def __init__(self, policy: Policy) -> None:
        self.source = policy.source
        self._lines = lines_of(policy.text)

    def line(self, rule: Rule, key: str = "") -> int | None:
        """The line of a rule of the file, or of a setting in it."""
        return line_of(self._lines, (*rule.path, key)) if rule.layer is Layer.FILE else None

    def short(self, rule: Rule, key: str = "", value: str = "") -> str:
        """What to call a rule beside others of its file, with its value if that is given."""
        name = rule.source if rule.layer is Layer.PRESET else rule.name
        line = f"line {self.line(rule, key)}" if rule.layer is Layer.FILE else ""
        place = ": ".join(filter(None, (line, value)))
        return f"{name} ({place})" if place else name

    def long(self, rule: Rule, key: str = "") -> str:
        """What to call a rule with the file that it stands in."""
        if rule.layer is Layer.FILE:
            return f"{rule.name}, {self.source}:{self.line(rule, key)}"
        return self.short(rule, key)

    def record(self, rule: Rule, key: str = "") -> dict[str, Any]:
        """A rule in JSON's types."""
        source, line = SOURCES[rule.layer], self.line(rule, key)
        return {"rule": rule.name, "from": source, "source": rule.source, "line": line}

    def verdicts(self, verdicts: Verdicts) -> dict[str, dict[str, Any]]:
        """What is ruled in JSON's types, with why other rules lost."""
        ruled = {}
        for key, each in verdicts.items():
            lost = [
                {"value": loss.value, **self.record(loss.rule, key)}
                | {"because": loss.why, "to": loss.winner.name}
                for loss in losses(key, each)
            ]
            ruled[key] = {"value": each.value, **self.record(each.rule, key), "lost": lost}
        return ruled

    def because(self, key: str, verdict: Verdict) -> str:
        """The rule that decided, and which others lost and why; defaults are left out."""
        grouped: dict[str, dict[str, None]] = defaultdict(dict)
        for loss in losses(key, verdict):
            if loss.rule.layer is not Layer.DEFAULTS:
                why = WHY[loss.why]
                if loss.winner is not verdict.rule:
                    winner = self.short(loss.winner)
                    why = f"while {{}} lost to {winner.replace('{', '{{').replace('}', '}}')}"
                grouped[why][self.short(loss.rule, key, written(loss.value))] = None
        parts = [why.format(", ".join(lost)) for why, lost in grouped.items()]
        return "; ".join([self.short(verdict.rule, key), *parts])


def written(value: Value) -> str:
    """A value as it stands on a page."""
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

    def matching(self) -> Iterator[Rule]:
        """Yield the rules of the file that match the request."""
        names = {name for each in self.ruling.known.values() for name in each.names}
        for rule in self.policy.rules:
            matches = any(self.reaches(rule, name) for name in (None, *names))
            if rule.layer is Layer.FILE and not rule.is_over(self.today) and matches:
                yield rule

    def others(self, *, named: bool) -> Iterator[Rule]:
        """Yield the rules of the file for some requests only; ``named``: of one recipient."""
        for rule in self.policy.rules:
            if rule.queries:
                if not named or self.reaches(replace(rule, queries=(), attributes=())):
                    yield rule
            elif rule.layer is Layer.FILE and not named and (rule.recipients or rule.groups):
                yield rule

    def record(self, rule: Rule) -> dict[str, Any]:
        """A whole rule in JSON's types."""
        more = {"for": dict(rule.conditions), "expired": rule.is_over(self.today)}
        return {**self.origins.record(rule), **more, "settings": dict(rule.settings)}

    def settings_text(self) -> str:
        """Lay out what is ruled of the request, in the order of the language."""
        rows, default = [], []
        for key in SETTINGS:
            if each := self.ruling.settings.get(key):
                if each.rule.layer is Layer.DEFAULTS:
                    default.append(f"{key} {written(each.value)}")
                else:
                    rows.append((key, written(each.value), self.origins.because(key, each)))
        return page("", table(DECIDED, rows), paragraph(f"By default: {', '.join(default)}."))

    def attributes_text(self) -> str:
        """Lay out the attributes, those with the same verdict from the same rules together."""
        groups: dict[tuple[int, str, tuple[str, ...]], list[str]] = defaultdict(list)
        for name, verdicts in self.ruling.attributes.items():
            kind = text = may(verdicts)
            if kind == GUARDED:
                text += f" (weight {written(verdicts['guard'].value)})"
            if "sensitivity" in verdicts:
                text += f", for {written(verdicts['sensitivity'].value)} bits or more"
            rules = {
                key: f"by {self.origins.because(key, verdict)}"
                for key, verdict in verdicts.items()
                if key not in ("guard", "disclose") or (key == "guard") == (kind == GUARDED)
            }
            alike = len({*rules.values()}) == 1
            why = (rules[k] if k == "disclose" or alike else f"{k} {rules[k]}" for k in rules)
            groups[ORDER.index(kind), text, tuple(dict.fromkeys(why))].append(name)
        lines = []
        for (_, text, reasons), names in sorted(groups.items(), key=lambda each: each[0][0]):
            lines.append(paragraph(f"{text}: {', '.join(titled(names, self.titles))}", "  "))
            lines += [paragraph(each, "    ") for each in reasons]
        return "\n".join(lines)

    def rules_text(self, rules: list[Rule]) -> str:
        """Lay out whole rules, each with its conditions and what it sets."""
        lines = []
        for rule in rules:
            expired = " (expired)" if rule.is_over(self.today) else ""
            where = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
            sets = ", ".join(f"{key} {written(value)}" for key, value in rule.settings.items())
            lines.append(paragraph(f"{self.origins.short(rule)}{expired}", "  "))
            lines.append(paragraph(f"{where}: {sets}", "    "))
        return "\n".join(lines)


def view_of(file: Path, model: Model, recipient: str | None, query: str = "") -> View:
    """Look up what a policy rules today; without a ``recipient``, by rules that name none.

    UsageError where the recipient is not a host.
    """
    titles = {each.name: each.title for each in model.attributes}
    policy, day, models = read_policy(file), today(), with_shipped(model)
    noted(policy, models)
    book = rulebook(policy, model, models)
    policy = book.policy
    if recipient is None:
        rules = tuple(rule for rule in policy.rules if not (rule.recipients or rule.groups))
        book = rulebook(replace(policy, rules=rules, groups={}), model, models)
    ruling = book.match(ANYBODY if recipient is None else recipient, query, day)
    return View(policy, ruling, query, day, titles, Origins(policy))


@click.command()
@recipient_option
@option("--query", QUERY, "TEXT", ASKED)
@policy_option
@model_option
@answers
def show(recipient: str | None, query: str | None, file: Path, model: Path | None) -> Output:
    """Show every setting in force, and which rule decides it.

    A setting comes from the file, its preset or the defaults. Rules for some requests only are
    listed below. With --query it shows what holds for that request, and why other rules lost.
    """
    if query is not None and recipient is None:
        raise UsageError("--query needs --recipient", "name who receives the request")
    used = read_model(model, query or "")
    view = view_of(file, used, recipient, query or "")
    policy, ruling, origins = view.policy, view.ruling, view.origins
    host = None if recipient is None else ruling.host
    pool = f"the whole group {ruling.pool[1:]}" if ruling.pool.startswith(SIGN) else ruling.pool
    about = {"remembered by": pool if host else ""}
    if query is None:
        matching, others = list[Rule](), [*view.others(named=host is not None)]
        whom = host or "recipients without rules of their own"
        head = f"What {origins.source} rules for {whom}, and which rule decides it."
    else:
        note_unknown_query(query, used)
        matching, others, meant = [*view.matching()], [], read_by(used.read(query), used)
        head = _verdict(view, unread=meant is None)
        about = {"policy": origins.source, "query": query, "read as": read_as(meant)} | about
    groups = {name: [each.text for each in of] for name, of in policy.groups.items()}
    if host is None:
        about["groups"] = ", ".join(f"{name} ({', '.join(of)})" for name, of in groups.items())
        about["daemon"] = _daemon(policy.daemon)
    about["trusted keys"] = ", ".join(policy.trusted_keys)
    message = {
        "policy": origins.source,
        "recipient": host,
        "pool": None if host is None else ruling.pool,
        "query": query,
        "today": str(view.today),
        "trusted_keys": [*policy.trusted_keys],
        "daemon": asdict(policy.daemon),
        "groups": groups,
        "matching": [view.record(each) for each in matching],
        "settings": origins.verdicts(ruling.settings),
        "attributes": {name: origins.verdicts(ruling.attributes[name]) for name in ruling.known},
        "rules": [view.record(each) for each in others],
    }
    text = page(
        head,
        facts((name, text) for name, text in about.items() if text),
        view.settings_text(),
        "Attributes",
        view.attributes_text(),
        *(["Rules for some requests only", view.rules_text(others)] if others else []),
    )
    return Output(message, text)


def _verdict(view: View, *, unread: bool) -> str:
    """Say what may be sent with a request; ``unread``: what is asked is not recognised."""
    ruling = view.ruling
    if (nothing := ruling.settings["nothing"]).value:
        rule = view.origins.short(nothing.rule, "nothing")
        return f"Nothing is sent to {ruling.host}: {rule} says so."
    if unread and ruling.settings["unknown_queries"].value == "nothing":
        return f"Nothing is sent to {ruling.host}: {WHY_NOTHING['unknown query']}."
    kinds = [may(verdicts) for verdicts in ruling.attributes.values()]
    sent, waiting = sum(each in ("always", "auto") for each in kinds), kinds.count("ask")
    return (
        f"Of {len(kinds)} facts, {sent} may be sent to {ruling.host}; waiting for your approval: "
        f"{waiting}; never sent: {len(kinds) - sent - waiting}."
    )


def _daemon(settings: DaemonSettings) -> str:
    minutes, prompts = settings.lock_after_minutes, settings.prompts_per_hour
    after = f"{minutes:g} minutes without use" if minutes else "eight hours without a command"
    clicks = "; browsers may tell which results you visit" if settings.clicks else ""
    where = " in a dialog" if settings.prompt == "pinentry" else ""
    return f"locks after {after}, and asks{where} at most {prompts} times an hour{clicks}"
