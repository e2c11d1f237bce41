"""What is made of a log is what section 5 of the paper says."""

from pathlib import Path
from typing import Any

import ibis
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.build import build_model
from agent.build.engines import connected
from agent.build.log.schema import TABLE_1
from agent.build.log.source import source_of
from agent.build.observe import Observations, observe
from agent.build.options import Engine
from agent.errors import BuildError
from agent.model.file import encode
from tests.build import naive as tables_naive
from tests.build.log import naive
from tests.build.log.logs import SmallLog, logs, tables
from tests.build.worlds import ENGINES, QUIET, options
from tests.house.tree import ROOT

pytestmark = QUIET
FEW = settings(max_examples=5)  # each asks a database two dozen questions


def in_order(rows: list[naive.Fields]) -> list[list[tuple[str, str]]]:
    """Return rows to be compared whatever their order."""
    return sorted(sorted((name, str(value)) for name, value in row.items()) for row in rows)


def rows_of(table: ibis.Table) -> list[naive.Fields]:
    """Return a table as rows."""
    rows: list[dict[str, Any]] = table.to_pyarrow().to_pylist()
    return rows


@pytest.mark.parametrize("engine", ENGINES)
@FEW
@given(log=logs(), data=st.data())
def test_every_attribute_is_the_plain_computation(
    engine: Engine, log: SmallLog, data: st.DataObject
) -> None:
    """Of every query, target and attributes of the request; of everybody, those of the person.

    On any backend, and whatever the order of the rows of the three tables.
    """
    shuffled = SmallLog(
        tuple(data.draw(st.permutations(log.pages))),
        tuple(data.draw(st.permutations(log.people))),
        tuple(data.draw(st.permutations(log.sites))),
    )
    source = source_of(tables(shuffled, connected(engine)))
    assert in_order(rows_of(source.events)) == in_order(naive.events(log))
    assert in_order(rows_of(source.users)) == in_order(naive.users(log))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_log_in_partitions_is_the_same_model(engine: Engine, tmp_path: Path) -> None:
    """From a partitioned folder in any order, on any engine, as from the three files on DuckDB."""
    files = {name: ROOT / f"examples/own_log/{name}.csv" for name in ("log", "people", "sites")}
    for name, file in files.items():
        rows = pl.read_csv(file, infer_schema=False).sample(fraction=1, shuffle=True, seed=3)
        times = [each for each in rows.columns if each in {"asked", "time"}]
        rows = rows.with_columns(pl.col(each).str.to_datetime() for each in times)
        rows = rows.with_row_index().with_columns(pl.col("index") % 3)
        for (part,), some in rows.group_by("index"):
            inner = tmp_path / name / f"part={part}"
            inner.mkdir(parents=True)
            some.drop("index").write_parquet(inner / "0.parquet")
    plain = options(users=None, events=None, **files)
    folders = {name: tmp_path / name for name in files}
    mixed = options(users=None, events=None, engine=engine, **folders)
    one, other = (encode(build_model(each, lambda _what, _share: None)) for each in (plain, mixed))
    assert one == other


@FEW
@given(log=logs(), least=st.integers(1, 3))
def test_a_model_has_all_of_table_1(log: SmallLog, least: int) -> None:
    """With all values, also those of nobody; the people are those of the table, and no others.

    Queries of too few people vanish, as do those that found nothing, and those of strangers.
    """
    expected = naive.asked_by_many(log, least)
    if not expected:
        with pytest.raises(BuildError, match="no query has events"):
            observed(log, least)
        return
    seen = observed(log, least)
    assert [query.text for query in seen.queries] == expected
    by_name = {each.name: each for each in seen.attributes}
    assert {*by_name} == {each.name for each in TABLE_1}
    for entry in TABLE_1:
        attribute = by_name[entry.name]
        assert (attribute.title, attribute.scope) == (entry.title, entry.scope)
        if entry.values:
            assert attribute.values == ("unspecified", *entry.values)
    people = {person["user"]: person for person in naive.users(log)}
    for user, codes in zip(seen.users, seen.population.codes, strict=True):
        words = tables_naive.words(codes, seen, 0)[: seen.population.persons]
        known = [people[user][each.name] for each in seen.attributes[: len(words)]]
        assert list(words) == [value or "unspecified" for value in known]


def observed(log: SmallLog, least: int) -> Observations:
    """Return what a model is made of."""
    return observe(source_of(tables(log)), options(min_users=least))
