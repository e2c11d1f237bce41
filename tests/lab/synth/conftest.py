"""A world, a block of people and a written log, each made once."""

import pytest

from agent.build.options import LogFiles
from agent.lab.synth import log
from agent.lab.synth.log import Block, block, world_of, write_log
from agent.lab.synth.world import SyntheticWorld

SEED = 3


@pytest.fixture(scope="package")
def world() -> SyntheticWorld:
    """The world of the seed."""
    return world_of(SEED)


@pytest.fixture(scope="package")
def made(world: SyntheticWorld) -> Block:
    """The first block of the seed."""
    return block(SEED, 1, world)


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory, world: SyntheticWorld, made: Block) -> LogFiles:
    """A log of the paper's size, written with the seed; the block is made once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "world_of", lambda _seed: world)
        patch.setattr(log, "block", lambda *_: made)
        return write_log(tmp_path_factory.mktemp("synth") / "log", 1, SEED, lambda *_: None)
