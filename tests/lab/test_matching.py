"""The check of drawn columns passes what depends on the keys alone, and fails everything else."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from agent.errors import UsageError
from agent.lab import StudyOptions
from agent.lab.attack.matching import Both, errors_of, matching_of
from agent.lab.attack.material import tables
from tests.build.worlds import QUIET, write_everyday

pytestmark = QUIET


def town(seed: int, *, hidden: bool) -> Both:
    """People whose facts depend on two keys; with ``hidden`` on something else as well."""
    random = np.random.default_rng(seed)
    keys = random.integers(0, 3, (8_000, 2)).astype(np.uint8)
    other = random.integers(0, 3, 8_000) if hidden else np.zeros(8_000, np.intp)

    def facts() -> np.ndarray:
        usual = (keys[:, :1] + keys[:, 1:] + other[:, None]) % 3
        noise = random.integers(0, 3, (8_000, 3))
        return np.where(random.random((8_000, 3)) < 0.8, usual, noise).astype(np.uint8)

    return Both("town", keys, facts(), facts())


@pytest.mark.parametrize("seed", range(3))
def test_only_what_the_keys_carry_is_drawn_right(seed: int) -> None:
    """Where they carry all, drawn people err like real ones, and shuffled ones far more."""
    real, drawn, shuffled = errors_of(town(seed, hidden=False), seed).sum(axis=1)
    assert drawn == pytest.approx(real, abs=0.02)
    assert shuffled > real + 0.02
    real, drawn, shuffled = errors_of(town(seed, hidden=True), seed).sum(axis=1)
    assert drawn > real + 0.02
    assert drawn == pytest.approx(shuffled, abs=0.02)


def test_every_survey_is_judged_beside_its_control(tmp_path: Path) -> None:
    """Work and home of the users too; tables without these are refused."""
    write_everyday(tmp_path)
    options, progress = tables(tmp_path), list[float]()
    text, judged = matching_of(options, StudyOptions(), lambda _, share: progress.append(share))
    for name in ("work, beside home", "home, beside work", "health", "homes"):
        assert len(re.findall(rf"^\| {name}( \| [\d.]+%){{6}} \|$", text, re.MULTILINE)) == 1
    assert len(judged) == 13
    assert judged[-1].what == "the shuffled control fails"
    assert all(each.what in text for each in judged)
    assert progress == [0.25, 0.5, 0.75, 1.0]
    (tmp_path / "users.csv.gz").write_bytes(gzip.compress(b"user,weight,year,age\n1,1,2,old\n"))
    with pytest.raises(UsageError, match="unknown column 'sex'"):
        matching_of(options, StudyOptions(), lambda _, _share: None)
