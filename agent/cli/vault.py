"""The vault: its keys, its backups, and its removal with everything else."""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from io import UnsupportedOperation
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click

from agent.cli.browser import removed_manifests, told
from agent.cli.daemon import ended, removed_service, usual, written
from agent.cli.daemon_client import COPYING, door
from agent.cli.groups import Commands
from agent.cli.interrupt import uninterrupted
from agent.cli.options import PATH, OneOf, json_option, record, yes_option
from agent.cli.printing import Column, note, paragraph, printable, table
from agent.cli.prompts import (
    PROMPTS,
    agree,
    ask_for,
    ask_secret,
    check_keyring,
    method_of,
    method_options,
    new_passphrase,
)
from agent.daemon.installed_files import InstalledFiles, accounts, forget, installed_files
from agent.daemon.installed_files import remove as remove_files
from agent.daemon.service import foreign, look_at_units
from agent.errors import BusyVaultError, DaemonError, UsageError, VaultError
from agent.paths import Paths, paths
from agent.vault.backup import OTHER, check_backup, copy_closed, key_slots
from agent.vault.backup import restore as put_back
from agent.vault.secrets import Kind, Secret
from agent.vault.slots import SlotRow
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location, read_witness, replaced_vaults, vaults_set_aside
from agent.wire.client import Client
from agent.wire.state import Method, Place, Status
from agent.words.figures import counted

COLUMNS = (Column("id", right=True), Column("opens with", wraps=True), Column("work", wraps=True))
NAMES: dict[Kind | None, str] = {
    "passphrase": "a passphrase",
    "recovery": "a recovery code",
    "keyring": "the keyring of this desktop",
    None: "nothing: it is damaged",
}
LAST: dict[Kind | None, str] = {
    "passphrase": "no passphrase opens the vault now: only `reticent unlock --recovery` does",
    "recovery": "no recovery code opens the vault now: if the passphrase is forgotten, it is lost",
}
CODE = "Write this recovery code down on paper, and keep it apart from this machine:"
WORD = "purge"


@click.group(cls=Commands)
def vault() -> None:
    """Back up, restore or remove the vault, and change what opens it."""


class KeyFlags(TypedDict):
    """How to open the vault, as click hands it over."""

    keyring: bool
    recovery: bool


@vault.group(cls=Commands)
def key() -> None:
    """Change what opens the vault: passphrases, recovery codes, the keyring.

    The daemon must not have it open: run `reticent lock` first.
    """


@key.command(name="list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the key slots, without opening the vault."""
    found = _slots()
    if as_json:
        click.echo(record({"keys": [_record(each) for each in found]}))
        return
    click.echo(table(COLUMNS, [(str(each.id), NAMES[each.kind], _work(each)) for each in found]))


@key.command()
@click.argument(
    "kind", type=OneOf(["passphrase", "recovery", "keyring"]), metavar="passphrase|recovery|keyring"
)
@method_options
@json_option
def add(*, kind: Kind, as_json: bool, **flags: Unpack[KeyFlags]) -> None:
    """Let one more secret open the vault; you need one that opens it now.

    With a forgotten passphrase: `reticent vault key add passphrase --recovery`.
    """
    if kind == "keyring":
        check_keyring()
    with _opened(flags) as vault:
        text = new_passphrase("New passphrase") if kind == "passphrase" else ""
        before = _kinds(vault)
        with uninterrupted():
            code = _added(vault, kind, text)
            [number] = _kinds(vault).keys() - before.keys()
            done = {"id": number, "kind": kind, "recovery_code": code}
            said = f"Key slot {number} opens the vault with {NAMES[kind]}."
            _tell(done, said, code, as_json=as_json)


@key.command()
@click.argument("number", type=int, metavar="ID")
@method_options
@yes_option
@json_option
def remove(*, number: int, yes: bool, as_json: bool, **flags: Unpack[KeyFlags]) -> None:
    """Remove the key slot ID, as listed by `reticent vault key list`.

    The last slot that works on every machine cannot be removed.

    Whoever knows its secret and has an older copy of the vault opens that copy still: then
    `reticent vault key rotate` helps with what comes from now on.
    """
    with _opened(flags) as vault:
        kinds = _kinds(vault)
        if number in kinds:
            agree(f"Remove key slot {number}, {NAMES[kinds[number]]}?", yes=yes)
        with uninterrupted():
            vault.remove_slot(number)
    _tell({"removed": number}, f"Key slot {number} is removed.", None, as_json=as_json)
    gone = kinds.pop(number)
    if gone in LAST and gone not in kinds.values():
        note(LAST[gone])


@key.command()
@yes_option
@json_option
def rotate(*, yes: bool, as_json: bool) -> None:
    """Replace the encryption key, and encrypt everything again.

    Only the passphrase that you give goes on to open the vault: other passphrases do not, and a
    recovery code is replaced by a new one. Copies made before stay what they were.
    """
    _slots()
    agree("Replace the key, and with it the recovery code?", yes=yes)
    passphrase = ask_secret(PROMPTS["passphrase"])
    with unlock(Location.of(paths()), Secret("passphrase", passphrase)) as vault, uninterrupted():
        _check_shown("" if as_json else "Sealing everything with a new key.")
        code = vault.rotate(passphrase)
        said = "Everything is sealed with a new key."
        _tell({"recovery_code": code}, said, code, as_json=as_json)
    for old in replaced_vaults(Location.of(paths()).vault):
        note(f"{old} is sealed with the key of then: what opened it opens it still")


@vault.command(name="reset-clock")
@yes_option
@json_option
def reset_clock(*, yes: bool, as_json: bool) -> None:
    """Trust the clock again after it was wrong.

    No time before the ledger's latest entry is taken for now, so that what has expired stays so
    where the clock is set back. If an entry was written while the clock was ahead, rules and
    limits go by that time until it has come: then set the clock right, and run this. Entries stay
    as they were written, and none of them counts as later than now any more.

    The daemon must not have the vault open: run `reticent lock` first.
    """
    _slots()
    now = datetime.now().astimezone()
    agree(f"Is it {now:%Y-%m-%d %H:%M}, as the clock says?", yes=yes)
    passphrase = ask_secret(PROMPTS["passphrase"])
    with unlock(Location.of(paths()), Secret("passphrase", passphrase)) as vault, uninterrupted():
        latest = vault.ledger.latest
        ahead = latest is not None and latest > now
        if ahead:
            vault.reset_clock(now)
        if as_json:
            click.echo(record({"done": ahead, "latest": latest, "now": now}))
        elif ahead:
            said = f"The ledger's latest time was {latest:%Y-%m-%d %H:%M}; now it is the clock's."
            click.echo(paragraph(said))
        else:
            click.echo("The clock is not behind the ledger: nothing to reset.")


def _check_shown(text: str) -> None:
    """Write a line, before something is made that is shown once: UsageError where nobody sees it.

    OSError where it cannot be written, as on a full disk.
    """
    click.echo(text)
    with suppress(UnsupportedOperation):  # no file
        device = os.fstat(sys.stdout.fileno())
        if stat.S_ISCHR(device.st_mode) and device.st_rdev == Path(os.devnull).stat().st_rdev:
            what = "the new recovery code would be shown to nobody, and nothing was changed"
            raise UsageError(what, "let the output go to a terminal or a file")


def _slots() -> list[SlotRow]:
    """Return the key slots; BusyVaultError where another process has the vault open."""
    try:
        return key_slots(Location.of(paths()))
    except BusyVaultError as error:
        what = "the vault is open in another process, so its key slots cannot be read here"
        hint = "close it with `reticent lock`, and unlock it again when you are done"
        raise BusyVaultError(what, hint, error.where) from None


def _opened(flags: KeyFlags) -> Vault:
    """Open the vault; what is in the way is said before a secret is asked for."""
    method = method_of(**flags)
    _slots()
    return unlock(Location.of(paths()), Secret(method, ask_for(method)))


def _kinds(vault: Vault) -> dict[int, Kind | None]:
    """Return the kinds of the slots by their ids."""
    found = vault.keys()
    return {each.id: each.kind for each in found}


def _added(vault: Vault, kind: Kind, text: str) -> str | None:
    """Add a slot; return the code, if it is one for a recovery code."""
    if kind == "recovery":
        return vault.add_recovery()
    if kind == "keyring":
        vault.add_keyring()
    else:
        vault.add_passphrase(text)
    return None


def _tell(done: dict[str, Any], said: str, code: str | None, *, as_json: bool) -> None:
    """Say what was done, with the code if there is a new one."""
    if as_json:
        click.echo(record(done))
        return
    click.echo(paragraph(said))
    if code is not None:
        click.echo(f"{paragraph(CODE)}\n\n  {code}")


def _record(slot: SlotRow) -> dict[str, Any]:
    work = slot.derivation
    derivation = None
    if work is not None:
        derivation = {
            "memory_kib": work.memory_kib,
            "iterations": work.iterations,
            "lanes": work.lanes,
        }
    return {"id": slot.id, "kind": slot.kind, "argon2id": derivation}


def _work(slot: SlotRow) -> str:
    """Return what a guess costs."""
    work = slot.derivation
    return "" if work is None else f"{work.memory_kib / 1024:g} MiB, {work.iterations} times"


@vault.command()
@click.argument("file", type=PATH, metavar="FILE")
@method_options
@json_option
def backup(file: Path, *, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Copy the vault into FILE, encrypted as it is.

    The same secrets open the copy. If no daemon has the vault open, it asks for the passphrase,
    to verify the vault before it is copied.
    """
    method = method_of(keyring=keyring, recovery=recovery)
    if os.path.lexists(file):
        raise UsageError("the file already exists", "choose another name", str(file))
    place = file.absolute()
    with door(COPYING) as client:
        if _is_open(client):
            client.call("backup", Place(path=str(place)))
        else:
            _copy(place, method)
    done = f"Wrote {place}. `reticent vault restore` replaces the vault with it."
    click.echo(record({"file": str(place)}) if as_json else paragraph(printable(done)))


def _is_open(client: Client) -> bool:
    """Return whether a daemon has the vault open."""
    try:
        status: Status = client.call("status")
    # It does not run, or is of no use; the vault itself knows whether it is open.
    except DaemonError:
        return False
    return status.vault and not status.locked


def _copy(place: Path, method: Method) -> None:
    """Copy the vault, of which nothing changes; VaultError where there is none."""
    at = Location.of(paths())
    if not at.vault.exists():
        raise VaultError("there is no vault yet", "make one with `reticent init`")
    copy_closed(at, place, Secret(method, ask_for(method)))


@vault.command()
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--check", "only_check", is_flag=True, help="Verify FILE, and change nothing.")
@method_options
@json_option
def restore(*, file: Path, only_check: bool, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Replace the vault with the backup FILE, after verifying all of it.

    It asks for a secret that opens the backup. The old vault is kept beside it under another name.
    The daemon must not have the vault open: run `reticent lock` first.
    """
    at = Location.of(paths())
    method = method_of(keyring=keyring, recovery=recovery)
    _check_file(file)
    if only_check:
        _verify(file, Secret(method, ask_for(method)), as_json=as_json)
        return
    _check_closed(at)
    aside = file.resolve() in {each.resolve() for each in vaults_set_aside(at)}
    secret = Secret(method, ask_for(method))
    before = read_witness(at.witness)
    with uninterrupted():
        kept = put_back(at, file, secret)
    if as_json:
        click.echo(record({"vault": str(at.vault), "kept": None if kept is None else str(kept)}))
        return
    click.echo(paragraph("The backup is in place, and all of it was verified."))
    if kept is not None:
        click.echo("The vault that it replaced is kept; remove it once you do not need it:")
        click.echo(f"  {printable(str(kept))}")
    if aside:
        click.echo(paragraph("What was set aside is the vault again: `reticent unlock` opens it."))
        after = read_witness(at.witness)
        if before is None or after is None or after.entries >= before.entries:
            return
    copy = "what was set aside was written" if aside else "the backup was made"
    told = f"What was disclosed after {copy} is not in its ledger: the agent"
    click.echo(paragraph(f"{told} does not know of it any more, but the recipients do."))


def _verify(file: Path, secret: Secret, *, as_json: bool) -> None:
    """Say that a backup is whole; VaultError where it is not."""
    entries = check_backup(file, secret)
    if as_json:
        click.echo(record({"file": str(file), "entries": entries}))
        return
    many = counted(entries, "entry", "entries")
    click.echo(paragraph(f"{printable(str(file))} is whole, with {many} in its ledger."))


def _check_file(file: Path) -> None:
    """Refuse what is no file before the secret is asked for."""
    if not file.is_file():
        what = "not a file" if file.exists() else "no such file"
        raise UsageError(what, OTHER, str(file))


def _check_closed(at: Location) -> None:
    """Refuse a vault that is open before the secret is asked for."""
    try:
        key_slots(at)
    except BusyVaultError:
        raise
    except VaultError:  # none, or a damaged one: that is what a backup is for
        return


@vault.command()
@yes_option
@json_option
def purge(*, yes: bool, as_json: bool) -> None:
    """Remove everything that reticent stored on this machine, for good.

    The vault, the policy, added models, the log, the sockets, the service, what browsers
    were told, and the key in the keyring. What it is, is listed first. Backups elsewhere stay.
    """
    at = paths()
    found = installed_files(at)
    units = written(usual())
    service = [] if foreign(units) else [str(each) for each in look_at_units(units).present]
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
        _tell_purged(removed, staying, left)


def _removed(at: Paths) -> list[str]:
    """Remove the keys in the keyring and all files; return these. The daemon is ended before."""
    with ended(at), uninterrupted():
        keys = accounts(installed_files(at))
        kept = forget(keys.names)
        removed = [str(each) for each in remove_files(installed_files(at))]
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


def _tell_purged(removed: Sequence[str], staying: Sequence[str], left: Sequence[list[str]]) -> None:
    """Say how much went, what stays, and which commands are left to the user."""
    if not removed:
        click.echo("Nothing to remove.")
        return
    lines = [f"Removed {counted(len(removed), 'file or folder', 'files and folders')}."]
    lines += [*staying, "Backups that you made elsewhere stay where they are."]
    if left:
        lines.append("The system's manager of services did not answer. Where it does, run:")
        lines += [f"  {' '.join(each)}" for each in left]
    click.echo("\n".join(printable(line) for line in lines))


def _staying(found: InstalledFiles) -> Iterator[str]:
    """Yield lines about what lies among ours and stays."""
    if found.others:
        yield "This is not reticent's, and stays:"
        yield from (f"  {each}" for each in found.others)
    links = [each for each in found.ours if each.is_symlink() and each.exists()]
    if links:
        yield "These are links. They go; what they lead to stays:"
        yield from (f"  {each} to {each.resolve()}" for each in links)
