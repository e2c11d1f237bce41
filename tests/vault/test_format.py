"""FORMAT.md says what the code does."""

import re
from pathlib import Path

from agent.vault import chain, seal, slots, store
from agent.vault.database import APPLICATION_ID, TABLES
from agent.vault.disclosure_index import MOST_SITES
from agent.vault.seal import FORMAT

TEXT = (Path(__file__).parents[2] / "agent/vault/FORMAT.md").read_text()


def test_the_tables_are_those_of_the_page() -> None:
    """Word for word: they are compared with the file's."""
    found = re.search(r"```sql\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    assert tuple(found[1].splitlines()) == TABLES


def test_the_numbers_are_those_of_the_page() -> None:
    """Limits, and what tells a vault from another file."""
    said = (
        f"`application_id` is 0x{APPLICATION_ID:08X}",
        f"# The vault file, format {FORMAT}\n",
        f"| slots | {slots.MAX_SLOTS}, bodies of at most {slots.MAX_BODY // 1024} KiB |",
        f"| payload of an entry | {chain.MAX_PAYLOAD // 1024} KiB |",
        f"that time; 1 to {MOST_SITES}, ascending",
        f"A pool of more than {MOST_SITES} sites",
        f"{store.MAX_ITEMS:,}; {store.MAX_ITEM_BYTES // 2**20} MiB |",
        f"m ≤ {seal.MAX_MEMORY_KIB:,} (1 GiB), 1 ≤ t ≤ {seal.MAX_ITERATIONS}",
        f"1 ≤ p ≤ {seal.MAX_LANES}",
        f"m ≥ {seal.FLOOR.memory_kib:,} (64 MiB), t = {seal.FLOOR.iterations}",
        f"up to {seal.CALIBRATED_KIB // 1024} MiB",
    )
    assert [each for each in said if each not in TEXT.replace("\n", " ") + TEXT] == []
