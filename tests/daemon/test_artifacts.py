"""What is installed for other programs: written, compared, removed, and all else left alone."""

import hashlib
import json
import os
import shutil
import stat
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.artifacts import (
    LARGEST,
    LARGEST_CONFIGURATION,
    Artifact,
    ConfigurationEntry,
    Machine,
    as_text,
    members_of,
)
from agent.daemon.programs import (
    CHROMIUM_ID,
    EXTENSION,
    FIREFOX_ID,
    extension,
    installations,
    remove,
    write,
)
from agent.errors import UsageError
from agent.files import replace_bytes
from tests.daemon.test_installed_files import looking
from tests.wire.fake import short_folder
from tests.worlds.people import machine_at, started_by

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)
FOREIGN = [b"", b"{", b"\xff", b"[" * 9000, b"x" * (LARGEST + 1), b'{"name": "reticent.relay"}']


def everything(machine: Machine) -> dict[Path, bytes]:
    files = [each for each in machine.home.rglob("*") if each.is_file()]
    return {each: each.read_bytes() for each in files}


def states(machine: Machine) -> set[str]:
    return {each.state for each in installations(machine)}


def test_all_that_is_written_is_removed(machine: Machine) -> None:
    """Written twice it is the same; and nothing of it is left, in no file of another program."""
    mine = machine.home / ".claude.json"
    mine.write_text('{\n  "talks": 1.5,\n  "mcpServers": {\n    "other": {}\n  }\n}')
    before = everything(machine)
    assert states(machine) == {"absent"}
    for _ in range(2):
        write(installations(machine))
        assert states(machine) == {"installed"}
    gone = remove(installations(machine), installations(machine))
    assert len(gone) == 1 + 6 + 4 + 2
    assert everything(machine) == before
    assert remove(installations(machine), installations(machine)) == []


@pytest.mark.parametrize("data", FOREIGN, ids=range(len(FOREIGN)))
def test_what_is_not_ours_stays(machine: Machine, data: bytes) -> None:
    """Nothing is written then, not even beside it."""
    every = {each.artifact.path: each.artifact for each in installations(machine)}
    files = [each for each in every.values() if type(each) is Artifact]
    for part in files:
        part.path.parent.mkdir(parents=True, exist_ok=True)
        part.path.write_bytes(data)
    before = everything(machine)
    assert {each.state() for each in files} == {"foreign"}
    with pytest.raises(UsageError, match="not written by Reticent"):
        write(installations(machine))
    assert remove(installations(machine), installations(machine)) == []
    assert everything(machine) == before


def test_what_another_installation_wrote_is_written_over_and_not_removed(machine: Machine) -> None:
    """There is one place for each; who comes last has it."""
    other = machine_at(machine.home, RETICENT_HOME=str(machine.home / "other"))
    write(installations(other))
    assert states(machine) == {"elsewhere"}
    assert remove(installations(machine), installations(machine)) == []
    write(installations(machine)[1:2])
    remove(installations(other), installations(other))
    found = {each.name: each.state for each in installations(machine)}
    assert (found.pop("chromium"), {*found.values()}) == ("installed", {"absent"})


def test_what_was_changed_is_seen(machine: Machine) -> None:
    """Another Python; a launcher that cannot be run; a part that is missing."""
    write(installations(started_by(machine, "/gone/python3")))
    parts = [part for each in installations(machine) for part in (each.artifact, *each.shared)]
    assert {each.state for each in installations(machine)} == {"outdated", "installed"}
    write(installations(machine))
    machine.paths.relay.chmod(0o600)
    [launcher] = {part.path: part for part in parts if part.path == machine.paths.relay}.values()
    assert launcher.state() == "outdated"
    system = installations(machine)[0]
    system.artifact.path.unlink()
    assert system.state == "absent"


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_nobody_else_can_write_what_starts_a_program(machine: Machine, umask: int) -> None:
    """Whatever the umask; others' folders keep their mode, and their files."""
    theirs = machine.home / ".config/chromium/NativeMessagingHosts"
    theirs.mkdir(parents=True)
    theirs.chmod(0o755)
    (theirs / "other.json").write_text("{}")
    before = os.umask(umask)
    try:
        written = write(installations(machine))
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.path.stat().st_mode) & 0o022 for each in written} == {0}
    assert {stat.S_IMODE(each.path.parent.stat().st_mode) & 0o022 for each in written} == {0}
    assert stat.S_IMODE(machine.paths.relay.stat().st_mode) == 0o700
    assert (stat.S_IMODE(theirs.stat().st_mode), len([*theirs.iterdir()])) == (0o755, 2)


# a member of another program's file


@given(OBJECTS, OBJECTS, st.sampled_from([2, 4, "\t"]), st.data())
def test_all_else_in_the_file_stays(
    whole: dict[str, Any], servers: dict[str, Any], indent: int | str, data: st.DataObject
) -> None:
    """In its order and indented as before, when our member is added, changed and taken away."""
    servers.pop("reticent", None)
    if data.draw(st.booleans()):
        whole["servers"] = servers
    before = json.dumps(whole, indent=indent, ensure_ascii=False)
    with short_folder() as folder:
        path = folder / "mcp.json"
        path.write_text(before)
        for each in ({"command": "x", "args": ['}"{']}, {}):
            an_entry(path, each).write()
            expected = {**whole, "servers": {**whole.get("servers", {}), "reticent": each}}
            width = indent if "\n" in before else 2
            assert path.read_text() == json.dumps(expected, indent=width, ensure_ascii=False)
        assert an_entry(path, {}).remove()
        if not whole.get("servers"):
            whole.pop("servers", None)
        assert path.exists() == bool(whole)
        assert not whole or json.loads(path.read_text()) == whole


@given(data=st.binary(max_size=200))
def test_any_bytes_are_members_or_refused(data: bytes) -> None:
    """Damage is no defect."""
    with short_folder() as folder:
        path = folder / "mcp.json"
        path.write_bytes(data)
        try:
            found = members_of(path)
        except UsageError:
            return
        assert not data.strip() or found == json.loads(data)


def an_entry(
    path: Path, server: Mapping[str, object] = MappingProxyType({"command": "x"})
) -> ConfigurationEntry:
    text = as_text(dict(server))
    return ConfigurationEntry(path, text, lambda _: True, "", group="servers", name="reticent")


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', "// a comment\n{}", "[]", "17", "{", "[" * 100_000, '{"a": 1,}']
    + [f'{{"servers": {each}}}' for each in ("null", "[]", "17", '{"reticent": "text"}')],
)
def test_what_cannot_be_edited_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    """It says where, and the user adds the server by hand."""
    path = tmp_path / "mcp.json"
    path.write_text(text)
    assert an_entry(path).state() == "foreign"
    with pytest.raises(UsageError) as refused:
        an_entry(path).write()
    assert (refused.value.where, "by hand" in refused.value.hint) == (str(path), True)
    assert not an_entry(path).remove()
    assert path.read_text() == text
    for odd in ('{"a": 1e999}', '{"a": "\\ud800"}'):
        path.write_text(odd)
        with pytest.raises(UsageError, match="cannot be rewritten"):
            an_entry(path).write()
        assert path.read_text() == odd


def test_a_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """A new one is its owner's; none is read beyond all measure, and an empty one is an object."""
    target, path = tmp_path / "dotfiles.json", tmp_path / "mcp.json"
    target.write_text(" \n")
    target.chmod(0o640)
    path.symlink_to(target)
    an_entry(path).write()
    assert path.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [*json.loads(target.read_text())] == ["servers"]
    an_entry(new := tmp_path / "new.json").write()
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    with new.open("wb") as file:
        file.truncate(LARGEST_CONFIGURATION + 1)
    assert an_entry(new).state() == "foreign"


def test_what_the_program_writes_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may write its file at any time while it runs: then nothing is written over that."""
    path = tmp_path / "mcp.json"

    def late(*given: Any, **named: Any) -> None:  # noqa: ANN401  (of `replace_bytes`)
        path.write_text('{"talks": 1}')
        replace_bytes(*given, **named)

    monkeypatch.setattr("agent.files.replace_bytes", late)
    with pytest.raises(UsageError, match="changed this file meanwhile"):
        an_entry(path).write()
    assert path.read_text() == '{"talks": 1}'
    assert [*tmp_path.iterdir()] == [path]


# the extension


@pytest.fixture
def older(machine: Machine) -> Machine:
    """A machine with the extension that an earlier version unpacked there."""
    shutil.copytree(EXTENSION, earlier := machine.home / "earlier")
    (earlier / "background.js").write_text("// as it was\n")
    (earlier / "gone.js").write_text("// no more\n")
    replace(extension(machine.paths), source=earlier).write()
    return machine


def chromium_id(key: bytes) -> str:
    """Derive the id of an extension: a digest in 32 letters, each for a digit in base 16."""
    return "".join(chr(ord("a") + int(each, 16)) for each in hashlib.sha256(key).hexdigest()[:32])


def content(folder: Path) -> dict[str, bytes]:
    return {str(e.relative_to(folder)): e.read_bytes() for e in folder.rglob("*") if e.is_file()}


def test_the_extension_is_what_the_package_has(machine: Machine) -> None:
    """Byte for byte and private; and it has the key and the id that the relay answers."""
    found = extension(machine.paths)
    found.write()
    assert found.state() == "installed"
    assert content(found.path) == content(EXTENSION)
    assert stat.S_IMODE(found.path.parent.stat().st_mode) == 0o700
    manifest = json.loads((found.path / "manifest.json").read_text())
    key = b64decode(manifest["key"], validate=True)
    assert chromium_id(key) == CHROMIUM_ID
    rsa = load_der_public_key(key)
    assert isinstance(rsa, RSAPublicKey)
    assert rsa.key_size == 2048
    assert chromium_id(b"") == "odlameecjipmbmbejkplpemijjgpljce"
    assert manifest["browser_specific_settings"]["gecko"]["id"] == FIREFOX_ID
    (found.path / ".DS_Store").touch()
    assert found.state() == "installed"
    assert found.remove()
    assert [*machine.paths.data.iterdir()] == []


def test_an_older_extension_is_replaced(older: Machine) -> None:
    """With what it had and this version has not, and what somebody edited there."""
    found = extension(older.paths)
    for added in (None, "x", "y"):
        if added is not None:
            (found.path / added).touch()
        (found.path / "lib/header.js").write_text("// mine")
        assert found.state() == "outdated"
        found.write()
        assert content(found.path) == content(EXTENSION)
        assert [*older.paths.data.iterdir()] == [found.path]


@pytest.mark.parametrize("kind", ["file", "link", "dead link", "pipe"])
def test_what_is_in_its_place_stays(machine: Machine, tmp_path: Path, kind: str) -> None:
    """And is not followed."""
    machine.paths.data.mkdir(parents=True, mode=0o700)
    make: dict[str, Callable[[Path], object]] = {
        "file": lambda path: path.write_text("mine"),
        "link": lambda path: path.symlink_to(shutil.copytree(EXTENSION, tmp_path / "checkout")),
        "dead link": lambda path: path.symlink_to(tmp_path / "gone"),
        "pipe": os.mkfifo,
    }
    make[kind](machine.paths.extension)
    found = extension(machine.paths)
    assert found.state() == "foreign"
    with pytest.raises(UsageError, match="not written by Reticent"):
        found.write()
    assert not found.remove()
    assert [*machine.paths.data.iterdir()] == [found.path]


@pytest.mark.parametrize("method", ["write", "remove"])
def test_at_every_instant_the_extension_is_whole_or_none(older: Machine, method: str) -> None:
    """At the call of whatever changes names or makes a file; the next run removes what is left."""
    found, instants = extension(older.paths), 0
    before = content(found.path)

    def look() -> None:
        nonlocal instants
        instants += 1
        assert not found.path.exists() or content(found.path) in (before, whole_one)

    whole_one = content(EXTENSION)
    with looking(look, "rename", "mkdir", "rmdir"):
        getattr(found, method)()
    assert instants
    (older.paths.data / ".browser-extension.0a1b2c3d.part").mkdir()
    found.write()
    assert content(found.path) == whole_one
    assert [*older.paths.data.iterdir()] == [found.path]
