"""Change what a policy rules: `set` and `block`."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click

from agent.cli.daemon_client import call, notify
from agent.cli.init import TEXTS
from agent.cli.options import FACT, QUERY, RECIPIENT, Output, answers, option, pair, today
from agent.cli.policy import check_policy, installed_models, noted, policy_option, written
from agent.cli.printing import note, paragraph
from agent.daemon.instructions import overriding_rules, plan_of
from agent.daemon.policy_file import rewrite
from agent.decision.topics import attributes_of
from agent.errors import AbsentError, PolicyError, UsageError
from agent.files import create_private, private_folder
from agent.model.model import Model
from agent.paths import paths
from agent.wire.base import Done, RecipientName
from agent.wire.decide import Allowed
from agent.wire.policy import Edited, PolicyEdit
from agent.words.figures import listed
from agent.words.notices import edited, unblocked
from policy import amend
from policy.read import load, preset, read
from policy.rules import Policy
from policy.settings import SETTINGS
from policy.toml_text import parsed, rewritten

BLOCKED = "{} gets nothing from now on, under any of its names, by a rule in the policy."

KIND_HELP = "For one recipient, a group, any assistant, any search engine or any other site."


def day(text: str) -> date:
    """Parse a date; UsageError if it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date", "write it as 2027-03-01") from None


def keys(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Complete the key of a setting."""
    return [f"{key}=" for key in SETTINGS if key.startswith(begun)]


@click.command("set")
@click.argument("pairs", nargs=-1, required=True, metavar="KEY=VALUE...", shell_complete=keys)
@option("--recipient", RECIPIENT, "RECIPIENT", KIND_HELP)
@option("--attribute", FACT, "FACT", "For one fact, or a pattern.")
@option("--query", QUERY, "WORDS", "For queries with these words; - reads the standard input.")
@option("--expires", day, "DATE", "Through this day, as 2027-03-01.")
@policy_option
@answers
def set_(pairs: tuple[str, ...], file: Path, **scope: Any) -> Output:  # noqa: ANN401  (of the options)
    """Change a setting in a policy, for all requests or only for those that you name.

    KEY= takes a setting out, and a rule that has no other. Comments stay. Nothing is written if the
    result would not be a valid policy. Rules that still win over the new one are listed.
    preset=strict, balanced or generous has the policy start from that, and writes one where there
    is none.
    sensitivity= takes bits, or whom you would tell: anybody, "most people", "some people",
    "few people" or nobody.
    """
    models = installed_models()
    titles = {each.name: each.title for one in reversed(models) for each in one.attributes}
    given = dict((each[:-1], "") if each.endswith("=") else pair(each) for each in pairs)
    if "preset" in given:
        if len(given) > 1 or any(scope.values()):
            raise UsageError("a preset is set alone, and for all requests", "leave out the rest")
        return _start_from(given["preset"], file)
    for key, text in given.items():
        if key not in SETTINGS and key in titles:
            hint = f"write disclose={text} --attribute {key}"
            raise UsageError(f"{key!r} is a fact, not a setting", hint)
    values = {key: amend.value_of(key, text) for key, text in given.items() if text}
    edit = PolicyEdit(set=values, unset=[key for key in given if key not in values], **scope)
    after, done = trial(edit, file, models)
    noted(after, models)
    write(edit, file)
    stand = [f"{key} = {written(value, key)}" for key, value in values.items()]
    stand += [f"{key} is removed" for key in edit.unset]
    text = paragraph(edited(f"{file}: {listed(stand)}", done, titles))
    return Output({"changed": done.changed, "wins": done.wins}, text)


def _start_from(name: str, file: Path) -> Output:
    """Have a policy start from a preset; one is written where there is none."""
    changed = True
    if file.exists():
        new = rewrite(file, lambda text, _: rewritten(text, {**parsed(text), "preset": name}))
        changed = new.changed
    else:
        text = TEXTS["starter"].format(preset=name)
        read(text, str(file), preset)
        if file == paths().policy:
            private_folder(file.parent)
        create_private(text.encode(), file)
    if file == paths().policy:
        notify("reload")
    done = Edited(changed=changed, wins=[])
    stands = paragraph(edited(f'{file}: preset = "{name}"', done))
    return Output({"changed": done.changed, "wins": done.wins}, stands)


def trial(edit: PolicyEdit, path: Path, models: Sequence[Model]) -> tuple[Policy, Edited]:
    """What a policy file would say after an edit, and the rules that would win over that.

    All that is wrong with it, or would be, is shown.
    """
    where, values = plan_of(edit, today())
    change = partial(amend.edited, where=where, new=values)
    load(path)
    try:
        tried = rewrite(path, change, partial(check_policy, models=models), dry_run=True)
    except UsageError as error:
        if isinstance(error.__cause__, PolicyError):
            note("this is what the policy would be, and nothing was written")
            raise error.__cause__ from None
        raise
    wins = overriding_rules(tried.after, where, values, attributes_of(models, models), today())
    return tried.after, Edited(changed=tried.changed, wins=wins)


def write(edit: PolicyEdit, path: Path) -> bool:
    """Change a policy file: the user's own by the daemon where it runs, so that it can be undone.

    Says whether it can.
    """
    if path == paths().policy:
        with suppress(AbsentError):
            call("edit_policy", edit)
            return True
    where, values = plan_of(edit, today())
    rewrite(path, partial(amend.edited, where=where, new=values))
    return False


@click.command()
@click.argument("recipient", type=RECIPIENT, metavar="RECIPIENT")
@click.option("--undo", is_flag=True, help="Treat RECIPIENT like others again.")
@answers
def block(recipient: str, *, undo: bool) -> Output:
    """Send nothing more to RECIPIENT, from the next request on.

    The block is written into the policy, and covers whatever counts as one with RECIPIENT: all
    domains of its company, and its group. They keep what they already know.
    """
    if not undo:
        done: Done = call("refuse", RecipientName(recipient=recipient))
        return Output(done, paragraph(BLOCKED.format(recipient)))
    lifted: Allowed = call("allow", RecipientName(recipient=recipient))
    return Output(lifted, paragraph(unblocked(recipient, lifted)))
