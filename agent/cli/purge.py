"""`reticent purge`: remove everything of ours from this machine, after asking."""

from collections.abc import Iterator, Sequence

import click

from agent.cli.asked import agree
from agent.cli.browser import removed_manifests, told
from agent.cli.interrupt import uninterrupted
from agent.cli.layout import counted
from agent.cli.options import json_option, record, yes_option
from agent.cli.problems import note, printable
from agent.cli.service import removed_service, usual, written
from agent.cli.stop import ended
from agent.daemon.belongings import Belongings, accounts, belongings, forget, remove
from agent.daemon.service.installed import foreign, look
from agent.paths import Paths, paths

WORD = "purge"


@click.command()
@yes_option
@json_option
def purge(*, yes: bool, as_json: bool) -> None:
    """Remove everything of reticent's from this machine, for good.

    The vault, the policy, added models, the log, the sockets, the service, what browsers
    were told, and the key in the keyring. What it is, is listed first. Backups elsewhere stay.
    """
    at = paths()
    found = belongings(at)
    units = written(usual())
    service = [] if foreign(units) else [str(each) for each in look(units).present]
    going, staying = [*map(str, found.ours), *service, *told()], [*_staying(found)]
    if going:
        agree(_question(going, staying), yes=yes, word=WORD)
    with uninterrupted():
        removed, left = removed_service(usual()) if service else ([], [])
        removed += removed_manifests()
    if found.ours or found.folders:
        removed = _removed(at) + removed
    if as_json:
        stays, commands = [str(each) for each in found.others], [" ".join(each) for each in left]
        click.echo(record({"removed": removed, "stays": stays, "left": commands}))
    else:
        _tell(removed, staying, left)


def _removed(at: Paths) -> list[str]:
    """Remove the keys in the keyring and all files; return these. The daemon is ended before."""
    with ended(at), uninterrupted():
        keys = accounts(belongings(at))
        kept = forget(keys.names)
        removed = [str(each) for each in remove(belongings(at))]
    if kept:
        what = "the keyring did not let go of the vault's key, which opens nothing any more"
        note(f"{what}; its service is called reticent")
    for each in keys.unread:
        what = f"{each} could not be read, so the keyring may still have a key for it"
        note(f"{what}; its service is called reticent")
    return removed


def _question(going: Sequence[str], staying: Sequence[str]) -> str:
    """Return what goes and what stays, and what is to be typed."""
    lines = ["This goes, for good, with the key in the keyring if there is one:"]
    lines += [*(f"  {each}" for each in going), *staying]
    return "\n".join(printable(line) for line in [*lines, f"Type {WORD} to remove it"])


def _tell(removed: Sequence[str], staying: Sequence[str], left: Sequence[list[str]]) -> None:
    """Say how much went, what stays, and which commands are left to the user."""
    if not removed:
        click.echo("There was nothing to remove.")
        return
    lines = [f"Removed {counted(len(removed), 'file or folder', 'files and folders')}."]
    lines += [*staying, "Backups that you made elsewhere stay where they are."]
    if left:
        lines.append("The system's manager of services did not answer. Where it does, run:")
        lines += [f"  {' '.join(each)}" for each in left]
    click.echo("\n".join(printable(line) for line in lines))


def _staying(found: Belongings) -> Iterator[str]:
    """Yield lines about what lies among ours and stays."""
    if found.others:
        yield "This is not reticent's, and stays:"
        yield from (f"  {each}" for each in found.others)
    links = [each for each in found.ours if each.is_symlink() and each.exists()]
    if links:
        yield "These are links. They go; what they lead to stays:"
        yield from (f"  {each} to {each.resolve()}" for each in links)
