"""How Hypothesis looks for counterexamples, what a test inherits, and what is no garbage."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator

import keyring
import pytest
from hypothesis import HealthCheck, settings

from tests.programs import MISSING, needs
from tests.vault.doubles import Memory

# Examples may be slow on a shared machine; that says nothing about the law under test.
_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("ci", _UNTIMED, derandomize=True, max_examples=40)
settings.register_profile("soak", _UNTIMED, max_examples=300, print_blob=True)
settings.register_profile("explore", _UNTIMED, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# pytest loads readline, which puts the size of a terminal into the environment of what it starts,
# such as its workers: below them no program would follow the size of the terminal that it is in.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)

# `reticent init` takes the country from the locale, and would elsewhere have one more fact.
os.environ["LC_ALL"] = "C.UTF-8"

# A shell without job control starts what runs in the background (`pytest &`) deaf to Ctrl-C, which
# every worker and command below it would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take what the commands print now for what they should (tests/cli/test_transcripts.py)."""
    parser.addoption("--accept", action="store_true", help="write the transcripts of commands anew")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what runs Spark where Java is missing."""
    if item.get_closest_marker("spark"):
        needs("java")


def pytest_collection_finish() -> None:
    """Leave what the tests import out of every later collection of garbage.

    Where a test collects it itself, to find what was left open, that takes a thirtieth of the time.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List each program that is missing, once, with the number of tests that it was needed for."""
    reasons = (str(each.longrepr[2]) for each in terminalreporter.stats.get("skipped", ()))
    missing = Counter(each.partition(MISSING)[2] for each in reasons if MISSING in each)
    for name, tests in sorted(missing.items()):
        terminalreporter.write_line(f"{MISSING}{name} ({tests} tests skipped)")


@pytest.fixture
def ring() -> Iterator[Memory]:
    """A keyring in place of the desktop's."""
    before, made = keyring.get_keyring(), Memory()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)
