"""`reticent daemon doctor`: a page for people, an object for programs, and the exit code."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a service."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("SUDO_USER", raising=False)
    return home


def test_what_is_found_is_a_page(run: Run) -> None:
    """Before anything is made, with the way on."""
    ran = run("daemon", "doctor")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    place = lines.index("note  vault: no vault yet")
    assert lines[place + 1].strip() == "reticent init"
    assert lines[-1].startswith("Nothing is wrong, ")


def test_what_is_bad_has_an_exit_code(run: Run, home: Path) -> None:
    """On the page, and in the object."""
    (home / "config").mkdir(0o700)
    (home / "config" / "policy.toml").write_text("k = 0\n\x1b = 1\n")
    page, record = run("daemon", "doctor"), run("daemon", "doctor", "--json")
    assert (page.code, record.code) == (1, 1)
    assert "BAD   policy: " in page.out
    assert "\x1b" not in page.out
    assert page.out.splitlines()[-1].startswith("1 problem")
    found = json.loads(record.out)["findings"]
    assert {"name", "state", "what", "fix"} == {*found[0]}
    assert [each["name"] for each in found if each["state"] == "bad"] == ["policy"]
