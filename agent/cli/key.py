"""`reticent key` and `reset-clock`: for these the vault is opened here, not by the daemon."""

import os
import stat
import sys
from contextlib import suppress
from datetime import datetime
from io import UnsupportedOperation
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click

from agent.cli.asked import agree
from agent.cli.groups import Commands
from agent.cli.interrupt import uninterrupted
from agent.cli.layout import Column, paragraph, table
from agent.cli.new_passphrase import new_passphrase
from agent.cli.options import json_option, record, yes_option
from agent.cli.parameters import OneOf
from agent.cli.problems import note
from agent.cli.secret import (
    PROMPTS,
    ask_for,
    ask_secret,
    check_keyring,
    method_of,
    method_options,
)
from agent.errors import BusyVaultError, UsageError
from agent.paths import paths
from agent.vault.keys.secrets import Kind, Secret
from agent.vault.keys.slot_rows import SlotInfo
from agent.vault.leftovers import replaced
from agent.vault.location import Location
from agent.vault.outside import keys
from agent.vault.vault import Vault, unlock

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


class KeyFlags(TypedDict):
    """How to open the vault, as click hands it over."""

    keyring: bool
    recovery: bool


@click.group(cls=Commands)
def key() -> None:
    """Change what opens the vault: passphrases, recovery codes, the keyring.

    The daemon must not have it open: run `reticent lock` first.
    """


@key.command(name="list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the key slots; for that, nothing is opened."""
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
    """Let one more secret open the vault; it is opened with one that does so now.

    With a forgotten passphrase: `reticent key add passphrase --recovery`.
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
    """Remove the key slot ID, as `reticent key list` has it.

    The last one that is of use everywhere stays.

    Whoever knows its secret and has an older copy of the vault opens that copy still: then
    `reticent key rotate` helps with what comes from now on.
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
    """Replace the key that everything is sealed with, and seal everything again.

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
    for old in replaced(Location.of(paths()).vault):
        note(f"{old} is sealed with the key of then: what opened it opens it still")


@click.command(name="reset-clock")
@yes_option
@json_option
def reset_clock(*, yes: bool, as_json: bool) -> None:
    """Go by the clock again, after it was wrong.

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
            click.echo("The clock is not behind the ledger: there is nothing to reset.")


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


def _slots() -> list[SlotInfo]:
    """Return the key slots; BusyVaultError where another process has the vault open."""
    try:
        return keys(Location.of(paths()))
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


def _record(slot: SlotInfo) -> dict[str, Any]:
    work = slot.derivation
    derivation = None
    if work is not None:
        derivation = {
            "memory_kib": work.memory_kib,
            "iterations": work.iterations,
            "lanes": work.lanes,
        }
    return {"id": slot.id, "kind": slot.kind, "argon2id": derivation}


def _work(slot: SlotInfo) -> str:
    """Return what a guess costs."""
    work = slot.derivation
    return "" if work is None else f"{work.memory_kib / 1024:g} MiB, {work.iterations} times"
