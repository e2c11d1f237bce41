"""The same tables give the same model, to the last byte, whatever computes them."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent.build import canonical, observe
from agent.build.build import build_model
from agent.build.options import Engine
from agent.errors import BuildError
from agent.model.file import write
from tests.build.worlds import ENGINES, QUIET, World, frame, options, worlds

pytestmark = QUIET
NOTHING_GIVEN = "__HIVE_DEFAULT_PARTITION__"
NONE = st.none()
FEW = settings(
    max_examples=8, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)


def built(folder: Path, engine: Engine, most: int, half: str | None) -> bytes:
    """Return the model of tables, whose queries keep ``most`` rows, or why there is none."""
    place = options(users=folder / "users", events=folder / "events", engine=engine, half=half)
    with pytest.MonkeyPatch.context() as patch:
        for module in (canonical, observe):
            patch.setattr(module, "MOST_ROWS", most)
        try:
            write(build_model(place, lambda _what, _share: None), folder / "model.safetensors")
        except BuildError as error:
            return error.what.encode()
    return (folder / "model.safetensors").read_bytes()


def scatter(rows: pl.DataFrame, folder: Path, ends: Sequence[int], key: str | None = None) -> None:
    """Write rows into files that end before some of them, in partitions by a column ``key``."""
    for place, (start, end) in enumerate(zip([0, *ends], [*ends, len(rows)], strict=True)):
        part = rows[start:end]
        for (value,), some in part.group_by(key) if key else [(("",), part)]:
            inner = f"{key}={value or NOTHING_GIVEN}" if key else ""
            (folder / inner).mkdir(parents=True, exist_ok=True)
            (some.drop(key) if key else some).write_parquet(folder / inner / f"{place}.parquet")
    (folder / "_SUCCESS").touch()


@pytest.mark.parametrize("engine", ENGINES)
@FEW
@given(world=worlds(), data=st.data(), most=st.integers(1, 6))
def test_one_digest(engine: Engine, world: World, data: st.DataObject, most: int) -> None:
    """In whatever order rows come, in however many files and partitions, also of large queries."""
    half, last = data.draw(st.sampled_from([None, None, "A"])), world.events[0][-1]
    keys = {"users": None, "events": None if last == "intent" else data.draw(st.just(last) | NONE)}
    with TemporaryDirectory() as made:
        plain, mixed = Path(made, "plain"), Path(made, "mixed")
        for name, rows in (("users", world.users), ("events", world.events)):
            scatter(frame(rows[0], rows[1:]), plain / name, [])
            cuts = sorted(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=3)))
            shuffled = frame(rows[0], data.draw(st.permutations(rows[1:])))
            scatter(shuffled, mixed / name, cuts, keys[name])
        assert built(mixed, engine, most, half) == built(plain, "duckdb", most, half)
