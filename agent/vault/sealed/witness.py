"""What a vault was last seen to be, kept apart from it (FORMAT.md, "The witness")."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.errors import RolledBackError, UsageError
from agent.files import PRIVATE, read_bytes, replace_bytes
from agent.vault.sealed.framing import FORMAT

MAX_BYTES = 1024

MISSING = "this machine did not know how old the vault is: an old copy would not have been noticed"
OLD_COPY = "if you put this copy there yourself, run `reticent restore` with it"
UNWRITTEN = "the witness cannot be written: an old copy of the vault would not be noticed"

_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Witness(Struct, frozen=True, forbid_unknown_fields=True):
    """A vault as it surely is on the disk; ``vault`` and ``head`` in hexadecimal."""

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    vault: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    generation: _Count
    rotations: _Count
    entries: _Count
    head: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


def read_witness(path: Path) -> Witness | None:
    """Return what a file says; None if there is none, or it says nothing that fits the format."""
    try:
        return msgspec.json.decode(read_bytes(path, MAX_BYTES), type=Witness)
    except (UsageError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def check_age(seen: Witness | None, vault: str, now: Mapping[str, int]) -> None:
    """Raise RolledBackError if this machine has seen a later vault, or another.

    ``vault``: its id; ``now``: what is known of its generation, rotations and entries.
    """
    if seen is None:
        return
    if seen.vault != vault:
        raise RolledBackError("this is not the vault that belongs here", OLD_COPY)
    if any(getattr(seen, name) > count for name, count in now.items()):
        raise RolledBackError("the vault is older than when last used", OLD_COPY)


def write_witness(witness: Witness, path: Path) -> bool:
    """Put a witness in place, whole and on the disk; return whether that could be done."""
    try:
        replace_bytes(msgspec.json.encode(witness) + b"\n", path, PRIVATE)
    except UsageError:
        return False
    return True
