"""The models, read again when they change, and what they read texts as."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from agent.daemon.events import LOG, kind_and_place
from agent.daemon.policy_file import UNREAD, Fingerprint, fingerprint_of
from agent.decision.cache import Cache
from agent.errors import ModelError, ReticentError, SignatureError, UnsafeError, UsageError, reason
from agent.files import PRIVATE, check_ours, private_folder, read_bytes, replace_bytes
from agent.model.attributes import NAME
from agent.model.file import MAX_BYTES, SHIPPED, SUFFIX, maker, shipped_model, signature_of, trusted
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation, encode, load_network
from agent.model.unwrapping import unwrapped
from agent.model.world import in_country, world_of
from agent.vault.corrections import Corrections, Place
from agent.wire.state import ModelStatus

EVERY = timedelta(seconds=0.5)  # between two looks at a file
Keys = tuple[str, ...]
NAMES, MAX_NAMES = "facts.txt", 2**20  # what models that were ever added call facts; bytes
BEING_READ = ModelError("it is being read", "wait a moment")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


class _FoundModel(NamedTuple):
    """A model, or why it cannot be used; ``state``: of its files, and the keys it was held to."""

    state: tuple[Fingerprint | None, Fingerprint | None, Keys]
    looked_at: datetime
    model: Model | ReticentError


class ModelRegistry:
    """The models by name, which is that of the file.

    ``keys`` are those that the policy trusts, none for any; a shipped model needs none. What is
    damaged or not signed by a trusted key is not used, even if it was fine before. ``country``: as
    `in_country`, "" while the user is not known; ``in_thread``: what was added is read by `prepare`
    alone, and not used before.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.country, self.in_thread = folder, "", False
        self._files: dict[str, tuple[Fingerprint | None, Model | ReticentError]] = {}
        self._entries: dict[str, _FoundModel] = {}
        self._members, self._world = list[Model](), list[Model]()
        self._keys: Keys | None = None  # by which the world was made, None to look again

    def count_in(self, country: str) -> None:
        """Count the people of a country from now on."""
        if country != self.country:
            self.country, self._keys = country, None
            self._entries.clear()

    def of(self, name: str | None, keys: Keys, now: datetime) -> Model:
        """Find the model of a name, by default the world of those in use.

        UsageError if there is none, ModelError if it must not be used: where none may, the first
        of those shipped.
        """
        if name is None and (usable := self.usable(keys, now)):
            return usable[0]
        return _or_raise(self._look(SHIPPED[0] if name is None else name, keys, now).model)

    def usable(self, keys: Keys, now: datetime) -> list[Model]:
        """The one world of the models that decide unnamed, those shipped first; or none.

        Others are of makers that the policy trusts: one that it does not know might say of any text
        that it understands it best. As of the latest `status`, so that requests look at no file;
        now where the keys are others.
        """
        if self._keys != keys:
            models = self._all(self.names() if keys else SHIPPED, keys, now)
            if [*map(id, models)] != [*map(id, self._members)]:
                self._members, self._world = models, [world_of(models)] if models else []
            self._keys = keys
        return [*self._world]

    def named(self, names: Iterable[str], keys: Keys, now: datetime) -> list[Model]:
        """Those of these models that may be used, and that are in no world."""
        added = {*self.names()} - {*SHIPPED} if not keys else set[str]()
        return self._all(sorted(added.intersection(names)), keys, now)

    def _all(self, names: Iterable[str], keys: Keys, now: datetime) -> list[Model]:
        looks = (self._look(name, keys, now).model for name in names)
        return [each for each in looks if isinstance(each, Model)]

    async def prepare(self) -> None:
        """Read what was added or has changed, in a thread: a large model takes seconds."""
        names = self.names()
        self._files = {name: each for name, each in self._files.items() if name in names}
        for name in names[len(SHIPPED) :]:
            stamp = fingerprint_of(self._place(name))
            if self._files.get(name, (UNREAD, None))[0] != stamp:
                self._files[name] = stamp, BEING_READ
                self._files[name] = stamp, await asyncio.to_thread(_read, self._place(name))
                self._entries.pop(name, None)
                self._keys = None

    def names(self) -> list[str]:
        """Name all models, those shipped first."""
        added = sorted(path.stem for path in self.folder.glob(f"*{SUFFIX}"))
        return [*SHIPPED, *(name for name in added if name not in SHIPPED)]

    def status(self, keys: Keys, now: datetime) -> list[ModelStatus]:
        """Look at each model, and describe it, those shipped first."""
        self._keys = None
        self.usable(keys, now)
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
            try:  # judged by its header first, then as a copy, which nobody else can change
                trusted(path, ())
                replace_bytes(read_bytes(path, MAX_BYTES), copy, PRIVATE)
                if signature_of(path).exists():
                    signature = read_bytes(signature_of(path), MAX_BYTES)
                    replace_bytes(signature, signature_of(copy), PRIVATE)
                model = trusted(copy, keys, whole=True)
                if signature_of(copy).exists():
                    maker(copy, model)
            except ReticentError as error:
                raise type(error)(error.what, error.hint, str(path)) from error
            if signature_of(copy).exists():
                signature_of(copy).replace(signature_of(self._place(name)))
            names = "\n".join(sorted(self.ever_known() | fact_names([model])))
            replace_bytes(names.encode(), self.folder / NAMES, PRIVATE)
            copy.replace(self._place(name))
        self._files[name] = fingerprint_of(self._place(name)), model
        self._entries.pop(name, None)
        self._keys = None
        return self._status(name, keys, now)

    def ever_known(self) -> frozenset[str]:
        """What models that were ever added call facts, so that a rule on one outlives its model.

        And those that lie there, as they were last looked at.
        """
        entries = self._entries.values()
        names = fact_names(each.model for each in entries if isinstance(each.model, Model))
        with suppress(UsageError):
            names |= {*read_bytes(self.folder / NAMES, MAX_NAMES).decode().split()}
        return names

    def remove(self, name: str) -> None:
        """Remove a model that was added; UsageError if it is a shipped one or unknown."""
        if name in SHIPPED:
            raise UsageError("a shipped model cannot be removed", "name one that was added")
        place = self._path_of(name)
        try:
            place.unlink()
            signature_of(place).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(reason(error), "check who owns the file", str(place)) from error
        self._entries.pop(name, None)
        self._keys = None

    def _look(self, name: str, keys: Keys, now: datetime) -> _FoundModel:
        """Read a model as its files are now, or were a moment ago."""
        before = self._entries.get(name)
        if before and before.state[2] == keys and abs(now - before.looked_at) < EVERY:
            return before
        place = self._place(name)
        model: Model | ReticentError
        state = (fingerprint_of(place), fingerprint_of(signature_of(place)), keys)
        # A folder above an unsafe one may be mended without a new fingerprint.
        if before and before.state == state and not isinstance(before.model, UnsafeError):
            model = before.model
        else:
            try:
                self._path_of(name)
                model = in_country(self._opened(name, state[0]), self.country)
                if name not in SHIPPED:
                    check_ours(place)
                    if keys:
                        maker(place, model, keys)
                    model = called_as(model, self._all(reversed(SHIPPED), keys, now))
            except (ModelError, UsageError) as error:
                model = error
            except OSError as error:
                model = UsageError(reason(error), "check who owns the file", str(place))
        self._entries[name] = entry = _FoundModel(state, now, model)
        return entry

    def _opened(self, name: str, stamp: Fingerprint | None) -> Model:
        """A model as it was read from its file, now where that may be; else raises why not."""
        if self._files.get(name, (UNREAD, None))[0] != stamp:
            if self.in_thread and name not in SHIPPED:
                raise BEING_READ
            self._files[name] = stamp, _read(self._place(name))
        return _or_raise(self._files[name][1])

    def _path_of(self, name: str) -> Path:
        """Locate a model; UsageError with the nearest name if it is unknown."""
        names = self.names()
        if name not in names:
            raise UsageError.unknown("model", name, names)
        return self._place(name)

    def _place(self, name: str) -> Path:
        return shipped_model(name) if name in SHIPPED else self.folder / f"{name}{SUFFIX}"

    def _status(self, name: str, keys: Keys, now: datetime) -> ModelStatus:
        model, shipped = self._look(name, keys, now).model, name in SHIPPED
        if isinstance(model, ReticentError):
            what = f"{model.what} ({model.hint})"
            return ModelStatus(
                name=name, digest="", shipped=shipped, attributes=0, queries=0, problem=what
            )
        signer = None
        with suppress(SignatureError, UsageError):
            signer = maker(self._place(name), model)
        return ModelStatus(
            name=name,
            digest=model.digest,
            shipped=shipped,
            attributes=sum(not each.further for each in model.attributes),
            queries=len(model.queries),
            maker=signer,
        )


def _read(path: Path) -> Model | ReticentError:
    """Read the model in a file, or why it cannot be used."""
    try:
        return trusted(path, ())
    except ReticentError as error:
        return error


def _or_raise(model: Model | ReticentError) -> Model:
    """Pass a model on; raise the error that stands in its place."""
    if isinstance(model, ReticentError):
        raise model
    return model


def fact_names(models: Iterable[Model]) -> frozenset[str]:
    """By which names rules may mean the facts of models."""
    called = ((e.name, e.concept) for model in models for e in model.attributes)
    return frozenset(filter(NAME.fullmatch, chain.from_iterable(called)))


def called_as(model: Model, others: Iterable[Model]) -> Model:
    """A model that calls facts, for people, as others do that know them: of these as the last.

    Else it would choose what the user is asked to consent to.
    """
    titles = {each.concept: each.title for other in others for each in other.attributes}
    own = (replace(e, title=titles.get(e.concept, e.title)) for e in model.attributes)
    return replace(model, attributes=tuple(own))


UNREADABLE = "texts are read by their exact names only: "


class TextReader:
    """Reads texts for the daemon; ``corrections`` are the user's, None while the vault is locked.

    Until the encoder is loaded, and where it cannot be, only exact names and phrasings are read.
    ``loaded``: whether it is; ``problem``: why it could not be; ``cache``: of its readings.
    """

    def __init__(self, load: Callable[[], None] = load_network) -> None:
        """Load nothing yet; ``load``: loads the encoder, raises whatever it likes."""
        self.corrections: Corrections | None = None
        self.cache, self.loaded = Cache(), False
        self.problem: str | None = None
        self._load = load

    async def prepare(self, models: Sequence[Model]) -> None:
        """Load the encoder in a thread, unless it is loaded or no model needs it."""
        every = (each for model in models for each in model.every)
        if self.loaded or not any(each.tables.classifier for each in every):
            return
        loading = asyncio.get_running_loop().run_in_executor(None, self._load)
        await asyncio.wait({loading})
        error = loading.exception()
        self.loaded, self.problem = error is None, None
        if error is not None:
            self.problem = f"the encoder cannot be loaded: {type(error).__name__}"
            LOG.warning("the encoder cannot be loaded: %s", kind_and_place(error))

    def read(self, model: Model, text: str) -> Interpretation:
        """Read what a text means to a model, as the user corrected it."""
        query = model.texts.find(text)
        reading = NOTHING if query is None else Interpretation.exact(query)
        if self.loaded and query is None and not model.members:
            reading = self.cache.read(model, text)
        if self.corrections is not None and self.corrections.kept:
            place = self.place(text) if reading.certain is None else None
            reading = self.corrections.apply(reading, text, model, place)
        if reading.certain is None and model.members:
            reading = model.surest([self.read(each.model, text) for each in model.members])
        return reading

    def place(self, text: str) -> Place | None:
        """Place a text in the encoder of topics, None before that is loaded."""
        request = unwrapped(text).strip()
        return encode([request])[0] if self.loaded and request else None
