"""Count the files and functions of ours that one `/v1/decide` enters, on a running daemon.

Counted is what the same request enters on each of three daemons: what they do every second or so,
they do beside two of them at most. Run as `python -m tests.house.trace`: prints both counts and
fails above the ceilings.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from types import FrameType

FILES, FUNCTIONS = 40, 220  # DESIGN.md 3
OUTPUT = "RETICENT_TRACE"
FACTS = {  # of everyday life, beside what a developer has set, and that nobody is asked about
    "budget": "moderate",
    "children": "youngest 5-9",
    "computer": "Windows laptop",
    "cooking": "quick everyday meals",
    "household": "couple with children under 18",
}


def traced_daemon() -> None:
    """Be a daemon that records between two signals (SIGUSR1), and writes what it entered."""
    from agent.cli.main import run
    from tests.house.tree import ROOT

    roots = tuple(f"{ROOT / each}{os.sep}" for each in ("agent", "policy"))
    names: set[tuple[str, str]] = set()
    on = False

    def record(frame: FrameType, event: str, _argument: object) -> None:
        if not on or event != "call" or frame.f_code.co_name.startswith("<"):
            return  # comprehensions and lambdas are parts of the function they stand in
        if frame.f_code.co_filename.startswith(roots):
            names.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    def switch(_number: int, _frame: FrameType | None) -> None:
        nonlocal on
        on = not on
        part = Path(f"{os.environ[OUTPUT]}.part")
        part.write_text("\n".join(f"{file}\t{name}" for file, name in sorted(names)))
        part.rename(os.environ[OUTPUT])

    signal.signal(signal.SIGUSR1, switch)
    threading.setprofile(record)
    sys.setprofile(record)
    sys.argv = ["reticent", "daemon", "--json"]
    run()


def entered() -> set[tuple[str, str]]:
    """Return the (file, function) pairs of one request: a new query, a known recipient, planned.

    The queries are topics of the model whose people are counted, by their names.
    """
    from agent.daemon.run import SOON
    from agent.wire.decide import Ask
    from agent.wire.state import ProfileChange
    from tests.worlds import daemons

    daemons.START = [sys.executable, "-m", "tests.house.trace", "daemon"]
    with TemporaryDirectory() as folder, daemons.home() as places:
        output = Path(folder) / "entered"
        os.environ[OUTPUT] = str(output)
        with daemons.started(places) as live:
            live.unlock()
            live.call("change_profile", ProfileChange(set=FACTS))
            with live.client("query") as client:
                client.call("decide", Ask(query="dinner tonight", recipient="forge.example"))
                client.call("decide", Ask(query="joint back pain", recipient="forge.example"))
                time.sleep(2 * SOON)  # what these two have left for later is due,
                live.call("status")  # and was done before this is answered
                _written(live.process, output)
                client.call("decide", Ask(query="buying computer", recipient="forge.example"))
                rows = (line.split("\t") for line in _written(live.process, output))
                return {(file, name) for file, name in rows}


def _written(daemon: "Popen[bytes]", output: Path) -> list[str]:
    """Switch the daemon's recorder on or off; return the lines of what it has recorded so far."""
    from tests.worlds.daemons import PATIENCE

    daemon.send_signal(signal.SIGUSR1)
    until = time.monotonic() + PATIENCE
    while not output.exists() and time.monotonic() < until:
        time.sleep(0.001)
    lines = output.read_text().splitlines()
    output.unlink()
    return lines


def main() -> None:
    """Print the counts, and fail above the ceilings."""
    found = entered() & entered() & entered()
    files = {file for file, _ in found}
    print(f"one request enters {len(files)} files and {len(found)} functions")
    if "-v" in sys.argv:
        print("\n".join(f"{file}: {name}" for file, name in sorted(found)))
    sys.exit(len(files) > FILES or len(found) > FUNCTIONS)


if __name__ == "__main__":
    traced_daemon() if "daemon" in sys.argv[1:] else main()
