"""The protocol of dialogs, and programs that break it."""

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.prompts import (
    DECLINED,
    LONGEST_LINE,
    PinentryError,
    Reply,
    checked,
    opened,
    parsed,
    request,
)
from agent.errors import ReticentError, UnsafeError
from tests import waiting

BUTTONS = ("No", "Later", "Yes")
SCREEN = {"DISPLAY": ":7", "LC_ALL": "C.UTF-8", "SECRET": "mine", "GPG_TTY": "/dev/tty1"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))

PROGRAM = """\
#!{python} -IS
import json, os, sys, time
from pathlib import Path
here = Path(__file__)
script = json.loads(here.with_suffix(".json").read_text())
log = open(here.with_suffix(".log"), "a")
def note(line):
    log.write(line + "\\n")
    log.flush()
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
def answer(command):
    given = script.get(command, ["OK\\n"])
    text = given.pop(0) if len(given) > 1 else given[0]
    if text == "SLEEP":
        time.sleep(600)
    if text == "DIE":
        sys.exit(3)
    while text == "FLOOD":
        say("# and so on\\n" * 99)
    while text == "ENDLESS":
        say("D " + "x" * 4096)
    say(text)
note("PROCESS %d" % os.getpid())
note("ENVIRONMENT " + json.dumps(dict(os.environ)))
answer("GREETING")
for line in sys.stdin:
    note(line.rstrip("\\n"))
    if line.strip() == "BYE":
        break
    answer(line.split()[0])
"""
ASKED = ("GETPIN", "CONFIRM")


class Scripted:
    def __init__(self, folder: Path) -> None:
        """Write it into a folder, obedient at first."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self.path = folder / "pinentry"
        self.path.write_text(PROGRAM.replace("{python}", sys.executable))
        self.path.chmod(0o700)
        self._log = folder / "pinentry.log"
        self.answers()

    def answers(self, **given: Iterable[str]) -> None:
        """Have it answer so from its next start on; a passphrase stands as it is typed."""
        script = {command: [*texts] for command, texts in given.items()}
        self.path.with_suffix(".json").write_text(json.dumps(script))

    def told(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def asked(self) -> int:
        return sum(line in ASKED for line in self.told())

    def started(self) -> int:
        return sum(line.startswith("PROCESS ") for line in self.told())

    def environment(self) -> Mapping[str, str]:
        [*_, line] = (each for each in self.told() if each.startswith("ENVIRONMENT "))
        found: Mapping[str, str] = json.loads(line.partition(" ")[2])
        return found

    def gone(self) -> bool:
        numbers = (line.split()[1] for line in self.told() if line.startswith("PROCESS "))
        return not any(Path("/proc", each).exists() for each in numbers)

    def wait(self, times: int = 1) -> None:
        waiting.until(lambda: self.asked() >= times, "the dialog")


def typed(text: str) -> str:
    return f"D {text}\nOK\n"


@given(TEXTS)
def test_a_line_says_the_text_or_its_start(text: str) -> None:
    """In one line of the protocol, without a control character, and cut between characters."""
    line = request("SETDESC", text)
    assert len(line) <= LONGEST_LINE
    assert line.endswith(b"\n")
    assert not any(each < 32 or each == 127 for each in line[:-1])
    told = unquote_to_bytes(line[:-1].removeprefix(b"SETDESC").removeprefix(b" ")).decode()
    assert text.startswith(told)
    assert told == text or len(line) + 4 * 3 > LONGEST_LINE


@given(st.binary())
def test_any_line_is_taken_or_refused(line: bytes) -> None:
    """With an error of ours, and never as consent unless it says so."""
    with suppress(PinentryError):
        found = parsed(line)
        assert isinstance(found, bytes) or found.error or line.split(b" ")[0] == b"OK"


def test_an_error_is_its_code_and_a_damaged_reply_is_refused() -> None:
    """Without its source, as libgpg-error composes them."""
    assert parsed(b"ERR 83886179 gone") == Reply(99)
    assert parsed(b"ERR 83886194") == Reply(114)
    assert parsed(b"OK yes") == Reply(0)
    assert [parsed(each) for each in (b"D a%41", b"S x", b"# no")] == [b"aA", b"", b""]
    assert repr(Reply(0, b"secret")) == "Reply(error=0)"
    for line in (
        *(b"ERR", b"ERR x", b"ERR 0", b"ERR 65536", b"ERR " + b"9" * 5000),
        *(b"", b"INQUIRE QUALITY a", b"ok"),
    ):
        with pytest.raises(PinentryError):
            parsed(line)


async def answered(program: Scripted, kind: str = "CONFIRM", **limits: Any) -> Reply:  # noqa: ANN401
    async with opened(program.path, SCREEN, **limits) as dialog:
        return await dialog.show(kind, "100 %\nsure?", *BUTTONS)


def shown(program: Scripted, kind: str = "CONFIRM") -> Reply:
    return asyncio.run(answered(program, kind))


def test_a_program_is_told_all_and_gets_nothing_else(tmp_path: Path) -> None:
    """No cache, no name of a key, no terminal, no variable that it does not need."""
    program = Scripted(tmp_path / "p")
    program.answers(GETPIN=[typed("a%25b")], OPTION=["ERR 83886254 what\n"])
    assert shown(program, "GETPIN") == Reply(0, b"a%b")
    told = program.told()
    for line in (
        *("OPTION no-grab", "SETTIMEOUT 60", "SETTITLE Reticent", "SETDESC 100 %25%0Asure?"),
        *("SETOK No", "SETCANCEL Later", "SETNOTOK Yes"),
    ):
        assert line in told
    assert not [line for line in told if "cache" in line or "tty" in line.split("{")[0]]
    extra = {"LC_CTYPE", "PYTHONCOERCECLOCALE"}  # which Python sets for itself
    assert program.environment().keys() - extra == {"DISPLAY", "LC_ALL"}
    assert program.gone()
    for answer, error in (("OK", 0), ("ERR 83886194", DECLINED), ("ERR 83886142", 62)):
        program.answers(CONFIRM=[f"{answer}\n"])  # a button, or none
        assert shown(program).error == error


def test_a_program_that_misbehaves_is_ended(tmp_path: Path) -> None:
    """Within the time, whatever it says and when."""
    answers = ("SLEEP", "DIE", "FLOOD", "ENDLESS", "what?\n", "ERR 83886131\n", "\0\n")
    cases = [("CONFIRM", each) for each in answers]
    cases += [(command, "SLEEP") for command in ("GREETING", "SETTITLE", "SETNOTOK")]
    programs = [Scripted(tmp_path / str(number)) for number in range(len(cases))]
    for program, (command, answer) in zip(programs, cases, strict=True):
        program.answers(**{command: [answer]})

    async def ask() -> list[object]:
        asked = (answered(each, seconds=2.0, patience=0) for each in programs)
        return await asyncio.gather(*asked, return_exceptions=True)

    outcomes = zip(cases, asyncio.run(ask()), strict=True)
    assert [case for case, each in outcomes if not isinstance(each, PinentryError)] == []
    assert all(each.gone() for each in programs)


def test_only_a_program_of_ours_or_root_is_started(tmp_path: Path) -> None:
    """By its absolute path, in folders that nobody else can change either."""
    program = Scripted(tmp_path / "p")
    assert checked(program.path) == program.path
    for mode, path in ((0o702, program.path), (0o600, program.path), (0o777, tmp_path / "p")):
        before = path.stat().st_mode
        path.chmod(mode)
        with pytest.raises((UnsafeError, PinentryError)):
            shown(program)
        path.chmod(before)
    if os.geteuid() == 0:
        os.chown(program.path, 12345, 12345)
        with pytest.raises(UnsafeError):
            checked(program.path)
    for other in (Path("pinentry"), tmp_path / "none", tmp_path / "p", Path("usr/bin/env")):
        with pytest.raises(ReticentError):
            checked(other)
    assert program.started() == 0
