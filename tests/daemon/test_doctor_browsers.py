"""What doctor finds of the browsers: those that know of the relay, and those that cannot."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.daemon.browsers import BROWSERS, Seen, System, install_manifests, look_at_manifests
from agent.daemon.checks import Finding, Machine
from agent.daemon.doctor import NAME, check_browsers
from agent.paths import paths
from tests.daemon.cases import healthy, only


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine on which everything of ours is as it should be, and no browser is."""
    with healthy() as found:
        monkeypatch.setattr("agent.daemon.browsers.SYSTEM_WIDE", found.paths.data)
        yield found


@pytest.fixture
def told(here: Machine) -> tuple[Seen, ...]:
    """The same, where Chromium and Firefox know of the relay."""
    seen = look_at_manifests(
        System(here.manager, here.environment), here.paths, (BROWSERS[0], BROWSERS[-1])
    )
    install_manifests(seen, here.paths, here.interpreter)
    return seen


def states(here: Machine) -> list[str]:
    """Return the states of all that is found."""
    return [each.state for each in check_browsers(here)]


def worst(here: Machine) -> Finding:
    """Return the one thing that is not as it should be."""
    [found] = [each for each in check_browsers(here) if each.state != "ok"]
    return found


def test_none_that_knows_is_nothing_wrong(here: Machine) -> None:
    """Nobody needs it; how to change it is said."""
    [found] = check_browsers(here)
    assert found.state == "ok"
    assert "reticent browser install" in found.what


@pytest.mark.usefixtures("told")
def test_those_that_know_are_named(here: Machine) -> None:
    """And all is well, by whichever checks."""
    assert [each.what.split()[0] for each in check_browsers(here)] == ["Chromium", "Firefox"]
    assert states(here) == ["ok", "ok"]


def test_a_manifest_that_is_not_as_it_was(here: Machine, told: tuple[Seen, ...]) -> None:
    """Ours is written again; what is not ours, its owner moves."""
    path = told[1].path
    path.write_text(path.read_text().replace("@local", "@other"))
    assert only(here, NAME, "warn").fix == "reticent browser install firefox"
    path.write_text("{}")
    assert worst(here).fix == "move it away, then reticent browser install firefox"


@pytest.mark.usefixtures("told")
def test_a_launcher_that_starts_nothing(here: Machine) -> None:
    """A browser would say no more than that the host has ended."""
    good = here.paths.relay.read_text()
    here.paths.relay.write_text(good.replace(here.interpreter, "/gone/python3"))
    assert "/gone/python3" in only(here, NAME, "bad").what
    here.paths.relay.write_text(good.replace("exec ", "exec '"))
    assert worst(here).state == "bad"
    here.paths.relay.unlink()
    assert worst(here).fix == "reticent browser install"
    here.paths.relay.write_text("mine")
    assert worst(here).fix.endswith("move it away, then reticent browser install")


@pytest.mark.usefixtures("told")
def test_a_launcher_of_another_interpreter(here: Machine) -> None:
    """It works, and is not what would be written now; too long a path of our socket does not."""
    assert worst(replace(here, interpreter="/usr/bin/python3")).state == "warn"
    long = paths({"RETICENT_HOME": str(here.paths.config.parent / ("x" * 120))})
    here.paths.relay.rename(here.paths.relay.with_name("kept"))
    long.data.mkdir(parents=True)
    here.paths.relay.with_name("kept").rename(long.relay)
    found = [each for each in check_browsers(replace(here, paths=long)) if each.state == "bad"]
    assert ["the path of the socket" in each.what for each in found] == [True]


def test_a_browser_in_a_sandbox_is_named(here: Machine) -> None:
    """With what to do, unless it is here without one as well."""
    home = Path(here.environment["HOME"])
    (home / "snap/firefox").mkdir(parents=True)
    found = only(here, NAME, "warn")
    assert "Firefox is a snap" in found.what
    assert "install Firefox" in found.fix
    (home / ".mozilla/firefox").mkdir(parents=True)
    assert states(here) == ["ok"]
