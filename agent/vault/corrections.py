"""What the user said that texts do not mean: kept sealed in the vault, as what they searched is."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from agent.decision.values import Correction
from agent.errors import UsageError
from agent.model.reading import spelling
from agent.vault.database import decoded
from agent.vault.store import MAX_ITEM_BYTES, Items

ITEM = "not-that"
MOST = 1_000  # corrections


_DECODER = msgspec.json.Decoder(list[Correction])


class Corrections:
    """The corrections in a vault; every change is in the file once it returns.

    ``kept``: all of them.
    """

    def __init__(self, items: Items) -> None:
        """Read them; DamagedVaultError if they cannot be read."""
        self._items = items
        stored = decoded(items.get(ITEM), _DECODER, "what texts do not mean") or ()
        # An older vault has the texts in a spelling that told more of them apart.
        self.kept = frozenset(replace(each, text=spelling(each.text)) for each in stored)

    def of(self, text: str) -> list[Correction]:
        """Return those of a text, however it is written."""
        spelled = spelling(text)
        return sorted(each for each in self.kept if each.text == spelled)

    @property
    def all(self) -> list[Correction]:
        """All of them, in order."""
        return sorted(self.kept)

    def rejected(self, text: str, model: str) -> frozenset[str]:
        """Return the known queries of a model that a text does not mean, by their names."""
        return frozenset(each.query for each in self.of(text) if each.model == model)

    def add(self, text: str, model: str, query: str) -> bool:
        """Keep a correction; return whether it is new. UsageError if there is no room for it.

        Raises VaultError if it was not written.
        """
        new = Correction(text=spelling(text), model=model, query=query)
        if new in self.kept:
            return False
        self._keep({*self.kept, new})
        return True

    def replace(self, text: str, by: Iterable[Correction]) -> None:
        """Keep these corrections of a text and no other. Raises as `add`."""
        self._keep(self.kept.difference(self.of(text)).union(by))

    def _keep(self, corrections: Iterable[Correction]) -> None:
        kept = frozenset(corrections)
        payload = msgspec.json.encode(sorted(kept))
        if len(kept) > MOST or len(payload) > MAX_ITEM_BYTES:
            what = f"there is no room for more than {len(self.kept):,} texts read wrongly"
            raise UsageError(what, "take some back: `reticent requests not-that TEXT --undo`")
        if kept:
            self._items.put(ITEM, payload)
        else:
            self._items.delete(ITEM)
        self.kept = kept
