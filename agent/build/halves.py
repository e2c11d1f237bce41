"""Two halves of the users, by a keyed hash of the user."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Different keys: a model of one half is validated by splitting that half once more.
HALF_KEY = b"reticent half"
VALIDATION_KEY = b"reticent validation"


def in_half_a(users: Sequence[str], key: bytes) -> NDArray[np.bool_]:
    """Return whether each user is in half A, bool, shape (users,); the others are in half B.

    ``key``: at most 64 bytes; another key splits independently. It depends on the user and the
    key alone: a user stays in its half when others come and go. Source: RFC 7693 (BLAKE2b).
    """
    digests = b"".join(blake2b(each.encode(), key=key, digest_size=1).digest() for each in users)
    even: NDArray[np.bool_] = np.frombuffer(digests, dtype=np.uint8) % 2 == 0
    return even
