"""`reticent browser`: let the browsers of this user start the relay to the daemon."""

import os
import sys
from collections.abc import Sequence

import click

from agent.cli.daemon import usual
from agent.cli.groups import Commands
from agent.cli.options import OneOf, json_option, record
from agent.cli.printing import Column, paragraph, printable, table
from agent.daemon.browsers import (
    BROWSERS,
    Browser,
    Seen,
    System,
    is_here,
    look_at_launcher,
    look_at_manifests,
    sandboxes,
)
from agent.daemon.browsers import install_manifests as written
from agent.daemon.browsers import remove_manifests as removed
from agent.daemon.doctor import confined
from agent.errors import UsageError
from agent.paths import paths

NAMES = [each.name for each in BROWSERS]
STATES = {
    "absent": "not connected",
    "installed": "connected",
    "differing": "connected to another installation of reticent",
    "foreign": "has a manifest that is not reticent's",
}
COLUMNS = (Column("browser"), Column("here"), Column("state", wraps=True))

which = click.argument("browser", metavar="[BROWSER]...", nargs=-1, type=OneOf(NAMES))


def system() -> System:
    """Return whose browsers are meant."""
    return System(usual(), os.environ)


def told() -> list[str]:
    """Return the manifests that name our launcher."""
    return [str(each.path) for each in look_at_manifests(system(), paths()) if each.mine]


def removed_manifests() -> list[str]:
    """Remove all manifests that name our launcher; return them."""
    return [str(each) for each in removed(look_at_manifests(system(), paths()))]


@click.group(cls=Commands)
def browser() -> None:
    """Let your browsers reach the daemon, for reticent's extension alone."""


@browser.command()
@which
@json_option
def install(*, browser: Sequence[str], as_json: bool) -> None:
    """Connect each BROWSER, by default all that are installed.

    \b
    BROWSER is one of chromium, chrome, brave, edge, vivaldi, firefox.
    Nothing of theirs is changed; `remove` takes it away again.
    """  # noqa: D301  (click's mark, which stands for itself)
    chosen = _chosen(browser) or _here()
    if not chosen:
        raise _nobody()
    places = [
        str(each)
        for each in written(look_at_manifests(system(), paths(), chosen), paths(), sys.executable)
    ]
    notes = [f"{what}: {fix}." for what, fix in _confined()]
    if as_json:
        whose = [each.name for each in chosen]
        click.echo(record({"browsers": whose, "written": places, "notes": notes}))
        return
    titles = ", ".join(each.title for each in chosen)
    lines = ["Wrote:", *(f"  {each}" for each in places)]
    _say([*lines, f"{titles}: once the extension is there, it reaches the daemon."], notes)


@browser.command()
@which
@json_option
def remove(*, browser: Sequence[str], as_json: bool) -> None:
    """Disconnect each BROWSER, by default all of them."""
    gone = [
        str(each)
        for each in removed(look_at_manifests(system(), paths(), _chosen(browser) or BROWSERS))
    ]
    if not told() and look_at_launcher(paths(), sys.executable) in {"installed", "differing"}:
        paths().relay.unlink()
        gone.append(str(paths().relay))
    if as_json:
        click.echo(record({"removed": gone}))
    elif gone:
        _say(
            ["Removed; a browser that runs has it until it ends:", *(f"  {each}" for each in gone)]
        )
    else:
        click.echo("No browser knew of this relay, so nothing was removed.")


@browser.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show which browsers are installed, and which are connected."""
    whose = system()
    seen = look_at_manifests(whose, paths())
    notes = [f"{what}: {fix}." for what, fix in _confined()]
    relay = look_at_launcher(paths(), sys.executable)
    if as_json:
        rows = [_row(each, whose) for each in seen]
        click.echo(record({"browsers": rows, "relay": relay, "notes": notes}))
        return
    cells = [
        (each.browser.title, "yes" if is_here(each.browser, whose) else "no", STATES[each.state])
        for each in seen
    ]
    if not any(each.mine for each in seen):
        notes.append("`reticent browser install` connects those that are here.")
    elif relay != "installed":
        notes.append(f"{paths().relay} is not as it would be written: `reticent browser install`.")
    _say([table(COLUMNS, cells)], notes)


def _row(seen: Seen, whose: System) -> dict[str, object]:
    """Return what is said of a browser to a program."""
    return {
        "name": seen.browser.name,
        "here": is_here(seen.browser, whose),
        "sandboxes": [*sandboxes(seen.browser, whose)],
        "state": seen.state,
        "manifest": str(seen.path),
    }


def _chosen(names: Sequence[str]) -> list[Browser]:
    return [each for each in BROWSERS if each.name in names]


def _here() -> list[Browser]:
    """Return the browsers that can start the relay here."""
    return [each for each in BROWSERS if is_here(each, system())]


def _confined() -> list[tuple[str, str]]:
    """Return what there is to say of browsers that are here in a sandbox alone."""
    whose = system()
    return [
        confined(each, sandbox)
        for each in BROWSERS
        if not is_here(each, whose)
        for sandbox in sandboxes(each, whose)
    ]


def _nobody() -> UsageError:
    """Return the error where no browser is here."""
    for what, fix in _confined():
        return UsageError(what, fix)
    return UsageError("no browser was found", f"name one: {', '.join(NAMES)}")


def _say(lines: Sequence[str], notes: Sequence[str] = ()) -> None:
    """Print lines, and notes below them as paragraphs."""
    shown = "\n".join(lines).splitlines()
    click.echo("\n".join([*(printable(each) for each in shown), *map(paragraph, notes)]))
