"""`make bench` prints all that is measured."""

from tests.bench import PARTS
from tests.house.tree import ROOT


def test_every_benchmark_is_a_part() -> None:
    """One that is not named would never be looked at."""
    files = (ROOT / "tests/bench").glob("*.py")
    measuring = [path.stem for path in files if "\ndef figures()" in path.read_text()]
    assert sorted(measuring) == sorted(PARTS)
