"""The models: those shipped, and those that were added, read again when they change."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from agent.daemon.policy_file import Fingerprint, fingerprint_of
from agent.errors import ModelError, ReticentError, SignatureError, UnsafeError, UsageError, reason
from agent.files import PRIVATE, check_ours, private_folder, read_bytes, replace_bytes
from agent.model.file import MAX_BYTES, SHIPPED, SUFFIX, shipped_model
from agent.model.model import Model
from agent.model.signature import MAX_SIGNATURE_BYTES, maker, signature_path, trusted
from agent.wire.state import ModelStatus

EVERY = timedelta(seconds=0.5)  # between two looks at a file
Keys = tuple[str, ...]
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


class _FoundModel(NamedTuple):
    """A model, or why it cannot be used; ``state``: of its files, and the keys it was held to."""

    state: tuple[Fingerprint | None, Fingerprint | None, Keys]
    looked_at: datetime
    found: Model | ReticentError


class ModelRegistry:
    """The models by name, which is that of the file.

    ``keys`` are those that the policy trusts, none for any; a shipped model needs none. What is
    damaged or not signed by a trusted key is not used, even if it was fine before.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._entries: dict[str, _FoundModel] = {}

    def of(self, name: str | None, keys: Keys, now: datetime) -> Model:
        """Return the model of a name, by default the first of those shipped.

        UsageError if there is none, ModelError if it must not be used.
        """
        found = self._look(SHIPPED[0] if name is None else name, keys, now).found
        if isinstance(found, ReticentError):
            raise found
        return found

    def usable(self, keys: Keys, now: datetime) -> list[Model]:
        """Return all models that may be used, those shipped first."""
        found = [self._look(name, keys, now).found for name in self.names()]
        return [each for each in found if isinstance(each, Model)]

    def complete(self, wanted: Iterable[str], keys: Keys, now: datetime) -> bool:
        """Return whether every model that exists may be used, and every wanted one exists."""
        names = self.names()
        return {*wanted} <= {*names} and len(self.usable(keys, now)) == len(names)

    def names(self) -> list[str]:
        """Return the names of all models, those shipped first."""
        added = sorted(path.stem for path in self.folder.glob(f"*{SUFFIX}"))
        return [*SHIPPED, *(name for name in added if name not in SHIPPED)]

    def status(self, keys: Keys, now: datetime) -> list[ModelStatus]:
        """Return the status of each model, those shipped first."""
        return [self._status(name, keys, now) for name in self.names()]

    def add(self, path: Path, keys: Keys, now: datetime) -> ModelStatus:
        """Copy a model, and its signature if it has one, to the others.

        UsageError where it cannot be read, or the name is taken; ModelError where it must not be
        used, SignatureError where the signature is not of it, or of a key that is not trusted.
        """
        name = path.stem
        if not _NAME.fullmatch(name):
            hint = "use lower-case letters, digits and ._-, at most 100 characters"
            raise UsageError(f"{name!r} cannot be the name of a model", hint, str(path))
        if name in self.names():
            hint = "remove that one or rename the file"
            raise UsageError(f"a model named {name!r} exists already", hint, str(path))
        with TemporaryDirectory(dir=private_folder(self.folder), prefix=".") as beside:
            copy = Path(beside) / f"{name}{SUFFIX}"
            try:  # and make sure of the copy that it may be used
                replace_bytes(read_bytes(path, MAX_BYTES), copy, PRIVATE)
                if signature_path(path).exists():
                    signature = read_bytes(signature_path(path), MAX_SIGNATURE_BYTES)
                    replace_bytes(signature, signature_path(copy), PRIVATE)
                model = trusted(copy, keys, whole=True)
                if signature_path(copy).exists():
                    maker(copy, model)
            except ReticentError as error:
                raise type(error)(error.what, error.hint, str(path)) from error
            if signature_path(copy).exists():
                signature_path(copy).replace(signature_path(self._place(name)))
            copy.replace(self._place(name))
        self._entries.pop(name, None)
        return self._status(name, keys, now)

    def remove(self, name: str) -> None:
        """Remove a model that was added; UsageError if it is a shipped one or unknown."""
        if name in SHIPPED:
            raise UsageError("a shipped model cannot be removed", "name one that was added")
        place = self._known(name)
        try:
            place.unlink()
            signature_path(place).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(reason(error), "check who owns the file", str(place)) from error
        self._entries.pop(name, None)

    def _look(self, name: str, keys: Keys, now: datetime) -> _FoundModel:
        """Return a model as its files are now, or were a moment ago."""
        before = self._entries.get(name)
        if before and before.state[2] == keys and abs(now - before.looked_at) < EVERY:
            return before
        place = self._place(name)
        found: Model | ReticentError
        state = (fingerprint_of(place), fingerprint_of(signature_path(place)), keys)
        # A folder above an unsafe one may be mended without a new fingerprint.
        if before and before.state == state and not isinstance(before.found, UnsafeError):
            found = before.found
        else:
            try:
                self._known(name)
                if name not in SHIPPED:
                    check_ours(place)
                found = trusted(place, () if name in SHIPPED else keys)
            except (ModelError, UsageError) as error:
                found = error
            except OSError as error:
                found = UsageError(reason(error), "check who owns the file", str(place))
        self._entries[name] = entry = _FoundModel(state, now, found)
        return entry

    def _known(self, name: str) -> Path:
        """Return the path of a model; UsageError with the nearest name if it is unknown."""
        names = self.names()
        if name not in names:
            raise UsageError.unknown("model", name, names)
        return self._place(name)

    def _place(self, name: str) -> Path:
        return shipped_model(name) if name in SHIPPED else self.folder / f"{name}{SUFFIX}"

    def _status(self, name: str, keys: Keys, now: datetime) -> ModelStatus:
        found, shipped = self._look(name, keys, now).found, name in SHIPPED
        if isinstance(found, ReticentError):
            what = f"{found.what} ({found.hint})"
            return ModelStatus(
                name=name, digest="", shipped=shipped, attributes=0, queries=0, problem=what
            )
        signer = None
        with suppress(SignatureError, UsageError):
            signer = maker(self._place(name), found)
        return ModelStatus(
            name=name,
            digest=found.digest,
            shipped=shipped,
            attributes=len(found.attributes),
            queries=len(found.queries),
            maker=signer,
        )
