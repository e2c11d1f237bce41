"""`reticent browser`: install, remove and status, for all that are here or some."""

import json
from pathlib import Path

import pytest

from agent.daemon.browsers import BROWSERS, HOST
from agent.paths import paths
from tests.cli.conftest import Run

CHROMIUM = f".config/chromium/NativeMessagingHosts/{HOST}.json"
FIREFOX = f".mozilla/native-messaging-hosts/{HOST}.json"


@pytest.fixture(autouse=True)
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of Linux with no browser."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setattr("agent.cli.browser.usual", lambda: "systemd")
    monkeypatch.setattr("agent.daemon.browsers.SYSTEM_WIDE", home / "system")
    return home


@pytest.fixture
def used(user: Path) -> Path:
    """The same, who has used Chromium and Firefox."""
    for folder in (".config/chromium/Default", ".mozilla/firefox"):
        (user / folder).mkdir(parents=True)
    return user


def manifests(home: Path) -> list[str]:
    """Return the paths of all manifests of our relay."""
    return sorted(str(each.relative_to(home)) for each in home.rglob(f"{HOST}.json"))


def test_installing_tells_those_that_are_here(run: Run, used: Path) -> None:
    """And nobody else; what was written is named."""
    ran = run("browser", "install")
    assert (ran.code, ran.err) == (0, "")
    assert manifests(used) == [CHROMIUM, FIREFOX]
    wrote = (paths().relay, used / CHROMIUM, used / FIREFOX, paths().extension)
    assert ran.out.splitlines()[:5] == ["Wrote:", *(f"  {each}" for each in wrote)]


def test_installing_says_how_each_browser_loads_the_extension(run: Run, used: Path) -> None:
    """Where it lies, and only the browsers that were chosen."""
    said = run("browser", "install").out
    assert f"\n  {paths().extension}\n" in said
    assert (paths().extension / "manifest.json").is_file()
    assert "In Chromium: open chrome://extensions" in said
    assert "In Firefox: open about:debugging" in said
    assert "In Firefox" not in run("browser", "install", "chromium", "brave").out
    assert "In Chromium, Brave: " in run("browser", "install", "chromium", "brave").out
    assert str(used) in said


@pytest.mark.usefixtures("used")
def test_installing_again_updates_the_extension_unless_it_was_edited(run: Run) -> None:
    """The page says which it was, and so does the record; `remove` takes only ours away."""
    assert run("browser", "install", "--json").record["extension"]["before"] == "absent"
    sums, old = paths().extension / "SHA256SUMS", paths().extension / "icons/16.png"
    sums.write_text(sums.read_text().replace("icons/16", "icons/15"))
    old.rename(old.with_name("15.png"))
    assert "reload the extension in each browser" in _joined(run("browser", "status").out)
    assert run("browser", "status", "--json").record["extension"] == "differing"
    assert "was updated; reload it" in run("browser", "install").out
    assert run("browser", "status", "--json").record["extension"] == "installed"
    old.write_bytes(b"mine")
    again = run("browser", "install")
    assert (again.code, again.err) == (0, "")
    assert "was edited, and stays" in again.out
    assert str(paths().extension) not in again.out.partition("can reach")[0]
    assert str(paths().extension) not in run("browser", "remove", "--json").record["removed"]
    assert old.read_bytes() == b"mine"


def _joined(text: str) -> str:
    return " ".join(text.split())


def test_those_that_are_named_are_told(run: Run, used: Path) -> None:
    """Whether they are here or not; in the order of the list, each once."""
    record = run("browser", "install", "vivaldi", "chrome", "chrome", "--json").record
    assert record["browsers"] == ["chrome", "vivaldi"]
    assert record["written"][0] == str(paths().relay)
    assert [*map(str, manifests(used))] == [
        str(Path(each).relative_to(used)) for each in record["written"][1:-1]
    ]


def test_removing_some_leaves_the_others_their_relay(run: Run, used: Path) -> None:
    """With the last, it goes as well."""
    run("browser", "install")
    first = run("browser", "remove", "firefox", "--json").record
    assert first["removed"] == [str(used / FIREFOX)]
    assert paths().relay.exists()
    last = run("browser", "remove")
    said, *gone = last.out.splitlines()
    assert said == "Removed; a running browser stays connected until you close it:"
    assert gone == [f"  {each}" for each in (used / CHROMIUM, paths().relay, paths().extension)]
    assert manifests(used) == []
    assert not paths().relay.exists()
    again = run("browser", "remove")
    assert (again.code, again.out) == (0, "No browser was connected, so nothing was removed.\n")


@pytest.mark.usefixtures("used")
def test_the_status_before_and_after(run: Run) -> None:
    """Of every browser, and of the relay."""
    before = run("browser", "status", "--json").record
    assert [each["name"] for each in before["browsers"]] == [each.name for each in BROWSERS]
    assert {each["state"] for each in before["browsers"]} == {"absent"}
    assert [each["name"] for each in before["browsers"] if each["here"]] == ["chromium", "firefox"]
    assert "`reticent browser install` connects" in run("browser", "status").out
    run("browser", "install", "firefox")
    after = run("browser", "status", "--json").record
    assert (after["relay"], after["notes"]) == ("installed", [])
    assert [each["state"] for each in after["browsers"]] == ["absent"] * 5 + ["installed"]
    assert run("browser", "status").out.count("yes        connected") == 1
    paths().relay.write_text(paths().relay.read_text().replace("exec ", "exec /gone"))
    assert "is out of date:" in run("browser", "status").out.replace("\n", " ")


def test_no_browser_is_an_error(run: Run, user: Path) -> None:
    """With the names that there are; nothing is written."""
    error, hint = run("browser", "install").refusal()
    assert error == "no browser was found"
    assert all(each.name in hint for each in BROWSERS)
    assert [*user.iterdir()] == []
    assert "did you mean 'firefox'" in run("browser", "install", "firefo").refusal()[1]


def test_a_browser_in_a_sandbox_is_named(run: Run, user: Path) -> None:
    """With what to do; it is told nothing, which would change nothing."""
    (user / "snap/firefox").mkdir(parents=True)
    error, hint = run("browser", "install").refusal()
    assert error.startswith("Firefox is a snap")
    assert "install Firefox from" in hint
    assert "is a snap" in run("browser", "status").out
    [note] = run("browser", "status", "--json").record["notes"]
    assert note.startswith("Firefox is a snap")
    (user / ".config/chromium/Default").mkdir(parents=True)
    assert "is a snap" in run("browser", "install").out


def test_what_is_not_ours_is_left_alone(run: Run, used: Path) -> None:
    """All of it is refused, as one sentence."""
    path = used / FIREFOX
    path.parent.mkdir()
    path.write_text(json.dumps({"name": HOST}))
    error, hint = run("browser", "install").refusal()
    assert error.startswith(str(path))
    assert "move it away" in hint
    assert manifests(used) == [FIREFOX]
    assert run("browser", "remove", "--json").record["removed"] == []
    assert "not reticent's" in run("browser", "status").out
