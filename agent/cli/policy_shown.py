"""A policy as a page of text: what holds by itself, where from, and what only some requests."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.cli.policy_words import Origins, terms, written
from policy.daemon import DaemonSettings
from policy.groups import SIGN
from policy.hosts import ANYBODY
from policy.match import Rulebook, Ruling
from policy.rules import Layer, Policy, Rule
from policy.settings import SETTINGS
from policy.verdicts import may
from policy.why import Place, reach_of

SETTING = (Column("setting"), Column("value", wraps=True), Column("from", wraps=True))


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
