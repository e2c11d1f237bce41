"""A pinentry that answers by a script, and writes down what it was told.

Its script is JSON beside it: how it greets, and by command a list of answers, of which each time
the next is given and the last again. An answer is text with its line ends, or one of the words
below: SLEEP for ever, DIE, FLOOD with lines, ENDLESS for a line without an end.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests import waiting

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
    """One such program."""

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
        """Return every line that it was told, in order."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def asked(self) -> int:
        """Return how often it asked the person."""
        return sum(line in ASKED for line in self.told())

    def started(self) -> int:
        """Return how often it was started."""
        return sum(line.startswith("PROCESS ") for line in self.told())

    def environment(self) -> Mapping[str, str]:
        """Return the environment that it had."""
        [*_, line] = (each for each in self.told() if each.startswith("ENVIRONMENT "))
        found: Mapping[str, str] = json.loads(line.partition(" ")[2])
        return found

    def gone(self) -> bool:
        """Return whether all that were started have ended."""
        numbers = (line.split()[1] for line in self.told() if line.startswith("PROCESS "))
        return not any(Path("/proc", each).exists() for each in numbers)

    def wait(self, times: int = 1) -> None:
        """Wait until it has asked so often."""
        waiting.until(lambda: self.asked() >= times, "the dialog")


def typed(text: str) -> str:
    """Return the reply to GETPIN of somebody who types a text."""
    return f"D {text}\nOK\n"
