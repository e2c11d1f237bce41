"""Vaults of format 1, which `restore` brings over (FORMAT.md, "Format 1")."""

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime

import msgspec

from agent.decision.values import Fact
from agent.model.attributes import UNSPECIFIED
from agent.model.concepts import meaning_of
from agent.model.model import Model
from agent.vault import secrets
from agent.vault.connection import decoded
from agent.vault.database import Database
from agent.vault.profile import ITEM
from agent.vault.seal import FORMAT, Seals
from agent.vault.secrets import Secret
from agent.vault.slots import accounts, data_key, read_slots, read_vault_id
from agent.vault.store import Store
from agent.vault.vault_files import Location

OldValues = dict[str, dict[str, str]]  # by the id of a model, then by attribute
_DECODER = msgspec.json.Decoder(OldValues)
_GONE = ("checkpoint/", "profile-whole")  # items that this format lacks


def bring_over(
    at: Location,
    secret: Secret,
    models: Sequence[Model],
    now: datetime,
    new_id: Callable[[], str],
) -> None:
    """Bring a vault of format 1 over to this one, in one transaction, once all of it is verified.

    One of this format stays as it is. ``models``: by whose concepts facts are stored from then on,
    the first first; ``now``: when they count as set. Raises as `unlock`.
    """
    with closing(Database.open(at.vault, older=True)) as database:
        if database.version() == FORMAT:
            return
        slots = read_slots(database)
        if secret.kind == "keyring" and secret.kept is None:
            secret = Secret("keyring", kept=secrets.fetched(accounts(slots)))
        vault_id = read_vault_id(database)
        key = data_key(slots, secret, vault_id)
        store = Store(database, Seals(key, vault_id, os.urandom), at.witness)
        deque(store.verify(), maxlen=0)
        values = decoded(store.get(ITEM), _DECODER, "the profile") or {}
        facts = [
            Fact(id=new_id(), kind=kind, value=value, set_at=now)
            for kind, value in sorted(by_kind(values, models).items())
        ]
        gone = [name for name in store.names() if name.startswith(_GONE)]
        put = {ITEM: msgspec.json.encode(facts)} if facts else {}
        store.replace(put, [*gone, *({ITEM} - put.keys())], [(f"PRAGMA user_version={FORMAT}", ())])


def by_kind(values: Mapping[str, Mapping[str, str]], models: Sequence[Model]) -> dict[str, str]:
    """Return old values by kind: of each the first that is not "unspecified".

    What no model here knows is kept as MODEL.ATTRIBUTE, with the value MODEL:VALUE.
    """
    found = dict[str, str]()
    known = {each.id: each for each in models}
    for model_id in dict.fromkeys((*known, *values)):
        for name, value in values.get(model_id, {}).items():
            kind, meant = f"{model_id}.{name}", f"{model_id}:{value}"
            if model_id in known and value in known[model_id].person_codes.get(name, ()):
                kind, meant = meaning_of(name, value, known[model_id])
            if meant == f"{model_id}:{UNSPECIFIED}":
                meant = UNSPECIFIED
            if found.get(kind, UNSPECIFIED) == UNSPECIFIED:
                found[kind] = meant
    return found
