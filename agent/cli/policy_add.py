"""`reticent policy add`: a rule, asked for in the order of a sentence."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import ndiff
from functools import partial
from importlib.resources import files
from typing import Any

import click
from msgspec.structs import replace

from agent.cli.daemon_client import call
from agent.cli.options import at_terminal
from agent.cli.policy import installed_models, read_policy
from agent.cli.policy_edit import trial, write
from agent.cli.printing import facts, paragraph, printable, say
from agent.cli.prompts import chosen, confirmed, line
from agent.errors import ReticentError, UsageError
from agent.model.model import Model
from agent.paths import paths
from agent.wire.policy import PolicyEdit
from agent.words.notices import edited, would_differ
from policy import amend
from policy.families import families
from policy.rules import SIGN, Policy, Words, is_group, recipient, spoken
from policy.sections import MISPLACED
from policy.settings import DAYS, SETTINGS, WHEN, Value, fitting
from policy.toml_text import lines_of

Parts = dict[str, Any]  # the conditions of a rule, as a file has them
Parse = Callable[[str], Any]
TEXTS = tomllib.loads((files("agent.cli") / "policy_add.toml").read_text("utf-8"))
CLOCK = re.compile(r"(\d{1,2})(:\d\d)?-(\d{1,2})(:\d\d)?")
WEEK: dict[str, Sequence[str]] = {"always": (), "weekend": DAYS[5:], "weekdays": DAYS[:5]}
WEEK |= {name: [day] for day, full in TEXTS["days"].items() for name in (day, full.casefold())}


@click.command()
def add() -> None:
    """Add a rule: you are asked what it is about, to whom, when, and what is to happen then.

    Before anything is written you see the rule as a sentence and as the file will have it, and how
    many of your latest requests would have carried something else.
    """
    if not at_terminal():
        hint = "use `reticent policy set`, or write the rule by hand"
        raise UsageError("this asks questions, and there is no terminal", hint)
    file, models = paths().policy, installed_models()
    before = read_policy(file)
    say(TEXTS["begin"])
    parts = conditions(before, models)
    values, text = effect(parts, models)
    edit = PolicyEdit(set=values, more=parts)
    after, done = trial(edit, file, models)
    click.echo(f"\n{paragraph(text)}\n", err=True)
    if not done.changed:
        say("Your policy says so already.")
        return
    changes = ndiff(before.text.splitlines(), after.text.splitlines())
    added = "\n".join(f"  {printable(each[2:])}" for each in changes if each[:1] == "+").strip()
    click.echo(f"  {added}\n\n{paragraph(replayed(edit))}", err=True)
    if not confirmed(f"Enter writes nothing. Write this into {file}?"):
        say("Nothing was written.")
        return
    undo = "`reticent undo` takes it back" if write(edit, file) else "delete it to take it back"
    rules = amend.places(amend.RuleScope(more=parts), after)
    rule = next(each for each in rules if each.settings.keys() >= values.keys())
    line_ = rule.line_in(lines_of(after.text), *values)
    text = edited(f"Written into {file}, line {line_}", done)
    click.echo(paragraph(f"{text} `reticent policy check` checks all rules; {undo}."))


def replayed(edit: PolicyEdit) -> str:
    """Say how many of the latest requests would have carried something else after an edit."""
    try:
        return would_differ(call("edit_policy", replace(edit, dry_run=True)))
    except ReticentError as error:
        return f"It cannot be tried on past requests: {error}."


def conditions(policy: Policy, models: Sequence[Model]) -> Parts:
    """Ask for which requests a rule is."""
    kinds = [each for one in reversed(models) for each in one.attributes if not each.further]
    topics = [each for one in models for each in one.queries]
    called = {
        "attribute": {spoken(each.title): each.name for each in kinds}
        | {spoken(each.name): each.name for each in kinds}
        | {family: SIGN + family for family in families()},
        "topic": {spoken(n): each.title for each in topics for n in (each.text, each.title)}
        | {family: family for family in families()},
    }
    parts: Parts = {}
    for about in asked("about"):
        known = called.get(about, {})
        parse = partial(_several, partial(_called, about, known))
        parse = parse if known else partial(_phrases, called["topic"])
        parts[about] = answer(about, parse)
    sets = {name: f"{name}, a group" for name in policy.groups}
    sets |= {name: f"{name}, a list" for name in policy.lists}
    parts["recipient"] = asked("recipient", sets)
    if all(map(is_group, parts["recipient"])):
        parts["except"] = asked("except", sets)
    parts |= answer("when", _when)
    parts["door"] = asked("door")
    some = {key: each for key, each in parts.items() if each}
    return {key: each[0] if len(each) == 1 else each for key, each in some.items()}


def effect(parts: Parts, models: Sequence[Model]) -> tuple[dict[str, Value], str]:
    """Ask what a rule is to do, of what one for these requests can; its setting, and a sentence."""
    barred = {about for part in parts if part in MISPLACED for about in MISPLACED[part][1]}
    may = {
        each["answer"]: each
        for each in TEXTS["effects"]
        if SETTINGS[each["key"]].about not in barred
        and parts.keys().isdisjoint(each.get("without", ()))
        and each.get("needs", "") in ("", *parts)
    }
    does = may[answer("effect", lambda text: chosen(text or "1", [*may]), [*may])]
    key = does["key"]
    value = does.get("value") or answer("number", lambda text: amend.value_of(key, text or "3"))
    words = {each.name: each.title for one in reversed(models) for each in one.attributes}
    words |= {SIGN + each: f"facts about {each}" for each in families()}
    words |= TEXTS["days"] | TEXTS["door"]["answers"]
    said = {k: [each] if isinstance(each, str) else each for k, each in parts.items()}
    texts = {k: " or ".join(words.get(e, e) for e in each) for k, each in said.items()}
    what, whom = texts.get("attribute", "your facts"), texts.get("recipient", "anybody")
    text = does["sentence"].format(what=what, whom=whom, number=value)
    text += "".join(end.format(texts[k]) for k, end in TEXTS["ends"].items() if k in texts)
    return {key: value}, f"{text[:1].upper()}{text[1:]}."


def answer(name: str, parse: Parse, listing: Sequence[str] = ()) -> Any:  # noqa: ANN401  (as parsed)
    """Ask a question, below what it lists, until it is answered; ? explains it."""
    if listing:
        click.echo(f"\n{facts((str(at), text) for at, text in enumerate(listing, 1))}", err=True)
    while True:
        text = line(TEXTS[name]["ask"])
        try:
            if text != "?":
                return parse(text)
            say(TEXTS[name]["help"])
        except UsageError as error:
            say(f"{error.what} ({error.hint}).")


def asked(name: str, named: Mapping[str, str] | None = None) -> list[str]:
    """Ask for some of the answers that are listed; none for the first.

    ``named``: more of them, beside which any recipient may be named.
    """
    answers = {**TEXTS[name]["answers"], **(named or {})}

    def one(text: str) -> str:
        if named is None or text in answers or text.isdecimal():
            return chosen(text, [*answers])
        whom = recipient(text, named)
        return whom if isinstance(whom, str) else whom.text

    some: list[str] = answer(name, partial(_several, one), [*answers.values()])
    return [] if next(iter(answers)) in some else some


def names(text: str) -> tuple[str, ...]:
    """Split names that are joined by commas, and strip the white space around them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _several(parse: Parse, text: str) -> list[str]:
    """Parse a text, or else what stands between its commas; none for none."""
    with suppress(UsageError):
        return [parse(text)]
    return [*dict.fromkeys(map(parse, names(text)))]


def _phrases(topics: Mapping[str, str], text: str) -> list[str]:
    phrases = [Words.parse(each).text for each in names(text)]
    if named := [each for each in phrases if each in topics]:
        raise UsageError(f"{named[0]!r} is the name of a topic", "make it a rule about that topic")
    return phrases


def _called(kind: str, known: Mapping[str, str], text: str) -> str:
    """What goes by a name or title."""
    if found := known.get(spoken(text)):
        return found
    raise UsageError.unknown(kind, spoken(text), known)


def _when(text: str) -> Parts:
    """The hours and days that a text names."""
    found, days = Parts(), set[str]()
    for each in re.sub(r"\s*-\s*", "-", text.casefold()).replace(",", " ").split():
        if each in WEEK:
            days |= {*WEEK[each]}
        elif (clock := CLOCK.fullmatch(each)) and "hours" not in found:
            ends = (f"{int(clock[at]):02}{clock[at + 1] or ':00'}" for at in (1, 3))
            found["hours"] = fitting(WHEN["hours"], "-".join(ends))
        else:
            raise UsageError(f"{each!r} is not understood here", "? says what is")
    return found | {"days": [each for each in DAYS if each in days]}
