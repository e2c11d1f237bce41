"""FORMAT.md says what the code does."""

import re
from pathlib import Path

from agent.vault.entry import MOST_SITES
from agent.vault.keys import derivation, slot_rows
from agent.vault.sealed import chain, item_rows
from agent.vault.sealed.database import APPLICATION_ID, TABLES
from agent.vault.sealed.framing import FORMAT

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
        f"| slots | {slot_rows.MAX_SLOTS}, bodies of at most {slot_rows.MAX_BODY // 1024} KiB |",
        f"| payload of an entry | {chain.MAX_PAYLOAD // 1024} KiB |",
        f"that time; 1 to {MOST_SITES}, ascending",
        f"A pool of more than {MOST_SITES} sites",
        f"{item_rows.MAX_ITEMS:,}; {item_rows.MAX_PAYLOAD // 2**20} MiB |",
        f"m ≤ {derivation.MAX_MEMORY_KIB:,} (1 GiB), 1 ≤ t ≤ {derivation.MAX_ITERATIONS}",
        f"1 ≤ p ≤ {derivation.MAX_LANES}",
        f"m ≥ {derivation.FLOOR.memory_kib:,} (64 MiB), t = {derivation.FLOOR.iterations}",
        f"up to {derivation.CALIBRATED_KIB // 1024} MiB",
    )
    assert [each for each in said if each not in TEXT.replace("\n", " ") + TEXT] == []
