"""What a machine can bear is tested before any work; the work for a new slot suits the machine."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import VaultError
from agent.vault.seal import (
    CALIBRATED_KIB,
    FLOOR,
    MAX_ITERATIONS,
    MAX_LANES,
    MAX_MEMORY_KIB,
    MAX_WORK,
    TARGET_SECONDS,
    Derivation,
    calibrate,
    derive,
)

SALT = bytes(16)
FASTEST = Derivation(8, 1, 1)


class Machine:
    """A machine that needs so many seconds for each KiB, and its clock."""

    def __init__(self, seconds: float, memory_kib: int = 2**40) -> None:
        self.seconds = seconds
        self.memory_kib = memory_kib
        self.now = 0.0

    def clock(self) -> float:
        """Return the time in seconds."""
        return self.now

    def work(self, derivation: Derivation) -> None:
        """Derive, or find that the memory is not there."""
        if derivation.memory_kib > self.memory_kib:
            raise VaultError("no memory", "none")
        self.now += derivation.memory_kib * self.seconds


@given(st.floats(1e-9, 1e-3))
def test_calibration_comes_near_the_target(seconds: float) -> None:
    """From below by less than half, from above by half, or at an end of the range."""
    machine = Machine(seconds)
    chosen = calibrate(machine.clock, machine.work)
    taken = chosen.memory_kib * seconds
    assert FLOOR.memory_kib <= chosen.memory_kib <= CALIBRATED_KIB
    assert (chosen.iterations, chosen.lanes) == (FLOOR.iterations, FLOOR.lanes)
    assert chosen == FLOOR or taken <= 1.5 * TARGET_SECONDS
    assert chosen.memory_kib == CALIBRATED_KIB or taken >= TARGET_SECONDS / 1.5


def test_calibration_stays_within_the_memory() -> None:
    """A small machine gets what it can compute; below the floor it is told so."""
    assert calibrate((lambda: 0.0), Machine(0, 2**17).work).memory_kib == 2**17
    with pytest.raises(VaultError):
        calibrate((lambda: 0.0), Machine(0, 2**15).work)


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_kib": MAX_MEMORY_KIB + 1},
        {"memory_kib": 2**32 - 1},
        {"memory_kib": 8 * FLOOR.lanes - 1},
        {"memory_kib": 0},
        {"memory_kib": MAX_MEMORY_KIB, "iterations": MAX_WORK // MAX_MEMORY_KIB + 1},
        {"memory_kib": MAX_WORK // MAX_ITERATIONS + 1, "iterations": MAX_ITERATIONS},
        {"iterations": MAX_ITERATIONS + 1},
        {"iterations": 0},
        {"lanes": MAX_LANES + 1},
        {"lanes": 0},
    ],
)
def test_unbearable_work_is_refused_before_it_is_begun(
    changes: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is ever passed on to Argon2id."""
    begun: Iterator[object] = iter(())
    monkeypatch.setattr("agent.vault.seal.Argon2id", lambda **_: next(begun))
    with pytest.raises(VaultError, match="more work or memory"):
        derive(b"x", SALT, replace(FLOOR, **changes))


def test_the_ends_of_the_range_are_bearable() -> None:
    """The limits themselves are within."""
    assert Derivation(MAX_MEMORY_KIB, MAX_WORK // MAX_MEMORY_KIB, MAX_LANES).bearable
    assert Derivation(MAX_WORK // MAX_ITERATIONS, MAX_ITERATIONS, MAX_LANES).bearable
    assert Derivation(CALIBRATED_KIB, FLOOR.iterations, FLOOR.lanes).bearable
    assert FASTEST.bearable
    assert FLOOR.bearable


def test_memory_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As cryptography says it."""

    def exhausted(**_: object) -> object:
        raise MemoryError

    monkeypatch.setattr("agent.vault.seal.Argon2id", exhausted)
    with pytest.raises(VaultError, match="memory"):
        derive(b"x", SALT, FASTEST)


def test_every_parameter_counts() -> None:
    """Different work, salt or passphrase, different key; the same, the same."""
    keys = {
        derive(b"x", SALT, FASTEST),
        derive(b"y", SALT, FASTEST),
        derive(b"x", b"1" * 16, FASTEST),
        derive(b"x", SALT, replace(FASTEST, iterations=2)),
        derive(b"x", SALT, replace(FASTEST, memory_kib=16)),
        derive(b"x", SALT, Derivation(16, 1, 2)),
    }
    assert len(keys) == 6
    assert derive(b"x", SALT, FASTEST) in keys
