"""Rules that another user could have written are not obeyed, until that is mended."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from tests.daemon.live.test_rules import GOOD, OTHER, Edited, Live
from tests.wire.fake import short_folder

INTRUDER = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


def by_another(script: str, *arguments: Path) -> None:
    """Let another user of the machine run a shell script."""
    subprocess.run(
        ["/bin/sh", "-ec", script, "sh", *arguments],
        check=True,
        user=INTRUDER,
        group=INTRUDER,
        extra_groups=[],
    )


@AS_ROOT
def test_a_policy_that_another_user_put_there_is_not_obeyed() -> None:
    """They rename our folder, where they can, and supply one of theirs; not even old rules stay."""
    with short_folder() as home:
        (home / "config").mkdir(0o700)
        edited = Edited(home / "config")
        home.chmod(0o777)
        edited.save(GOOD)
        edited.look()
        assert (edited.text,) == (None,), "others can replace the folder"
        home.chmod(0o711)
        edited.save(OTHER)
        edited.look()
        assert (edited.text,) == (OTHER,)
        home.chmod(0o777)
        script = 'mv "$1/config" "$1/old" && mkdir "$1/config" && echo "lambda = 0.0" >"$2"'
        by_another(script, home, edited.path)
        assert edited.look()
        status = edited.rules.status()
        assert (edited.text, status.in_use, status.loaded_at) == (None, False, None)
        assert "other users can write to this folder" in status.problems[0]
        home.chmod(0o755)
        edited.rules.reload(edited.now)
        assert (edited.text,) == (None,), "it is theirs"
        assert "belongs to another user" in edited.rules.status().problems[0]


@AS_ROOT
def test_a_link_is_obeyed_where_it_leads_to_a_file_of_ours(tmp_path: Path) -> None:
    """As programs that manage such files make them; never to one that others can write."""
    (tmp_path / "config").mkdir(0o700)
    edited = Edited(tmp_path / "config")
    dotfiles, shared = tmp_path / "dotfiles.toml", tmp_path / "shared.toml"
    dotfiles.write_text(GOOD)
    edited.path.symlink_to(dotfiles)
    edited.look()
    assert (edited.text,) == (GOOD,)
    shared.write_text(OTHER)
    shared.chmod(0o666)
    os.chown(shared, INTRUDER, INTRUDER)
    for owner, bits in ((INTRUDER, 0o666), (INTRUDER, 0o644), (0, 0o666), (0, 0o646)):
        os.chown(shared, owner, owner)
        shared.chmod(bits)
        edited.path.unlink()
        edited.path.symlink_to(shared)
        edited.rules.reload(edited.now)
        assert (edited.text,) == (None,)
        assert str(edited.path) in edited.rules.status().problems[0]
    shared.chmod(0o644)
    edited.rules.reload(edited.now)
    assert (edited.text,) == (OTHER,)


@AS_ROOT
def test_a_folder_that_is_mended_needs_no_edit() -> None:
    """The rules are in force again, for who looks and for who asks; meanwhile it is said once."""
    with short_folder() as home:
        (home / "config").mkdir(0o700)
        edited, live = Edited(home / "config"), Live(home / "config")
        edited.save(GOOD)
        home.chmod(0o777)
        assert edited.look()
        assert not edited.look()
        assert asyncio.run(live.follow()) is None
        home.chmod(0o711)
        assert edited.look()
        assert (edited.text,) == (GOOD,)
        assert asyncio.run(live.follow()) == GOOD
        assert live.told == 2
