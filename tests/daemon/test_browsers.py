"""The relay's manifests and launcher, for each browser."""

import json
import os
import re
import stat
import sys
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import browsers, service
from agent.daemon.browsers import (
    BROWSERS,
    FIREFOX_ID,
    HOST,
    KEY,
    Browser,
    System,
    chromium_id,
    install_manifests,
    is_here,
    launcher,
    look_at_launcher,
    look_at_manifests,
    manifest,
    manifest_path,
    program_of,
    remove_manifests,
    sandboxes,
)
from agent.errors import UnsafeError, UsageError
from agent.paths import Paths, paths
from tests.daemon.relay_host import hosting
from tests.wire.fake import short_folder

CHROMIUM, FIREFOX = BROWSERS[0], BROWSERS[-1]
ORIGIN = f"chrome-extension://{chromium_id(KEY)}/"
FOREIGN = [
    b"",
    b"{",
    b"[]",
    b"\xff",
    b"[" * 9000,
    b"x" * (service.LARGEST + 1),
    json.dumps({"name": HOST, "description": "mine", "path": "/mine"}).encode(),
    json.dumps({"name": "another", "description": browsers.OURS}).encode(),
]


@pytest.fixture
def home() -> Iterator[Path]:
    """A user's folder, in which all that is ours lies as well."""
    with short_folder() as folder:
        yield folder


@pytest.fixture
def system(home: Path) -> System:
    """This user's browsers, none of which is here."""
    return System("systemd", {"HOME": str(home), "PATH": ""})


@pytest.fixture
def places(home: Path) -> Paths:
    """Where what is ours lies."""
    return paths({"RETICENT_HOME": str(home / "r")})


def states(system: System, places: Paths) -> set[str]:
    """Return the states that manifests are in."""
    return {each.state for each in look_at_manifests(system, places)}


def test_what_is_written_is_what_is_looked_for(system: System, places: Paths) -> None:
    """And can be written again; what is removed is absent, and its folders stay."""
    assert states(system, places) == {"absent"}
    assert look_at_launcher(places, sys.executable) == "absent"
    for _ in range(2):
        written = install_manifests(look_at_manifests(system, places), places, sys.executable)
        assert written == [places.relay, *(manifest_path(each, system) for each in BROWSERS)]
        assert states(system, places) == {"installed"}
        assert look_at_launcher(places, sys.executable) == "installed"
    assert remove_manifests(look_at_manifests(system, places)) == written[1:]
    assert states(system, places) == {"absent"}
    assert remove_manifests(look_at_manifests(system, places)) == []


@pytest.mark.parametrize("browser", BROWSERS, ids=lambda each: each.name)
def test_a_manifest_is_for_our_extension_alone(
    system: System, places: Paths, browser: Browser
) -> None:
    """With a path that is absolute, and a program that only its owner can change."""
    install_manifests(look_at_manifests(system, places, [browser]), places, sys.executable)
    told = json.loads(manifest_path(browser, system).read_text())
    assert manifest_path(browser, system).name == f"{HOST}.json"
    allowed = {
        "chromium": {"allowed_origins": [ORIGIN]},
        "firefox": {"allowed_extensions": [FIREFOX_ID]},
    }[browser.kind]
    assert told == {
        "name": HOST,
        "description": browsers.OURS,
        "path": str(places.relay),
        "type": "stdio",
        **allowed,
    }
    assert Path(told["path"]).is_absolute()
    assert stat.S_IMODE(places.relay.stat().st_mode) == 0o700
    assert stat.S_IMODE(places.data.stat().st_mode) == 0o700


@pytest.mark.parametrize("data", FOREIGN, ids=range(len(FOREIGN)))
def test_what_is_not_ours_stays(system: System, places: Paths, data: bytes) -> None:
    """Nothing is written then, not even beside it."""
    path = manifest_path(FIREFOX, system)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(UsageError, match="not written by Reticent") as raised:
        install_manifests(look_at_manifests(system, places), places, sys.executable)
    assert raised.value.where == str(path)
    assert not places.data.exists()
    assert remove_manifests(look_at_manifests(system, places)) == []
    assert path.read_bytes() == data


def test_a_folder_in_its_place_is_not_ours(system: System, places: Paths) -> None:
    """Nor is a launcher that somebody else wrote."""
    manifest_path(CHROMIUM, system).mkdir(parents=True)
    places.data.mkdir(parents=True, mode=0o700)
    places.relay.write_text("#!/bin/sh\n")
    assert look_at_manifests(system, places)[0].state == "foreign"
    assert look_at_launcher(places, sys.executable) == "foreign"
    with pytest.raises(UsageError, match="not written by Reticent") as raised:
        install_manifests(look_at_manifests(system, places, [FIREFOX]), places, sys.executable)
    assert raised.value.where == str(places.relay)


def test_what_another_home_has_told_is_written_over_and_not_removed(
    system: System, places: Paths, home: Path
) -> None:
    """There is one place for a manifest; who comes last has it."""
    other = paths({"RETICENT_HOME": str(home / "other")})
    install_manifests(look_at_manifests(system, other), other, sys.executable)
    assert states(system, places) == {"differing"}
    assert remove_manifests(look_at_manifests(system, places)) == []
    install_manifests(look_at_manifests(system, places, [CHROMIUM]), places, sys.executable)
    assert remove_manifests(look_at_manifests(system, other)) == [
        manifest_path(each, system) for each in BROWSERS[1:]
    ]
    assert look_at_manifests(system, places)[0].state == "installed"


def test_what_was_changed_is_seen(system: System, places: Paths) -> None:
    """A manifest for more extensions, a launcher of an older interpreter, or one not executable."""
    install_manifests(look_at_manifests(system, places), places, "/gone/python3")
    assert look_at_launcher(places, sys.executable) == "differing"
    assert program_of(places) == "/gone/python3"
    places.relay.chmod(0o600)
    assert look_at_launcher(places, "/gone/python3") == "differing"
    path = manifest_path(CHROMIUM, system)
    path.write_text(path.read_text().replace(ORIGIN, f"{ORIGIN}x"))
    [seen] = look_at_manifests(system, places, [CHROMIUM])
    assert (seen.state, seen.mine) == ("differing", True)
    assert remove_manifests([seen]) == [path]


@pytest.mark.parametrize("umask", [0, 0o002, 0o022, 0o077])
def test_nobody_else_can_write_a_manifest(system: System, places: Paths, umask: int) -> None:
    """Whatever the umask: it says which program a browser starts. Ours can read it anyhow."""
    before = os.umask(umask)
    try:
        written = install_manifests(look_at_manifests(system, places), places, sys.executable)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(each.stat().st_mode) for each in written if each != places.relay}
    assert modes == {0o644 & ~umask}
    assert stat.S_IMODE(places.relay.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.parent.stat().st_mode) & 0o022 for each in written} == {0}


def test_no_manifest_is_written_where_others_could_replace_it(
    system: System, places: Paths, home: Path
) -> None:
    """The folder is named, and there is no manifest."""
    home.chmod(0o777)
    with pytest.raises(UnsafeError, match="other users can write to this folder"):
        install_manifests(look_at_manifests(system, places), places, sys.executable)
    assert not manifest_path(CHROMIUM, system).exists()


def test_others_in_a_browsers_folder_keep_what_they_have(system: System, places: Paths) -> None:
    """Its mode as well."""
    folder = manifest_path(CHROMIUM, system).parent
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "other.json").write_text("{}")
    install_manifests(look_at_manifests(system, places), places, sys.executable)
    remove_manifests(look_at_manifests(system, places))
    assert [each.name for each in folder.iterdir()] == ["other.json"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\x00/"), min_size=1))
def test_a_launcher_starts_what_it_says_whatever_that_is_called(name: str) -> None:
    """As a shell reads it; the interpreter comes back."""
    here = paths({"RETICENT_HOME": "/r"})
    interpreter = f"/opt/{name}"
    text = launcher(here, interpreter)
    with short_folder() as folder:
        there = replace(here, data=folder)
        there.relay.write_bytes(text.encode("utf-8"))
        found = program_of(there)
    if len(text.splitlines()) == 3:
        assert found == interpreter


@pytest.mark.parametrize("name", ["py thon", "$HOME", "it's", 'a"b', "ünï", "`x`"])
def test_the_launcher_runs(system: System, home: Path, name: str) -> None:
    """From anywhere, with nothing in its environment, and answers."""
    places = paths({"RETICENT_HOME": str(home / name)})
    interpreter = home / f"{name}.py"
    interpreter.symlink_to(sys.executable)
    install_manifests(look_at_manifests(system, places), places, str(interpreter))
    with hosting(Path("/none"), str(places.relay), ORIGIN) as host:
        assert host.ask(1, "status")["code"] == "no daemon"
        assert host.end() == 0


def test_too_long_a_path_is_said(system: System, home: Path) -> None:
    """The relay could say no more than that there is no daemon."""
    places = paths({"RETICENT_HOME": str(home / ("x" * 120))})
    with pytest.raises(UsageError, match="the path of the socket"):
        install_manifests(look_at_manifests(system, places), places, sys.executable)
    assert [*home.iterdir()] == []


def test_folders_are_those_of_the_system(home: Path) -> None:
    """Of the user's configuration, where that is elsewhere; Firefox has its own."""
    linux = System("systemd", {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "c")})
    mac = System("launchd", {"HOME": str(home)})
    assert manifest_path(CHROMIUM, linux).parent == home / "c/chromium/NativeMessagingHosts"
    assert manifest_path(FIREFOX, linux).parent == home / ".mozilla/native-messaging-hosts"
    support = home / "Library/Application Support"
    assert manifest_path(FIREFOX, mac).parent == support / "Mozilla/NativeMessagingHosts"
    assert manifest_path(BROWSERS[1], mac).parent == support / "Google/Chrome/NativeMessagingHosts"
    found = {manifest_path(each, linux) for each in BROWSERS}
    assert len(found) == len(BROWSERS)


def test_a_browser_is_here_if_it_was_used_or_can_be(
    system: System, places: Paths, home: Path
) -> None:
    """That it was told of the relay is no sign of that."""
    assert not any(is_here(each, system) for each in BROWSERS)
    install_manifests(look_at_manifests(system, places), places, sys.executable)
    assert not any(is_here(each, system) for each in BROWSERS)
    (manifest_path(FIREFOX, system).parents[1] / "firefox").mkdir()
    assert [each.name for each in BROWSERS if is_here(each, system)] == ["firefox"]
    for folder, here in (("snap/bin", False), ("flatpak/exports/bin", False), ("bin", True)):
        program = home / folder / "chromium"
        program.parent.mkdir(parents=True)
        program.touch(0o700)
        with_program = replace(system, environment={"HOME": str(home), "PATH": str(program.parent)})
        assert is_here(CHROMIUM, with_program) == here


def test_a_browser_in_a_sandbox_is_named(system: System, home: Path) -> None:
    """It is not here otherwise."""
    before = {each.name: [*sandboxes(each, system)] for each in BROWSERS}
    (home / "snap/firefox").mkdir(parents=True)
    (home / ".var/app/com.brave.Browser").mkdir(parents=True)
    after = {each.name: [*sandboxes(each, system)] for each in BROWSERS}
    gained = {name: {*after[name]} - {*before[name]} for name in before}
    assert {name: found for name, found in gained.items() if found} == {
        "firefox": {"snap"},
        "brave": {"flatpak"},
    }
    assert not is_here(FIREFOX, system)


def test_a_folder_that_cannot_be_written_is_said(system: System, places: Paths, home: Path) -> None:
    """Here a file stands in its place."""
    (home / ".config").write_text("a file")
    with pytest.raises(UsageError):
        install_manifests(look_at_manifests(system, places, [CHROMIUM]), places, sys.executable)
    assert os.path.lexists(places.relay)
    assert manifest(CHROMIUM, places)


def test_the_key_is_a_public_one() -> None:
    """As Chromium wants it in a manifest."""
    key = load_der_public_key(b64decode(KEY))
    assert isinstance(key, RSAPublicKey)
    assert key.key_size == 2048


def test_an_id_is_a_digest_in_letters() -> None:
    """32 of them, each for a digit in base 16; that of nothing is e3b0c442..."""
    assert chromium_id("") == "odlameecjipmbmbejkplpemijjgpljce"


def test_names_are_such_as_browsers_take() -> None:
    """Chromium and Firefox have a pattern each for both."""
    assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", HOST)
    assert re.fullmatch(r"\w+(\.\w+)*", HOST)
    assert re.fullmatch(r"[a-zA-Z0-9._-]*@[a-zA-Z0-9._-]+", FIREFOX_ID)
