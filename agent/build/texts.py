"""What the words of queries mean: texts that are normalised alike are one query.

Kept in Arrow, for a log has millions of texts.
"""

from __future__ import annotations

from typing import NamedTuple

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from agent.model.lookup import normalise

BATCH = 100_000  # texts that are Python's at a time
_MEANT = pa.schema([("known_text", pa.string()), ("meant", pa.string())])


class Numbers(NamedTuple):
    """The normalised texts of queries, in order, and which of them each text means.

    ``texts``: of strings; ``table``: columns known_text and query, the position in ``texts``.
    """

    texts: pa.Array
    table: ibis.Table


def meanings(texts: ibis.Table) -> pa.Table:
    """Return known_text and meant, the normalised text, for each text that has one.

    ``texts``: one column.
    """
    batches = texts.distinct().to_pyarrow().to_batches(BATCH)
    return pa.Table.from_batches((_meant(batch[0].to_pylist()) for batch in batches), _MEANT)


def numbered(texts: ibis.Table) -> Numbers:
    """Return the numbers of all texts in one column; one without a meaning has none."""
    found = meanings(texts)
    known = pc.unique(found["meant"])
    known = known.take(pc.sort_indices(known))
    columns = {
        "known_text": found["known_text"],
        "query": pc.index_in(found["meant"], known),
    }
    return Numbers(known, ibis.memtable(pa.table(columns)))


def _meant(texts: list[str | None]) -> pa.RecordBatch:
    pairs = [(text, normal) for text in texts if text and (normal := normalise(text))]
    known, normals = zip(*pairs, strict=True) if pairs else ((), ())
    return pa.record_batch([pa.array(known, pa.string()), pa.array(normals, pa.string())], _MEANT)
