"""The ledger: how long an entry takes, where somebody learns from it and where nobody does."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.vault.disclosure_index import Disclosure
from agent.vault.ledger import Ledger
from agent.vault.vault import unlock
from tests.bench.timing import at, timed
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, create, place

DURABLE, LAZY = 300, 100_000
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
FACTS = tuple((f"int_{number}", "yes") for number in range(8))


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    with TemporaryDirectory() as folder:
        at_home = place(Path(folder))
        with create(at_home, PASSPHRASE, FAST)[0] as vault:
            for means, hosts in (
                ("on the disk", [f"s{number}.example" for number in range(DURABLE)]),
                ("in the file", ["s0.example"] * LAZY),
            ):
                times = [timed(partial(vault.ledger.append, _entry(host))) for host in hosts]
                p50, p99 = at(times, 50), at(times, 99)
                yield f"an entry of the ledger, {means}: p50 {p50} ms, p99 {p99}"
        opened = [timed(lambda: unlock(at_home, TYPED).close()) for _ in range(3)]
        with unlock(at_home, TYPED) as vault:
            entries = vault.ledger._entries  # noqa: SLF001  (to open each once more)
            each = [timed(lambda: Ledger(entries)) for _ in range(3)]
        yield (
            f"unlocking {DURABLE + LAZY:,} entries, every one verified, without the key "
            f"derivation: p50 {at(opened, 50)} ms; opening each of them: {at(each, 50)} ms, "
            f"{min(each) / min(opened):.1f} times as long"
        )


def _entry(host: str) -> Disclosure:
    return Disclosure(
        at=NOON,
        host=host,
        query="code editor",
        asked=None,
        disclosed=FACTS,
        persons=tuple(name for name, _ in FACTS),
        model="so2017",
        digest="0" * 64,
        utility_bits=0.25,
        people_left=100,
    )
