"""What commands print: transcripts, as a person would see them in a terminal.

Each file in `transcripts` begins with comments (`#`) and the world it plays in (`world: village`),
then has commands (`$ reticent …`), what the daemon says to each other than usually (`% ROUTE JSON`,
of a message the fields that differ), the lines it is given (`< …`, or `> …` at a terminal), what it
prints, on standard error behind `! `, and its exit code (`? 2`) where that is not 0. A command sees
what those before it left. `pytest tests/cli/test_transcripts.py --accept` writes what is printed
now: read the difference before you keep it.
"""

import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from agent import __version__
from agent.wire.routes import ROUTES
from tests.cli.conftest import Run
from tests.cli.daemon import ANSWERS
from tests.cli.examples import RIGHT
from tests.wire.fake import Handler, says

FOLDER = Path(__file__).with_name("transcripts")
FILES = sorted(FOLDER.glob("*.txt"))
WORLDS = {"fresh": "home", "village": "folder", "daemon": "fake", "vault": "code"}  # fixtures
DAY, TIME = r"\d{4}-\d\d-\d\d", r"\b\d\d:\d\d(:\d\d(\.\d+)?)?( ?[+-]\d\d:?\d\d|Z)?"
TIMES = re.compile(
    rf"(?<=\[){DAY}(?=\])|{DAY}T{TIME[2:]}|{DAY} {TIME}|{DAY}(?=  )|(?<=  ){TIME}(?=  )"
)
CHANGING = (  # what differs from one run to the next
    (re.compile(r"\b\d+(\.\d+)? ms\b"), "N ms"),
    (re.compile(r'("elapsed_ms": )[\d.]+'), r"\1N"),
    (re.compile(rf"\b{re.escape(__version__)}\b"), "VERSION"),
)


class Said(NamedTuple):
    """One command of a transcript, with what it is given, perhaps ``typed`` at a terminal."""

    line: str
    given: list[str]
    answers: list[str]
    typed: list[str]


class Lines(io.TextIOWrapper):
    """What is piped, or typed by somebody."""

    def __init__(self, said: Said) -> None:
        text = "".join(f"{each}\n" for each in (*said.given, *said.typed))
        super().__init__(io.BytesIO(text.encode()), "utf-8")
        self._typed = bool(said.typed)

    def isatty(self) -> bool:
        return self._typed


def commands(text: str) -> Iterator[Said]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("$ reticent"):
            rest = [*takewhile(lambda each: each[:2] in ("% ", "< ", "> "), lines[number + 1 :])]
            yield Said(line, *([e[2:] for e in rest if e.startswith(sign)] for sign in "<%>"))


def answered(line: str) -> tuple[str, Handler]:
    """A route and what it answers: the usual with other fields, or all that is written."""
    name, _, written = line.partition(" ")
    (route,) = (each for each in ROUTES if each.name == name)
    found = json.loads(written)
    if isinstance(found, dict) and name in ANSWERS:
        found = _merged(msgspec.to_builtins(ANSWERS[name]), found)
    return name, says(msgspec.convert(found, route.gives))


def _merged(usual: Any, other: Any) -> Any:  # noqa: ANN401  (of JSON)
    if not (isinstance(usual, dict) and isinstance(other, dict) and other):
        return other
    return usual | {key: _merged(usual.get(key), value) for key, value in other.items()}


def head(text: str) -> tuple[str, str]:
    """Return what stands before the first command, and the world."""
    before = text.partition("\n$ ")[0]
    found = re.search(r"^world: (\w+)$", before, re.MULTILINE)
    assert found is not None, "a transcript names its world"
    return before, found[1]


def steady(text: str, places: dict[Path, str]) -> str:
    """Return what was printed without what differs from one run to the next."""
    for place, name in places.items():
        text = text.replace(str(place), name)
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    text = TIMES.sub(lambda found: re.sub(r"\d", "0", found[0]), text)
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_commands_print_what_is_written_down(
    file: Path,
    request: pytest.FixtureRequest,
    run: Run,
    village: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every transcript, to the letter; nothing is compared but what a person reads."""
    text = file.read_text()
    before, world = head(text)
    home = request.getfixturevalue("home")
    fake = request.getfixturevalue(WORLDS[world])
    usual = dict(fake.handlers) if world == "daemon" else {}
    monkeypatch.chdir(tmp_path)
    shutil.copy(village, tmp_path)
    (tmp_path / "policy.toml").write_text(RIGHT)
    places, shown = {tmp_path: ".", home: "~/reticent"}, [before]
    for said in commands(text):
        monkeypatch.setattr("sys.stdin", Lines(said))
        if usual:
            fake.handlers = usual | dict(map(answered, said.answers))
        ran = run(*shlex.split(said.line)[2:])
        shown += [said.line, *(f"% {each}" for each in said.answers)]
        shown += [f"< {each}" for each in said.given] + [f"> {each}" for each in said.typed]
        shown += [steady(ran.out, places)] if ran.out else []
        shown += [f"! {each}".rstrip() for each in steady(ran.err, places).splitlines()]
        shown += [f"? {ran.code}"] if ran.code else []
    found = "\n".join(shown) + "\n"
    if request.config.getoption("--accept"):
        file.write_text(found)
    assert found == text or request.config.getoption("--accept")
