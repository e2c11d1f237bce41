"""`reticent policy`: check a policy file, and see the rules in force."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli import options
from agent.cli.daemon_client import notify
from agent.cli.options import PATH, Commands, Deferred, Output, answers, option, today
from agent.cli.policy_tests import Lines, failed_tests
from agent.cli.printing import Column, facts, note, page, paragraph, printable, table, texts, wide
from agent.cli.questions import country_of_locale
from agent.daemon.locale import LOCALE
from agent.decision.context import rulebook
from agent.decision.decide import read_by
from agent.decision.topics import attributes_of, audited, topics_of
from agent.errors import PolicyError, Problem, ReticentError, UsageError, nearest
from agent.files import check_ours
from agent.model.file import SHIPPED, SUFFIX, read, shipped_model, shipped_models, trusted
from agent.model.model import Model
from agent.model.world import COUNTRY, in_country, world_of
from agent.paths import paths
from agent.words.figures import bits, counted, listed, sensitivity
from agent.words.titles import WHY_NOTHING, Titles, quoted, read_as, titled
from policy.amend import RuleScope
from policy.audit import Remark, pressing
from policy.hosts import ANYBODY, ASSISTANT, KINDS
from policy.match import GUARDED, Ruling, Verdict, Verdicts, losses, may
from policy.read import load
from policy.rules import SIGN, Layer, Policy, Rule
from policy.settings import SETTINGS, Value
from policy.toml_text import lines_of

if TYPE_CHECKING:
    from agent.daemon.model_registry import ModelRegistry

DEFERRED = {
    "add": Deferred("agent.cli.policy_add", "Add a rule, by answering questions."),
    "block": Deferred("agent.cli.policy_edit", "Send nothing more to a recipient."),
    "set": Deferred("agent.cli.policy_edit", "Change a setting in a policy file."),
}
WHOM = "For whom; of a group or list, the first member. By default whoever no rule names."
OWN = "The policy file. By default your own."
MODEL = "The model whose facts are meant. By default the first that comes with reticent."
SOURCES = {Layer.FILE: "file", Layer.PRESET: "preset", Layer.DEFAULTS: "defaults"}
DECIDED = (Column("setting"), wide("value"), wide("decided by"))
ORDER = ("always", "auto", "ask", "never", GUARDED)


@click.group(cls=Commands, default=lambda _: "show", deferred=DEFERRED)
def policy() -> None:
    """Check, show and change the rules about what may be sent.

    Without a command it shows every setting in force.
    """


def read_policy(file: Path) -> Policy:
    """Read the policy in a file; the user's own only where nobody else could have written it.

    UsageError where it cannot be read, PolicyError where it is wrong.
    """
    is_own = file == paths().policy
    if is_own and not file.exists():
        raise UsageError("there is no policy yet", "`reticent init` writes one", str(file))
    return load(file, check_ours if is_own else None)


policy_option = option("--policy file", PATH, "FILE", OWN, default=lambda: paths().policy)


def model_path(named: str) -> Path:
    """Find a model, named by its file or as policies name it; UsageError if unknown."""
    path = Path(named)
    if path.exists() or path.suffix or path.name != named:
        return path
    return model_called(named)


def model_called(named: str) -> Path:
    """Find a model as policies name it; UsageError if unknown."""
    files = *map(shipped_model, SHIPPED), *paths().models.glob(f"*{SUFFIX}")
    names = {each.stem: each for each in files}
    if named not in names:
        raise UsageError.unknown("model", named, names)
    return names[named]


model_option = option("--model", model_path, "M|NAME", MODEL)


def registry() -> "ModelRegistry":
    """The models of this machine, as the daemon sees them."""
    from agent.daemon.model_registry import ModelRegistry  # slow to import, for most commands

    return ModelRegistry(paths().models)


def check_policy(policy: Policy, models: Sequence[Model]) -> None:
    """Raise UsageError where a policy names no model that there is, or as `check_rules`."""
    from agent.daemon.policy_file import check_rules

    check_rules(policy, models, today(), registry().ever_known())
    for named in sorted(policy.models):
        model_called(named)


def noted(policy: Policy, models: Sequence[Model]) -> None:
    """Show a note for each name in a policy that probably misspells an attribute of the models."""
    for each in pressing(policy, [*attributes_of(models, models)], today()):
        note(f"{policy.source}:{each.line}: {each.what} ({each.hint})")


@cache
def _shipped() -> tuple[Model, ...]:
    """The models that come with reticent, read once."""
    return tuple(map(read, shipped_models()))


def installed_models() -> list[Model]:
    """The world of the models that come with reticent and of those that were added, and LOCALE."""
    models = [*_shipped()]
    for path in sorted(paths().models.glob(f"*{SUFFIX}")):
        with suppress(ReticentError):  # `reticent model list` says why
            models.append(read(path))
    return [world_of(models), LOCALE]


def with_others(model: Model) -> list[Model]:
    """Put a model before those that are installed: a policy may use the names of all of them."""
    ids = {each.id for each in model.every}
    others = (e for e in installed_models() if not ids.issuperset(part.id for part in e.every))
    return [model, *others]


def read_model(path: Path | None, keys: Sequence[str] = ()) -> Model:
    """Read the model in a file, by default the world of the shipped ones.

    It counts the people of the country of the locale. ``keys``: those that the policy trusts, none
    for any; a shipped model needs none.
    """
    country = country_of_locale().get(COUNTRY, "")
    if path is not None:
        shipped = path in map(shipped_model, SHIPPED)
        return in_country(trusted(path, () if shipped else keys), country)
    return world_of([in_country(each, country) for each in _shipped()])


def member_of(policy: Policy, recipient: str) -> str:
    """A host of a group, a list or a kind of recipients; a host as it is named."""
    name = recipient.removeprefix(SIGN)
    if name in {*policy.groups, *policy.lists, *KINDS}:
        return policy.host_for(RuleScope(name).rule(policy))
    return recipient


def note_unknown_query(query: str, model: Model) -> None:
    """Name the known query that one unknown to the model was probably meant to be."""
    near = nearest(query, [each.text for each in model.queries])
    if near is not None and model.read(query).query is None:
        note(f"the model does not cover {query!r}; did you mean {quoted(near)}?")


@policy.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE]...")
@answers
def check(files: tuple[Path, ...]) -> Output:
    """List the mistakes in policy files, by default in your own.

    Tries the tests in each. Also lists what has no effect: rules that never match, or that others
    always override; and what nearly tells a fact that is never sent.
    """
    from agent.daemon.policy_file import limits_of

    models = installed_models()
    checked, lines, code = [], list[str](), 0
    for file in files or (paths().policy,):
        problems, remarks, rules = tuple[Problem, ...](), tuple[Remark, ...](), 0
        limits, failed = "", tuple[Problem, ...]()
        findings: Sequence[Problem | Remark] = ()
        try:
            policy = read_policy(file)
            check_policy(policy, models)
        except PolicyError as error:
            findings = problems = error.problems
            code = max(code, error.exit_code)
            verdict = f"{file}: {counted(len(problems), 'problem')}, so it is not used"
        except UsageError as error:
            problems, code = (Problem(1, "", str(error), error.hint),), error.exit_code
            verdict = f"{error} ({error.hint})"
        else:
            rules = sum(e.is_own for e in (*policy.rules, *policy.contexts, *policy.together))
            remarks, failed = audited(policy, models, today()), failed_tests(policy, models)
            findings, code = (*failed, *remarks), max(code, int(bool(failed)))
            # The daemon need not wait for the rest of its file; it knows where the user lives.
            taken = notify("reload") if file == paths().policy else None
            notes = f", {counted(len(remarks), 'note')}" if remarks else ""
            tests = f", {counted(len(policy.tests), 'test')}" if policy.tests else ""
            verdict = f"{file}: {counted(rules, 'rule')}{tests}, no problems{notes}"
            if failed:
                verdict = f"{file}: {counted(len(failed), 'test')} not met; the rules are in use"
            limits = limits_of(policy, today(), doubled=taken is not None and taken.doubled)
        for each in findings:
            kind = "note: " if isinstance(each, Remark) else ""
            key = f"{each.key}: " if each.key else ""
            lines.append(f"{file}:{each.line}: {kind}{key}{each.what} ({each.hint})")
        lines += [verdict, *([f"{file}: limits: {limits}"] if limits else [])]
        plain = [each._asdict() for each in problems]
        noted = [each._asdict() | {"rule": each.rule.name} for each in remarks]
        found = {"problems": plain, "remarks": noted, "limits": limits}
        found["failed_tests"] = [each._asdict() for each in failed]
        checked.append({"file": str(file), "rules": rules, **found})
    return Output({"files": checked}, "\n".join(map(printable, lines)), code)


def written(value: Value, key: str = "") -> str:
    """Write a value as it stands on a page; ``key``: of its setting."""
    if key == "sensitivity":
        return sensitivity(float(value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _named(rule: Rule, lines: Lines, key: str = "", value: str = "") -> str:
    """Name a rule beside others of its file, with its value if that is given."""
    name = rule.source if rule.layer is Layer.PRESET else rule.name
    number = rule.line_in(lines, key)
    place = ": ".join(filter(None, ("" if number is None else f"line {number}", value)))
    return f"{name} ({place})" if place else name


def _because(key: str, verdict: Verdict, lines: Lines) -> str:
    """Name the rule that decided, and which others lost and why; defaults are left out."""
    grouped: dict[str, dict[str, None]] = defaultdict(dict)
    for loss in losses(key, verdict):
        if loss.rule.layer is not Layer.DEFAULTS:
            why = texts("policy")["why"][loss.why]
            if loss.winner is not verdict.rule:
                winner = _named(loss.winner, lines)
                why = f"while {{}} lost to {winner.replace('{', '{{').replace('}', '}}')}"
            grouped[why][_named(loss.rule, lines, key, written(loss.value))] = None
    parts = [why.format(", ".join(lost)) for why, lost in grouped.items()]
    return "; ".join([_named(verdict.rule, lines, key) + verdict.telling, *parts])


def _ruled(verdicts: Verdicts, lines: Lines) -> dict[str, dict[str, Any]]:
    """Describe verdicts in plain types, with why other rules lost."""
    return {
        key: {
            "value": each.value,
            "rule": each.because,
            "from": SOURCES[each.rule.layer],
            "source": each.rule.source,
            "line": each.rule.line_in(lines, key),
            "because": _because(key, each, lines),
        }
        for key, each in verdicts.items()
    }


def _settings_text(settings: Verdicts, lines: Lines) -> Iterator[str]:
    """Lay out what is ruled of the request, in the order of the language."""
    rows, default = [], []
    for key in SETTINGS:
        if each := settings.get(key):
            if each.rule.layer is Layer.DEFAULTS:
                default.append(f"{key} {written(each.value)}")
            else:
                rows.append((key, written(each.value), _because(key, each, lines)))
    yield table(DECIDED, rows)
    yield paragraph(f"By default: {', '.join(default)}.")


def _attributes_text(attributes: Mapping[str, Verdicts], lines: Lines, titles: Titles) -> str:
    """Lay out the attributes, those with the same verdict from the same rules together."""
    groups: dict[tuple[int, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, verdicts in attributes.items():
        kind = text = may(verdicts)
        if kind == GUARDED:
            text += f" (weight {written(verdicts['guard'].value)})"
        if "sensitivity" in verdicts:
            text += f", sensitivity {sensitivity(float(verdicts['sensitivity'].value))}"
        rules = {
            key: f"by {_because(key, verdict, lines)}"
            for key, verdict in verdicts.items()
            if key not in ("guard", "disclose") or (key == "guard") == (kind == GUARDED)
        }
        alike = len({*rules.values()}) == 1
        why = (rules[k] if k == "disclose" or alike else f"{k} {rules[k]}" for k in rules)
        groups[ORDER.index(kind), text, tuple(dict.fromkeys(why))].append(name)
    shown = []
    for (_, text, reasons), names in sorted(groups.items(), key=lambda each: each[0][0]):
        shown.append(paragraph(f"{text}: {', '.join(titled(names, titles))}", "  "))
        shown += [paragraph(each, "    ") for each in reasons]
    return "\n".join(shown)


def _together_text(ruling: Ruling, lines: Lines) -> str:
    """Say of facts what it costs more to tell all of them."""
    return "; ".join(
        f"{listed(each.parts['attribute'])}, {bits(float(each.settings['price']))} bits "
        f"for all of them (line {each.line_in(lines, 'price')})"
        for each in ruling.together
    )


@policy.command()
@option("--recipient", options.RECIPIENT, "RECIPIENT", WHOM)
@option("--query", options.QUERY, "TEXT", options.ASKED)
@policy_option
@model_option
@answers
def show(recipient: str | None, query: str | None, file: Path, model: Path | None) -> Output:
    """Show every setting in force, and which rule decides it.

    A setting comes from the file, its preset or the defaults. With --recipient and --query it shows
    what holds for that request, made now from the command line, and why other rules lost.
    """
    if query is not None and recipient is None:
        raise UsageError("--query needs --recipient", "name who receives the request")
    used, loaded = read_model(model), read_policy(file)
    models, lines = with_others(used), lines_of(loaded.text)
    check_policy(loaded, models)
    noted(loaded, models)
    book = rulebook(loaded, used, models)
    rules = [each for each in book.policy.rules if each.layer is Layer.FILE]
    if recipient is None:
        anywhere = tuple(each for each in book.policy.rules if each.anywhere)
        book = rulebook(replace(book.policy, rules=anywhere, groups={}), used, models)
    topics = topics_of(loaded, models, Model.read, query or "")
    whom = ANYBODY if recipient is None else member_of(loaded, recipient)
    ruling = book.match(whom, query or "", options.now(), topics, "cli")
    if recipient in KINDS:
        ruling = replace(ruling, host=recipient, pool="")
    host = None if recipient is None else ruling.host
    pool = f"the whole group {ruling.pool[1:]}" if ruling.pool.startswith(SIGN) else ruling.pool
    about = {"remembered by": pool if host else "", "more together": _together_text(ruling, lines)}
    if query is None:
        named = host or "recipients without rules of their own"
        head = f"What {loaded.source} rules for {named}, and which rule decides it."
    else:
        note_unknown_query(query, used)
        reading = read_by(used.read(query), used)
        head = _verdict(ruling, lines, unread=reading is None)
        about = {"policy": loaded.source, "query": query, "read as": read_as(reading)} | about
    groups = {name: [each.text for each in of] for name, of in loaded.groups.items()}
    if host is None:
        about["groups"] = ", ".join(f"{name} ({', '.join(of)})" for name, of in groups.items())
        partial = [each for each in rules if each.parts.keys() - {"attribute", "expires"}]
        about["for some only"] = ", ".join(_named(each, lines) for each in partial)
    about["trusted keys"] = ", ".join(loaded.trusted_keys)
    message = {
        "policy": loaded.source,
        "recipient": host,
        "pool": None if host is None else ruling.pool,
        "query": query,
        "today": str(today()),
        "trusted_keys": [*loaded.trusted_keys],
        "daemon": asdict(loaded.daemon),
        "groups": groups,
        "together": [{"facts": e.parts["attribute"], **e.settings} for e in ruling.together],
        "settings": _ruled(ruling.settings, lines),
        "attributes": {name: _ruled(ruling.attributes[name], lines) for name in ruling.known},
    }
    text = page(
        head,
        facts((name, text) for name, text in about.items() if text),
        *_settings_text(ruling.settings, lines),
        "Attributes",
        _attributes_text(ruling.attributes, lines, used.titles),
    )
    return Output(message, text)


def _verdict(ruling: Ruling, lines: Lines, *, unread: bool) -> str:
    """Say what may be sent with a request; ``unread``: what is asked is not recognised."""
    if (nothing := ruling.settings["nothing"]).value:
        rule = _named(nothing.rule, lines, "nothing")
        return f"Nothing is sent to {ruling.host}: {rule} says so."
    if ruling.settings["results"].value == "rerank" and ruling.kind != ASSISTANT:
        return f"Nothing is sent to {ruling.host}: {WHY_NOTHING['ordered here']}."
    if unread and ruling.settings["unknown_queries"].value == "nothing":
        return f"Nothing is sent to {ruling.host}: {WHY_NOTHING['unknown query']}."
    kinds = [may(verdicts) for verdicts in ruling.attributes.values()]
    sent, waiting = sum(each in ("always", "auto") for each in kinds), kinds.count("ask")
    others = f"waiting for your approval: {waiting}; never sent: {len(kinds) - sent - waiting}"
    return f"Of {len(kinds)} facts, {sent} may be sent to {ruling.host}; {others}."
