"""`reticent browser`: let the browsers of this user start the relay to the daemon."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

import click

from agent.cli.daemon import usual
from agent.cli.groups import Commands
from agent.cli.options import Answer, OneOf, answers
from agent.cli.printing import Column, listing, paragraph, table, wide
from agent.daemon.browsers import (
    BROWSERS,
    Browser,
    ManifestState,
    Seen,
    System,
    install_manifests,
    is_here,
    look_at_launcher,
    look_at_manifests,
    remove_manifests,
    sandboxes,
)
from agent.daemon.doctor import OUTDATED, UPDATE, confined
from agent.daemon.extension import look_at_extension, remove_extension, unpack_extension
from agent.errors import UsageError
from agent.paths import paths

NAMES = [each.name for each in BROWSERS]
STATES = {
    "absent": "not connected",
    "installed": "connected",
    "differing": "connected to another installation of reticent",
    "foreign": "has a manifest that is not reticent's",
}
LOADING = {
    "chromium": 'In {titles}: open chrome://extensions, switch on "Developer mode", click "Load'
    ' unpacked" and choose that folder.',
    "firefox": 'In {titles}: open about:debugging#/runtime/this-firefox, click "Load Temporary'
    ' Add-on" and choose manifest.json in that folder. Firefox drops it when it closes.',
}
HIDDEN = (
    "The folder may be hidden: in the dialog press Ctrl+L, on a Mac Shift+Cmd+G, and paste its"
    " path."
)
EXTENSION = {  # by what there was of it
    "absent": "Each browser has to load the extension once, from this folder:",
    "installed": "Each browser has to load the extension once, from this folder:",
    "differing": "The extension was updated; reload it in each browser, from this folder:",
    "foreign": "This was edited, and stays; move it away and run this again to update it:",
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
    It unpacks the extension too, and says how to load it.
    Your browsers' own files are left alone; `remove` undoes it.
    """  # noqa: D301  (click's mark, which stands for itself)
    chosen = _chosen(browser) or [each for each in BROWSERS if is_here(each, system())]
    boxed = _confined()
    if not chosen:
        none = ("no browser was found", f"name one: {', '.join(NAMES)}")
        raise UsageError(*next(iter(boxed), none))
    written = install_manifests(manifests(chosen), paths(), sys.executable)
    before, place = unpack_extension(paths()), paths().extension
    places = [*map(str, written), *([str(place)] if before in {"absent", "differing"} else [])]
    notes = [f"{what}: {fix}." for what, fix in boxed]
    titles = ", ".join(each.title for each in chosen)
    lines = [f"{titles} can reach the daemon once the extension is loaded there.", *notes]
    parts = [listing("Wrote:", places), *map(paragraph, lines), "", *_loading(chosen, before)]
    names = [each.name for each in chosen]
    extension = {"folder": str(place), "before": before}
    message = {"browsers": names, "written": places, "extension": extension, "notes": notes}
    return Answer(message, "\n".join(parts))


def _loading(browsers: Iterable[Browser], before: ManifestState) -> Iterator[str]:
    """Yield where the extension is, and how each kind of browser loads it."""
    yield listing(EXTENSION[before], [paths().extension])
    for kind, text in LOADING.items():
        if titles := [each.title for each in browsers if each.kind == kind]:
            yield paragraph(text.format(titles=", ".join(titles)))
    yield paragraph(HIDDEN)


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
    if not ours:
        gone += map(str, remove_extension(paths()))
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
    extension = look_at_extension(paths())
    message = {"browsers": found, "relay": relay, "extension": extension, "notes": [*notes]}
    rows = [
        (each.browser.title, "yes" if is_here(each.browser, whose) else "no", STATES[each.state])
        for each in seen
    ]
    if not any(each.mine for each in seen):
        notes.append("`reticent browser install` connects those that are installed.")
    elif relay != "installed":
        notes.append(f"{paths().relay} is out of date: run `reticent browser install`.")
    if extension == "differing":
        notes.append(f"{paths().extension} has {OUTDATED}: {UPDATE}.")
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
