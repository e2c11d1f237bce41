"""What the user stated of texts: what they mean, and what they do not."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import DIMENSIONS, ENCODER_VERSION, Interpretation, spelling
from agent.model.unwrapping import unwrapped
from agent.vault.database import decoded
from agent.vault.store import MAX_ITEM_BYTES, Items

CORRECTIONS, MOST_CORRECTIONS = "not-that", 1_000  # the item, and how many are in it
NEAR = 0.82  # the least cosine of two texts that say nearly the same (tests/model/test_near.py)
Place = NDArray[np.float32]  # of a text in the encoder of topics, shape (512,)


class Correction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """What the user said of a text: that it does not mean a known query of a model, or does.

    ``text``: in the spelling of all that are alike; ``query``: by its name, which holds for every
    model that has it; ``model``: the id of one; none of these is empty. ``means``: whether it does;
    ``vector``: little-endian float16 place of the text in the encoder of topics of version
    ``encoder``, empty where that could not be loaded. ``repr`` masks all of it.
    """

    text: Annotated[str, Meta(min_length=1)]
    model: Annotated[str, Meta(min_length=1)]
    query: Annotated[str, Meta(min_length=1)]
    means: bool = False
    vector: bytes = b""
    encoder: str = ENCODER_VERSION

    def __repr__(self) -> str:
        return "Correction(***)"


_CORRECTIONS = msgspec.json.Decoder(list[Correction])


class Corrections:
    """The corrections in a vault; every change is in the file once it returns.

    ``kept``: all of them.
    """

    def __init__(self, items: Items, models: Sequence[Model] = ()) -> None:
        """Read them, and apply them to these models; DamagedVaultError if they cannot be read."""
        self._items = items
        stored = decoded(items.get(CORRECTIONS), _CORRECTIONS, "what texts mean") or ()
        # An older vault has the texts in a spelling that told more of them apart.
        self._hold(msgspec.structs.replace(each, text=spelling(each.text)) for each in stored)
        self.use(models)

    def use(self, models: Sequence[Model]) -> None:
        """Apply them to these models; what names a topic of no model counts for nothing."""
        self._names = {each.text for model in models for each in model.queries}

    def of(self, text: str) -> list[Correction]:
        """List those of a text, however it is written, with its wrapping or without."""
        spelled = {spelling(text), spelling(unwrapped(text))}
        return sorted(each for each in self.kept if each.text in spelled)

    def apply(
        self, reading: Interpretation, text: str, model: Model, place: Place | None
    ) -> Interpretation:
        """Correct a model's reading of a text; what was said of the nearest text counts most.

        ``place``: of the text; None where only what was said of this very text counts, as for a
        name or a phrasing of a model.
        """
        weights = dict.fromkeys(self.of(text), 2.0)
        if place is not None:
            near = zip(self._placed, (self._vectors @ place).tolist(), strict=True)
            weights = {each: cosine for each, cosine in near if cosine >= NEAR} | weights
        for each in sorted(weights, key=lambda each: (weights[each], each)):
            query = model.texts.named(each.query)
            if not each.means:
                reading = reading.without({query})
            elif query is not None or each.query in self._names:
                reading = reading.drawn(query, min(weights[each], 1.0))
        return reading

    def add(
        self, text: str, model: str, query: str, *, means: bool = False, place: Place | None = None
    ) -> bool:
        """Keep a correction; return whether it is new. Raises VaultError if it was not written.

        It replaces what was said of this text and this query; a text means one query at most.
        UsageError for a text without a word, and where there is no room.
        """
        before = self.of(text)
        same = {each for each in before if each.query == query}
        if any(each.means == means for each in same):
            return False
        vector = b"" if place is None else place.astype("<f2").tobytes()
        if not (text := spelling(unwrapped(text))):
            raise UsageError("the text is empty", "name a text with a word in it")
        new = Correction(text=text, model=model, query=query, means=means, vector=vector)
        self._keep({*self.kept, new} - same - {each for each in before if each.means and means})
        return True

    def replace(self, text: str, by: Iterable[Correction]) -> None:
        """Keep these corrections of a text and no other. Raises as `add`."""
        self._keep(self.kept.difference(self.of(text)).union(by))

    def _keep(self, corrections: Iterable[Correction]) -> None:
        changed = frozenset(corrections)
        payload = msgspec.json.encode(sorted(changed))
        if len(changed) > MOST_CORRECTIONS or len(payload) > MAX_ITEM_BYTES:
            what = f"there is no room for more than {len(self.kept):,} corrected texts"
            raise UsageError(what, "take some back: `reticent requests not-that TEXT --undo`")
        if changed:
            self._items.put(CORRECTIONS, payload)
        else:
            self._items.delete(CORRECTIONS)
        self._hold(changed)

    def _hold(self, corrections: Iterable[Correction]) -> None:
        self.kept = frozenset(corrections)
        is_placed = (2 * DIMENSIONS, ENCODER_VERSION)  # another version places texts elsewhere
        self._placed = sorted(e for e in self.kept if (len(e.vector), e.encoder) == is_placed)
        places = np.frombuffer(b"".join(each.vector for each in self._placed), "<f2")
        self._vectors = places.reshape(-1, DIMENSIONS).astype(np.float32)
