"""The vault: its keys, its backups, and its removal with everything else."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec

from agent.cli import options
from agent.cli.connect import disconnected, left_to_run
from agent.cli.daemon import ended
from agent.cli.daemon_client import COPYING, door
from agent.cli.interrupt import uninterrupted
from agent.cli.printing import listing, note, numeric, paragraph, table, texts, wide
from agent.cli.prompts import agree, ask_for, check_keyring, method_options, new_passphrase
from agent.daemon.backup_files import contents_of, files_of, unpack
from agent.daemon.installed_files import accounts, copies, installed_files, note_copy
from agent.daemon.installed_files import remove as remove_files
from agent.daemon.programs import PRESENT, installations, this_machine
from agent.daemon.sockets import listens
from agent.errors import BusyVaultError, DaemonError, UsageError, VaultError
from agent.paths import Paths, paths
from agent.vault import secrets
from agent.vault.backup import OTHER, check_backup, check_format, copy_closed
from agent.vault.backup import restore as put_back
from agent.vault.secrets import Kind, Secret
from agent.vault.slots import SlotRow, key_slots
from agent.vault.vault import unlock
from agent.vault.vault_files import Location, replaced_vaults
from agent.wire.base import BackupContents
from agent.wire.state import Method, Place, Status
from agent.words.figures import counted, listed

COLUMNS = (numeric("id"), wide("opens with"))
NAMES: dict[Kind | None, str] = {
    "passphrase": "a passphrase",
    "recovery": "a recovery code",
    "keyring": "the keyring of this desktop",
    None: "nothing: it is damaged",
}
KINDS: Sequence[Kind] = ("passphrase", "recovery", "keyring")
LAST: dict[Kind | None, str] = {
    "passphrase": "no passphrase opens the vault now: only `reticent unlock --recovery` does",
    "recovery": "no recovery code opens the vault now: if the passphrase is forgotten, it is lost",
}
CODE = "Write this recovery code down on paper, and keep it apart from this machine:"
KEY_STAYS = "the keyring did not release the vault's key, which opens nothing any more"
RETAINED = "What was here is kept; remove it once you do not need it:"
AGAIN = "To connect again what was connected when the backup was made, run:"
REST = "the vault is in place; `reticent unlock` writes the rest, once this is fixed"
NO_POLICY = " There is no policy yet, so nothing is sent: `reticent init` writes one."
ROTATE = "Replace the key, and with it the recovery code?"
WORD = "purge"


@click.group(cls=options.Commands)
def vault() -> None:
    """Back up, restore or remove the vault, and change what opens it."""


@vault.group(cls=options.Commands, default=lambda _: "list")
def key() -> None:
    """Change what opens the vault: passphrases, recovery codes, the keyring.

    Without a command it lists them. To change them, run `reticent lock` first: the daemon must not
    have the vault open.
    """


@key.command(name="list")
@options.answers
def list_() -> options.Output:
    """List the key slots, without opening the vault."""
    try:
        slots = _slots()
    except BusyVaultError:  # if by the daemon, it can make a copy
        if not listens(paths().control):
            raise
        with TemporaryDirectory(dir=paths().control.parent) as folder, door(COPYING) as client:
            copy = Path(folder, "vault.db")
            client.call("backup", Place(path=str(copy)))
            slots = key_slots(copy)
    rows = [(str(each.id), NAMES[each.kind]) for each in slots]
    keys = [{"id": each.id, "kind": each.kind, "argon2id": each.derivation} for each in slots]
    return options.Output({"keys": keys}, table(COLUMNS, rows))


@key.command()
@click.argument("kind", type=options.OneOf(KINDS), metavar="|".join(KINDS))
@method_options
@options.json_option
def add(kind: Kind, method: Method, *, as_json: bool) -> None:
    """Let one more secret open the vault; you need one that opens it now.

    With a forgotten passphrase: `reticent vault key add passphrase --recovery`.
    """
    if kind == "keyring":
        check_keyring()
    with unlock(_place(), opening_secret(method)) as vault:
        text = new_passphrase("New passphrase") if kind == "passphrase" else ""
        with uninterrupted():
            number, code = vault.add_slot(kind, text)
            done = {"id": number, "kind": kind, "recovery_code": code}
            page = f"Key slot {number} opens the vault with {NAMES[kind]}."
            click.echo(options.record(done) if as_json else _with_code(page, code))


@key.command()
@method_options
@options.answers
def passphrase(method: Method) -> options.Output:
    """Change the passphrase.

    The one that you enter stops opening the vault; with --recovery, if you have forgotten it, every
    passphrase does. Copies made before still open with the old one.
    """
    secret = opening_secret(method)
    with unlock(_place(), secret) as vault:
        text = new_passphrase("New passphrase")
        with uninterrupted():
            vault.change_passphrase(text, secret)
    return options.Output({"changed": True}, "The new passphrase opens the vault now.")


@key.command()
@click.argument("number", type=int, metavar="ID")
@method_options
@options.yes_option
@options.answers
def remove(number: int, method: Method, *, yes: bool) -> options.Output:
    """Remove the key slot ID, as listed by `reticent vault key list`.

    The last slot that works on every machine cannot be removed.

    Whoever knows its secret can still open older copies of the vault; `reticent vault key rotate`
    protects what you record from then on.
    """
    with unlock(_place(), opening_secret(method)) as vault:
        slots = vault.keys()
        kinds = {each.id: each.kind for each in slots}
        if number in kinds:
            agree(f"Remove key slot {number}, {NAMES[kinds[number]]}?", yes=yes)
        with uninterrupted():
            vault.remove_slot(number)
    removed_kind = kinds.pop(number)
    if removed_kind in LAST and removed_kind not in kinds.values():
        note(LAST[removed_kind])
    return options.Output({"removed": number}, f"Key slot {number} is removed.")


@key.command()
@options.yes_option
@options.json_option
def rotate(*, yes: bool, as_json: bool) -> None:
    """Replace the encryption key, and encrypt everything again.

    Afterwards only the passphrase that you enter, and a new recovery code, open the vault. Copies
    made before stay as they are.
    """
    secret = opening_secret("passphrase", ROTATE, yes=yes)
    with unlock(_place(), secret) as vault, uninterrupted():
        click.echo("" if as_json else "Encrypting everything with a new key.")  # if it can be seen
        code = vault.rotate(secret.text or "")
        page = _with_code("Everything is encrypted with a new key.", code)
        click.echo(options.record({"recovery_code": code}) if as_json else page)
    for old in replaced_vaults(_place().vault):
        note(f"{old} keeps its old key: the old secrets still open it")


def _place() -> Location:
    return Location.of(paths())


def _slots() -> list[SlotRow]:
    """List the key slots; BusyVaultError where another process has the vault open."""
    try:
        return key_slots(_place().vault)
    except BusyVaultError as error:
        what = "the vault is open in another process, so its key slots cannot be read here"
        hint = "close it with `reticent lock`, and unlock it again when you are done"
        raise BusyVaultError(what, hint, error.where) from None


def opening_secret(method: Method, question: str = "", *, yes: bool = True) -> Secret:
    """Ask the question, unless ``yes``, and for a secret; refuse first what neither can help."""
    _slots()
    agree(question, yes=yes)
    return Secret(method, ask_for(method))


def _with_code(text: str, code: str | None) -> str:
    """Put the new recovery code, if there is one, below a message."""
    return paragraph(text) if code is None else f"{paragraph(text)}\n{paragraph(CODE)}\n\n  {code}"


@vault.command()
@click.argument("file", type=options.PATH, metavar="FILE")
@method_options
@options.answers
def backup(file: Path, method: Method) -> options.Output:
    """Copy the vault, the policy and added models into FILE, encrypted.

    The secrets of the vault open it. FILE also names the browsers and assistants that are
    connected. Unless a daemon has the vault open, this asks for the passphrase, to verify the vault
    before it is copied.
    """
    if os.path.lexists(file):
        raise UsageError("the file already exists", "choose another name", str(file))
    to, at = file.absolute(), paths()
    if not to.parent.is_dir():
        raise UsageError("no such folder", "make it first", str(to.parent))
    with door(COPYING) as client:
        is_open = False
        # Where it does not run, or is of no use, the vault itself knows whether it is open.
        with suppress(DaemonError):
            status: Status = client.call("status")
            is_open = status.vault and not status.locked
        if is_open:
            contents = client.call("backup", Place(path=str(to)))
        elif not at.vault.exists():
            raise VaultError("there is no vault yet", "make one with `reticent init`")
        else:
            files = files_of(at.policy, at.models, this_machine())
            copy_closed(_place(), to, Secret(method, ask_for(method)), files)
            contents = contents_of(files)
    note_copy(to, at)
    done = f"Wrote {to}: {_held(contents)}. `reticent vault restore` brings all of it back."
    return options.Output(_record(to, contents), paragraph(done))


def _held(contents: BackupContents) -> str:
    """Name what a backup holds."""
    parts = ["the vault", *(["your policy"] if contents.policy else [])]
    if names := contents.models:
        parts.append(f"{counted(len(names), 'added model')} ({listed(names)})")
    if names := [*contents.connected]:
        parts.append(f"what was connected ({listed(names)})")
    return listed(parts)


def _record(file: Path, contents: BackupContents, **more: object) -> dict[str, object]:
    """Describe a backup for programs."""
    return {"file": str(file), **more, **msgspec.structs.asdict(contents)}


@vault.command()
@click.argument("file", type=options.PATH, metavar="FILE")
@click.option("--check", "only_check", is_flag=True, help="Verify FILE, and change nothing.")
@method_options
@options.json_option
def restore(file: Path, method: Method, *, only_check: bool, as_json: bool) -> None:
    """Bring the vault, the policy and added models back from the backup FILE.

    It asks for a secret that opens the backup, and verifies all of it before anything changes.
    What was here is kept beside it under another name. At a terminal it offers to connect
    what was connected. FILE may also be the vault itself, an old copy of which you put there.
    The daemon must not have the vault open: run `reticent lock` first.
    """
    at = _place()
    if not file.is_file():
        what = "not a file" if file.exists() else "no such file"
        raise UsageError(what, OTHER, str(file))
    check_format(file)
    if not only_check:
        try:
            key_slots(at.vault)
        except BusyVaultError:
            raise
        except VaultError:  # none, or a damaged one: that is what a backup is for
            pass
    secret = Secret(method, ask_for(method))
    if only_check:
        entries, files = check_backup(file, secret)
        many, held = counted(entries, "entry", "entries"), contents_of(files)
        page = paragraph(f"{file} is whole, with {many} in its ledger. It holds {_held(held)}.")
        click.echo(options.record(_record(file, held, entries=entries)) if as_json else page)
        return
    with uninterrupted():
        replaced = put_back(at, file, secret)
        with unlock(at, secret) as vault:
            contents = contents_of(vault.enclosed)
            try:
                others = unpack(vault, paths().policy, paths().models)
            except UsageError:
                note(REST)
                raise
    kept = [*map(str, filter(None, [replaced, *others]))]
    in_place = _held(msgspec.structs.replace(contents, connected={}))
    lines = [paragraph(f"The backup was verified, and is in place: {in_place}.")]
    lines += [listing(RETAINED, kept)] if kept else []
    lacks = texts("vault")["lacks"]
    lines.append(paragraph(lacks if paths().policy.exists() else lacks + NO_POLICY))
    old = None if replaced is None else str(replaced)
    message: dict[str, object] = {"vault": str(at.vault), "kept": old, "kept_files": kept}
    message |= {"connected": contents.connected}
    click.echo(options.record(message) if as_json else "\n".join(lines))
    if contents.connected and not as_json:
        _connect_again(contents.connected)


def _connect_again(connected: Mapping[str, str]) -> None:
    """Offer to connect what was connected, and list what then is not; by name, with recipients."""
    if options.at_terminal():
        from agent.cli.first_steps import connected as connect  # imports all that sets up

        connect(this_machine(), connected)
    here = {each.name for each in installations(this_machine()) if each.state in PRESENT}
    commands = [
        f"reticent connect {name}{whom and f' --recipient {whom}'}"
        for name, whom in connected.items()
        if name not in here
    ]
    if commands:
        click.echo(listing(AGAIN, commands))


@vault.command()
@options.yes_option
@options.answers
def purge(*, yes: bool) -> options.Output:
    """Remove everything that reticent stored on this machine, for good.

    That is the vault, the policy, added models, the log, the sockets, what `reticent connect`
    wrote, and the key in the keyring. It lists them before it asks. Backups elsewhere stay.
    """
    at, machine = paths(), this_machine()
    installed, programs = installed_files(at), installations(machine)
    parts = {each.artifact.path: each.state for each in programs}
    connected = [path for path, state in parts.items() if state in PRESENT]
    others = [path for path, state in parts.items() if state not in {"absent", *PRESENT}]
    going, stays = [*installed.ours, *connected], [*installed.others, *others]
    staying = [listing("This is not of this installation, and stays:", stays)] if stays else []
    made = [each for each in copies(at) if os.path.lexists(each)]
    staying += [listing("These copies of what you recorded stay:", made)] if made else []
    if going:
        head = texts("vault")["goes"]
        question = "\n".join([listing(head, going), *staying, f"Type {WORD} to remove it"])
        agree(question, yes=yes, word=WORD)
    with uninterrupted():
        removed, remaining, _ = disconnected(programs, machine)
    if installed.ours or installed.folders:
        removed = _removed(at) + removed
    message = {"removed": removed, "stays": [*map(str, (*stays, *made))], "left": remaining}
    if not removed:
        return options.Output(message, "Nothing to remove.")
    lines = [f"Removed {counted(len(removed), 'file or folder', 'files and folders')}."]
    lines += [*staying, "Other backups that you made stay where they are."]
    if remaining:
        lines.append(left_to_run(remaining))
    return options.Output(message, "\n".join(lines))


def _removed(at: Paths) -> list[str]:
    """Remove the keys in the keyring and all files; return these. The daemon is ended before."""
    with ended(at), uninterrupted():
        names, unread = accounts(installed_files(at))
        retained = forget(names)
        removed = [str(each) for each in remove_files(installed_files(at))]
    notes = [KEY_STAYS] if retained else []
    notes += [f"{each} could not be read, so the keyring may still have a key" for each in unread]
    for each in notes:
        note(f"{each}; its service is called reticent")
    return removed


def forget(names: Sequence[str]) -> list[str]:
    """Remove accounts from the keyring; return those that may be in it still."""
    remaining = []
    for name in names:
        with suppress(VaultError):  # the keyring does not say
            if secrets.forget(name) or not secrets.fetched([name]):
                continue
        remaining.append(name)
    return remaining
