"""The users: their ids, their codes, and which of them a model is built from."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import ibis
import numpy as np

from agent.build.columns import USER
from agent.build.halves import HALF_KEY, in_half_a
from agent.build.tables import LEFT_OUT, coded_users
from agent.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.build.options import Half
    from agent.build.tables import Values


class Users(NamedTuple):
    """The users a model is built from, in order of their ids.

    ``codes``: uint8, shape (N, P), of the person attributes; ``table``: known_user and person,
    the position of every user of the table, LEFT_OUT for those in the other half.
    """

    ids: tuple[str, ...]
    codes: NDArray[np.uint8]
    table: ibis.Table


def read_users(users: ibis.Table, values: Values, half: Half | None) -> Users:
    """Return the users in ``half``, or all; ``values``: of each person attribute, by name.

    Raises BuildError if a user has no id or is there twice, or if nobody is there.
    """
    found = coded_users(users, values).to_pyarrow()
    ids: list[str] = found[USER].to_pylist()
    _check_ids(ids)
    codes = np.stack([column.to_numpy() for column in found.columns[1:]], axis=1)
    chosen = np.ones(len(ids), dtype=bool)
    if half is not None:
        chosen = in_half_a(ids, HALF_KEY) == (half == "A")
    if not chosen.any():
        raise BuildError("there is no user to build from", "give a users table with more rows")
    person = np.where(chosen, np.cumsum(chosen) - 1, LEFT_OUT)
    table = ibis.memtable(
        {"known_user": ids, "person": person}, schema={"known_user": "string", "person": "int32"}
    )
    kept = tuple(each for each, taken in zip(ids, chosen, strict=True) if taken)
    return Users(kept, codes[chosen], table)


def _check_ids(ids: Sequence[str | None]) -> None:
    """Refuse users without an id, or with the id of another."""
    if None in ids:
        what = f"the users table has {ids.count(None)} rows without a user"
        raise BuildError(what, "give every row an id in the column 'user'")
    repeated = len(ids) - len(set(ids))
    if repeated:
        twice = next(one for one, other in pairwise(ids) if one == other)
        what = f"the users table has {repeated} rows too many for its users"
        raise BuildError(what, f"keep one row per user; {twice!r} for example has more")
