"""A world, a block of people and a written log, each made once."""

import pytest

from agent.build.options import LogFiles
from agent.lab.synth.log import Block, block, world_of, write_log
from agent.lab.synth.world import World

SEED = 3


@pytest.fixture(scope="package")
def world() -> World:
    """The world of the seed."""
    return world_of(SEED)


@pytest.fixture(scope="package")
def made(world: World) -> Block:
    """The first block of the seed."""
    return block(SEED, 1, world)


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> LogFiles:
    """A log of the paper's size, written with the seed."""
    return write_log(tmp_path_factory.mktemp("synth") / "log", 1, SEED, lambda _what, _share: None)
