"""The models at hand, read again when they change."""

import asyncio
import os
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from agent.cli.model import generate_key
from agent.cli.model import sign_file as sign
from agent.daemon.model_registry import ModelRegistry
from agent.errors import DamagedModelError, ModelError, SignatureError, UnsafeError, UsageError
from agent.model.file import MAX_BYTES, SHIPPED, SUFFIX, read, signature_of, write
from tests.decision.made import made_model
from tests.model.examples import STRANGER
from tests.worlds.people import MONDAY

ANY: tuple[str, ...] = ()


class Filled:
    """A registry in a folder, and a folder of models to take from; each look is a second later."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "source"
        self.source.mkdir()
        self.registry, self.looks = ModelRegistry(folder / "models"), 0

    @property
    def now(self) -> datetime:
        """The time, a second after the last one."""
        self.looks += 1
        return MONDAY + timedelta(seconds=self.looks)

    def made(self, name: str, seed: int = 1, model_id: str | None = None) -> Path:
        """Return a model's file; ``model_id``: another one than it has anyhow."""
        path, model = self.source / f"{name}{SUFFIX}", made_model(seed)
        write(model if model_id is None else replace(model, id=model_id), path)
        return path

    def signed(self, name: str) -> tuple[Path, str]:
        path, key = self.made(name, model_id=name), self.source / f"{name}.pem"
        public = generate_key(key)
        sign(path, key)
        return path, public


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    return Filled(tmp_path)


def test_the_shipped_model_is_always_there(filled: Filled) -> None:
    """By its name, and in the world that is meant by none, whatever keys are trusted."""
    keys = (STRANGER,)
    world = filled.registry.of(None, keys, filled.now)
    assert world is filled.registry.of(None, keys, filled.now + timedelta(minutes=1))
    shipped = filled.registry.of(SHIPPED[0], keys, filled.now)
    assert shipped in world.every
    assert filled.registry.of(SHIPPED[0], ANY, filled.now).digest == shipped.digest
    status, *_ = filled.registry.status(keys, filled.now)
    assert (status.name, status.shipped, status.problem) == (SHIPPED[0], True, None)
    assert (status.digest, status.attributes) == (shipped.digest, 107)
    with pytest.raises(UsageError):
        filled.registry.remove(SHIPPED[0])
    with pytest.raises(UsageError):
        filled.registry.add(filled.made(SHIPPED[0]), ANY, filled.now)


def test_a_model_that_is_added_is_a_copy(filled: Filled) -> None:
    """Only its owner can read it, the file it was made of may go, and no other takes its name."""
    path = filled.made("mine")
    added = filled.registry.add(path, ANY, filled.now)
    path.unlink()
    model = filled.registry.of("mine", ANY, filled.now)
    assert (added.name, added.digest, added.maker) == ("mine", model.digest, None)
    assert filled.registry.status(ANY, filled.now)[-1] == added
    [world] = filled.registry.usable(ANY, filled.now)
    assert {each.id for each in world.every} == {*SHIPPED}  # nobody vouches for it
    assert filled.registry.named(["mine", "gone", *SHIPPED], ANY, filled.now) == [model]
    assert filled.registry.named(["mine"], (STRANGER,), filled.now) == []
    assert {each.stat().st_mode & 0o777 for each in filled.registry.folder.iterdir()} == {0o600}
    assert filled.registry.folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(UsageError):
        filled.registry.add(filled.made("mine", 2), ANY, filled.now)
    assert filled.registry.of("mine", ANY, filled.now) is model


def test_only_trusted_makers_are_used(filled: Filled) -> None:
    """What nobody signed, or somebody else, is not taken, and not used where it lies already."""
    path, key = filled.signed("signed")
    other = generate_key(filled.source / "other.pem")
    plain = filled.made("plain", 2)
    for refused in (path, plain):
        with pytest.raises(SignatureError):
            filled.registry.add(refused, (other,), filled.now)
    assert filled.registry.names() == [*SHIPPED]
    assert filled.registry.add(path, (other, key), filled.now).maker == key
    filled.registry.add(plain, ANY, filled.now)
    for name, keys in (("signed", (other,)), ("plain", (key,))):
        with pytest.raises(SignatureError):
            filled.registry.of(name, keys, filled.now)
        assert filled.registry.of(name, ANY, filled.now)
    [world] = filled.registry.usable((key,), filled.now)
    assert {each.id for each in world.every} == {*SHIPPED, "signed"}
    problems = [each.problem for each in filled.registry.status((key,), filled.now)]
    assert [problem is None for problem in problems] == [True, True, False, True]


def test_a_signed_model_is_trusted_under_its_own_name_alone(filled: Filled) -> None:
    """A policy chooses by the name: a trusted model must not stand for another one."""
    path, key = filled.signed("library")
    filled.registry.add(path, (key,), filled.now)
    assert filled.registry.of("library", (key,), filled.now)
    for each in [*filled.registry.folder.iterdir()]:
        each.rename(each.with_name(f"clinic{each.suffix}"))
    with pytest.raises(SignatureError, match="signed as 'library' and is named 'clinic'"):
        filled.registry.of("clinic", (key,), filled.now)
    for each in (path, signature_of(path)):
        each.rename(each.with_name(f"other{each.suffix}"))
    with pytest.raises(SignatureError, match="signed as 'library' and is named 'other'"):
        filled.registry.add(path.with_name(f"other{SUFFIX}"), ANY, filled.now)


def test_a_model_that_others_can_write_is_not_used(filled: Filled) -> None:
    """Nor one in a folder to which they can."""
    filled.registry.add(filled.made("mine"), ANY, filled.now)
    place = filled.registry.folder / f"mine{SUFFIX}"
    for each, bits in ((place, 0o666), (filled.registry.folder, 0o777)):
        before = each.stat().st_mode
        each.chmod(bits)
        with pytest.raises(UnsafeError, match="other users can write to this"):
            ModelRegistry(filled.registry.folder).of("mine", ANY, filled.now)
        each.chmod(before)
    assert ModelRegistry(filled.registry.folder).of("mine", ANY, filled.now)


def test_an_unsound_key_trusts_nobody(filled: Filled) -> None:
    """It is named, and the shipped model needs none."""
    path, key = filled.signed("mine")
    filled.registry.add(path, (key,), filled.now)
    unsound = (key, "ed25519:01" + "0" * 62)
    assert filled.registry.of(SHIPPED[0], unsound, filled.now)
    with pytest.raises(UsageError, match="anybody could sign for it"):
        filled.registry.of("mine", unsound, filled.now)


def test_a_name_is_one_that_a_policy_can_say_and_no_path(filled: Filled) -> None:
    """What lies elsewhere is neither used nor removed."""
    outside = filled.made("outside")
    for name in ("Mine", "a b", "", "ä", "-a", "a" * 101):
        with pytest.raises(UsageError, match="cannot be the name"):
            filled.registry.add(outside.with_name(f"{name}{SUFFIX}"), ANY, filled.now)
    for name in (f"../{filled.source.name}/outside", str(outside.with_suffix("")), "outside\0"):
        with pytest.raises(UsageError):
            filled.registry.of(name, ANY, filled.now)
        with pytest.raises(UsageError):
            filled.registry.remove(name)
    assert outside.exists()


def test_what_is_no_model_is_not_taken(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged, not there, a folder: nothing is left behind; what is too long is never copied."""
    damaged = filled.made("damaged")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (filled.source / f"folder{SUFFIX}").mkdir()
    with pytest.raises(DamagedModelError):
        filled.registry.add(damaged, ANY, filled.now)
    for name in ("folder", "missing"):
        with pytest.raises(UsageError):
            filled.registry.add(filled.source / f"{name}{SUFFIX}", ANY, filled.now)
    os.truncate(long := filled.made("long"), MAX_BYTES)
    monkeypatch.setattr("agent.daemon.model_registry.replace_bytes", pytest.fail)
    with pytest.raises(DamagedModelError, match="bytes of tensors"):
        filled.registry.add(long, ANY, filled.now)
    assert [*filled.registry.folder.iterdir()] == []


def test_a_model_that_changes_is_read_again(filled: Filled) -> None:
    """Replaced, damaged, mended, removed."""
    filled.registry.add(filled.made("mine", 1), ANY, filled.now)
    place = filled.registry.folder / f"mine{SUFFIX}"
    write(made_model(2), place)
    assert filled.registry.of("mine", ANY, filled.now).id == "made-2"
    whole = place.read_bytes()
    place.write_bytes(whole[:-5])
    with pytest.raises(ModelError):
        filled.registry.of("mine", ANY, filled.now)
    [*_, status] = filled.registry.status(ANY, filled.now)
    assert (status.problem is not None, status.digest, status.queries) == (True, "", 0)
    place.write_bytes(whole)
    assert filled.registry.of("mine", ANY, filled.now).id == "made-2"
    filled.registry.remove("mine")
    with pytest.raises(UsageError):
        filled.registry.of("mine", ANY, filled.now)
    assert filled.registry.ever_known() >= {each.name for each in made_model(1).attributes}
    assert filled.registry.names() == [*SHIPPED]


def test_others_are_answered_while_a_model_is_read(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the models that there were: a large one takes seconds, and a lock must not wait."""
    begun, go_on, registry = Event(), Event(), ModelRegistry(filled.registry.folder)
    filled.registry.add(filled.made("large"), ANY, filled.now)
    registry.in_thread = True

    def slow(path: Path, _keys: object) -> object:
        begun.set()
        return go_on.wait(60) and read(path)

    monkeypatch.setattr("agent.daemon.model_registry.trusted", slow)

    async def run() -> None:
        reading = asyncio.create_task(registry.prepare())
        await asyncio.to_thread(begun.wait, 60)
        with pytest.raises(ModelError, match="being read"):
            registry.of("large", ANY, filled.now)
        go_on.set()
        await reading

    asyncio.run(run())
    assert registry.of("large", ANY, filled.now).digest
