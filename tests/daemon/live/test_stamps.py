"""Stamps: no edit goes unnoticed, and no file is read while it is being written."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.fingerprints import SETTLING, UNREADABLE, Fingerprint, fingerprint_of, settling

NOW = datetime(2027, 3, 1, 9, tzinfo=UTC)
SPANS = st.integers(-2_000, 2_000).map(lambda number: timedelta(milliseconds=number))


def stamp(written: timedelta, changed: timedelta) -> Fingerprint:
    """Return the stamp of a file that was written to and changed so long before now."""
    first, second = (round((NOW - each).timestamp() * 1e9) for each in (written, changed))
    return Fingerprint(first, second, 1, 2, 3)


def test_an_edit_that_hides_is_noticed(tmp_path: Path) -> None:
    """As long as before, in place, and with the time set back: as a careful copy does it."""
    path = tmp_path / "policy.toml"
    path.write_text("nothing = true\n")
    os.utime(path, ns=(1, 1))
    before = fingerprint_of(path)
    for _ in range(10_000):  # the clock of a file system has steps
        path.write_text("nothing =false\n")
        os.utime(path, ns=(1, 1))
        if fingerprint_of(path) != before:
            break
    after = fingerprint_of(path)
    assert before is not None
    assert after is not None
    assert after != before == after._replace(changed_at=before.changed_at)


@given(SPANS, SPANS)
def test_a_file_settles_by_both_of_its_times(written: timedelta, changed: timedelta) -> None:
    """A time that was set, to the past or the future, does not make it any older."""
    fresh = [timedelta(0) <= each < SETTLING for each in (written, changed)]
    assert settling(stamp(written, changed), NOW) == any(fresh)


def test_what_is_not_there_has_settled(tmp_path: Path) -> None:
    """And what cannot be seen is told from it."""
    assert fingerprint_of(tmp_path / "none") is None
    assert fingerprint_of(tmp_path / "none" / "below") is None
    assert not settling(None, NOW)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert fingerprint_of(loop) == UNREADABLE
    assert not settling(UNREADABLE, NOW)
