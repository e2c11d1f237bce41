"""From a passphrase to a key, slowly: Argon2id (RFC 9106), within what a machine can bear."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from agent.errors import VaultError
from agent.vault.sealed.trouble import OPENSSL

MAX_MEMORY_KIB = 2**20
MAX_ITERATIONS = 16
MAX_LANES = 16
MAX_WORK = 2**22  # KiB written in all: some seconds, and a file has up to eight slots
KIB_PER_LANE = 8  # RFC 9106 knows no less
KEY_BYTES = 32

TARGET_SECONDS = 0.5
CALIBRATED_KIB = 2**19  # a slot made here must open on a smaller machine too

_NO_MEMORY = "this machine has not enough free memory for the key derivation"


@dataclass(frozen=True, slots=True)
class Derivation:
    """How much work a guess of the passphrase costs; ``memory_kib`` in units of 1,024 bytes."""

    memory_kib: int = 2**16
    iterations: int = 3
    lanes: int = 4

    @property
    def bearable(self) -> bool:
        """Whether it may be computed: a hostile file must not exhaust this machine."""
        return (
            1 <= self.iterations <= MAX_ITERATIONS
            and 1 <= self.lanes <= MAX_LANES
            and KIB_PER_LANE * self.lanes <= self.memory_kib <= MAX_MEMORY_KIB
            and self.memory_kib * self.iterations <= MAX_WORK
        )


FLOOR = Derivation()


def derive(passphrase: bytes, salt: bytes, derivation: Derivation) -> bytes:
    """Return the 32 bytes of a passphrase.

    Raises VaultError if the parameters are out of range (before any work), the memory is not
    there, or the system's OpenSSL has no Argon2id.
    """
    if not derivation.bearable:
        what = "the key slot asks for more work or memory than any that reticent makes"
        raise VaultError(what, "do not use this file; `reticent restore FILE` brings a backup back")
    try:
        return Argon2id(
            salt=salt,
            length=KEY_BYTES,
            iterations=derivation.iterations,
            lanes=derivation.lanes,
            memory_cost=derivation.memory_kib,
        ).derive(passphrase)
    except MemoryError as error:
        raise VaultError(_NO_MEMORY, "close other programs and try again") from error
    except UnsupportedAlgorithm as error:
        raise VaultError("the system's OpenSSL has no Argon2id", OPENSSL) from error


def calibrate(
    clock: Callable[[], float], work: Callable[[Derivation], object] | None = None
) -> Derivation:
    """Return the parameters for a new slot: about half a second here, and never below the floor.

    ``clock``: seconds, as time.perf_counter; ``work``: does one derivation. Memory is doubled as
    long as that is nearer to the target. Raises VaultError if not even the floor can be computed.
    """
    work = work or _trial
    chosen = FLOOR
    taken = _seconds(clock, work, chosen)
    while chosen.memory_kib < CALIBRATED_KIB and 1.5 * taken < TARGET_SECONDS:
        larger = replace(chosen, memory_kib=2 * chosen.memory_kib)
        try:
            taken = _seconds(clock, work, larger)
        except VaultError:
            return chosen
        chosen = larger
    return chosen


def _trial(derivation: Derivation) -> None:
    """Derive a key of nothing."""
    derive(b"trial", bytes(16), derivation)


def _seconds(
    clock: Callable[[], float], work: Callable[[Derivation], object], derivation: Derivation
) -> float:
    """Return how long one derivation takes."""
    begin = clock()
    work(derivation)
    return clock() - begin
