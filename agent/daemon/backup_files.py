"""What a backup holds beside the vault: the policy, added models, and what was connected."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agent.daemon.artifacts import Machine
from agent.daemon.installed_files import ADDED
from agent.daemon.programs import PRESENT, installations
from agent.files import PRIVATE, create_private, private_folder, read_bytes, replace_bytes
from agent.model.file import MAX_BYTES, SUFFIX
from agent.vault.seal import from_json
from agent.vault.vault import Vault
from agent.vault.vault_files import free_names
from agent.wire.base import BackupContents

POLICY, CONNECTED, MODELS = "policy.toml", "connected.json", "models/"  # then the name of a file
_NAMES = msgspec.json.Decoder(dict[str, str])


def files_of(policy: Path, models: Path, machine: Machine) -> dict[str, bytes]:
    """Read what goes into a backup beside the vault; UsageError where a file cannot be read.

    ``models``: the folder of those that were added.
    """
    added = sorted(each for pattern in ADDED for each in models.glob(pattern))
    files = {f"{MODELS}{each.name}": each for each in added}
    files |= {POLICY: policy} if policy.exists() else {}
    connected = {e.name: e.recipient for e in installations(machine) if e.state in PRESENT}
    contents = {name: read_bytes(file, MAX_BYTES) for name, file in files.items()}
    return {**contents, CONNECTED: msgspec.json.encode(connected)}


def contents_of(files: Mapping[str, bytes]) -> BackupContents:
    """Describe what a backup holds beside the vault."""
    models = [Path(each).stem for each in files if each.endswith(SUFFIX)]
    connected = from_json(files.get(CONNECTED, b""), _NAMES) or {}
    return BackupContents(policy=POLICY in files, models=models, connected=connected)


def unpack(vault: Vault, policy: Path, models: Path) -> list[Path]:
    """Write what came with a backup to its places; return where what differed there is kept.

    All of it stays in the vault until it is written: after an interruption, whoever opens the vault
    next begins anew. UsageError where a file cannot be written, VaultError.
    """
    kept = list[Path]()
    for name, data in vault.enclosed.items():
        model = name.removeprefix(MODELS)
        plain = Path(model).name == model and any(fnmatchcase(model, each) for each in ADDED)
        if name != POLICY and not plain:
            continue
        to = policy if name == POLICY else models / model
        private_folder(to.parent)
        old = read_bytes(to, MAX_BYTES) if to.exists() else data
        if old != data:
            kept.append(next(free_names(to)))
            create_private(old, kept[-1])
        replace_bytes(data, to.resolve(), PRIVATE)
    vault.unpacked()
    return kept
