"""`reticent browser`: let the browsers of this user start the relay to the daemon."""

import os
import sys
from collections.abc import Iterable, Sequence

import click

from agent.cli.daemon import usual
from agent.cli.groups import Commands
from agent.cli.options import Answer, OneOf, answers
from agent.cli.printing import Column, listing, paragraph, table, wide
from agent.daemon.browsers import (
    BROWSERS,
    Browser,
    Seen,
    System,
    install_manifests,
    is_here,
    look_at_launcher,
    look_at_manifests,
    remove_manifests,
    sandboxes,
)
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
COLUMNS = (Column("browser"), Column("installed"), wide("state"))

which = click.argument("browser", metavar="[BROWSER]...", nargs=-1, type=OneOf(NAMES))


def system() -> System:
    """Return whose browsers are meant."""
    return System(usual(), os.environ)


def manifests(browsers: Iterable[Browser] = BROWSERS) -> tuple[Seen, ...]:
    """Return the manifests of browsers, ours or not, as they are now."""
    return look_at_manifests(system(), paths(), browsers)


@click.group(cls=Commands)
def browser() -> None:
    """Let your browsers reach the daemon, through reticent's extension only."""


@browser.command()
@which
@answers
def install(browser: Sequence[str]) -> Answer:
    """Connect each BROWSER, by default all that are installed.

    \b
    BROWSER is one of chromium, chrome, brave, edge, vivaldi, firefox.
    Your browsers' own files are left alone; `remove` undoes it.
    """  # noqa: D301  (click's mark, which stands for itself)
    chosen = _chosen(browser) or [each for each in BROWSERS if is_here(each, system())]
    boxed = _confined()
    if not chosen:
        none = ("no browser was found", f"name one: {', '.join(NAMES)}")
        raise UsageError(*next(iter(boxed), none))
    places = [*map(str, install_manifests(manifests(chosen), paths(), sys.executable))]
    notes = [f"{what}: {fix}." for what, fix in boxed]
    titles = ", ".join(each.title for each in chosen)
    then = f"{titles} can reach the daemon once the extension is installed there."
    page = "\n".join([listing("Wrote:", places), *map(paragraph, [then, *notes])])
    names = [each.name for each in chosen]
    return Answer({"browsers": names, "written": places, "notes": notes}, page)


@browser.command()
@which
@answers
def remove(browser: Sequence[str]) -> Answer:
    """Disconnect each BROWSER, by default all of them."""
    gone = [*map(str, remove_manifests(manifests(_chosen(browser) or BROWSERS)))]
    ours = any(each.mine for each in manifests())
    if not ours and look_at_launcher(paths(), sys.executable) in {"installed", "differing"}:
        paths().relay.unlink()
        gone.append(str(paths().relay))
    head = "Removed; a running browser stays connected until you close it:"
    none = "No browser was connected, so nothing was removed."
    return Answer({"removed": gone}, listing(head, gone) if gone else none)


@browser.command()
@answers
def status() -> Answer:
    """Show which browsers are installed, and which are connected."""
    whose, seen = system(), manifests()
    notes = [f"{what}: {fix}." for what, fix in _confined()]
    relay = look_at_launcher(paths(), sys.executable)
    found = [
        {
            "name": each.browser.name,
            "here": is_here(each.browser, whose),
            "sandboxes": [*sandboxes(each.browser, whose)],
            "state": each.state,
            "manifest": str(each.path),
        }
        for each in seen
    ]
    message = {"browsers": found, "relay": relay, "notes": [*notes]}
    rows = [
        (each.browser.title, "yes" if is_here(each.browser, whose) else "no", STATES[each.state])
        for each in seen
    ]
    if not any(each.mine for each in seen):
        notes.append("`reticent browser install` connects those that are installed.")
    elif relay != "installed":
        notes.append(f"{paths().relay} is out of date: run `reticent browser install`.")
    return Answer(message, "\n".join([table(COLUMNS, rows), *map(paragraph, notes)]))


def _chosen(names: Sequence[str]) -> list[Browser]:
    return [each for each in BROWSERS if each.name in names]


def _confined() -> list[tuple[str, str]]:
    """Return what is wrong with browsers that are installed in a sandbox only, and its fix."""
    whose = system()
    return [
        confined(each, sandbox)
        for each in BROWSERS
        if not is_here(each, whose)
        for sandbox in sandboxes(each, whose)
    ]
