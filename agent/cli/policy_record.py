"""What a policy rules, as one JSON object; the keys are an interface, so they only ever grow."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from agent.cli.policy_shown import Shown
from agent.cli.policy_text import Explained
from agent.cli.policy_words import Origins
from policy.match import Verdict, Verdicts
from policy.rules import Rule
from policy.why import Place, losses


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
