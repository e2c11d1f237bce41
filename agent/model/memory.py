"""What a model has computed so far: the one thing in this room that changes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Results by key, of which the most recently used are kept."""

    def __init__(self, size: int) -> None:
        """Keep at most ``size`` results."""
        self._size = size
        self._results: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the result for ``key``, made now if it is not at hand."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        result = self._results[key] = make()
        if len(self._results) > self._size:
            self._results.popitem(last=False)
        return result

    def clear(self) -> None:
        """Forget all results."""
        self._results.clear()
