"""One request under a policy as a page of text: what holds, by which rule, and over which."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from typing import NamedTuple

from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.cli.policy_words import Origins, terms, written
from agent.cli.problems import printable
from policy.groups import SIGN
from policy.match import Ruling, Verdict
from policy.rules import Layer, Policy, Rule
from policy.settings import SETTINGS
from policy.verdicts import GUARDED, may
from policy.why import Loss, Place, losses, reach_of
from policy.words import spoken

SETTING = (
    Column("setting"),
    Column("value", wraps=True),
    Column("decided by", wraps=True),
)
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
    parts = [strong(paragraph(_headline(explained, origins))), facts(_facts(explained, origins))]
    rows = [*_settings(explained, origins)]
    if rows:
        parts += ["Settings of the request", table(SETTING, rows)]
    default = ", ".join(
        f"{key} {written(verdict.value)}"
        for key, verdict in explained.ruling.settings.items()
        if verdict.rule.layer is Layer.DEFAULTS
    )
    parts += [paragraph(f"As by default: {default}.")] if default else []
    parts += ["Attributes", "\n".join(_attributes(explained, origins))]
    matching = [_matching(rule, explained, origins) for rule in explained.matching()]
    if matching:
        parts += ["Rules of the file that match", table(RULE, matching)]
    return "\n\n".join(parts)


def _headline(explained: Explained, origins: Origins) -> str:
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


def _facts(explained: Explained, origins: Origins) -> Iterator[tuple[str, str]]:
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


def _attributes(explained: Explained, origins: Origins) -> Iterator[str]:
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
