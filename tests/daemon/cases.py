"""A machine on which everything of ours is as it should be, for doctor to look at."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from agent.daemon.checks import Finding, Machine, State
from agent.daemon.doctor import examine
from agent.paths import paths
from agent.vault.seal import Derivation
from agent.vault.vault_files import Location
from tests.vault.worlds import create
from tests.wire.fake import short_folder

NOW = datetime(2100, 1, 1, 12, tzinfo=UTC)  # after any installation
FAST = Derivation(memory_kib=64, iterations=1, lanes=1)


@contextmanager
def healthy() -> Iterator[Machine]:
    """A machine on which everything of ours is as it should be."""
    with short_folder() as folder:
        environment = {"RETICENT_HOME": str(folder / "r"), "HOME": str(folder)}
        found = Machine(paths(environment), environment, NOW, "systemd", sys.executable)
        for each in (found.paths.config, found.paths.data, found.paths.state, found.paths.runtime):
            each.mkdir(0o700, parents=True)
        found.paths.policy.write_text('preset = "balanced"\n')
        vault, _ = create(Location.of(found.paths), "a passphrase", FAST)
        vault.close()
        yield found


def states(here: Machine) -> dict[str, State]:
    """Return the worst state of each name."""
    order: tuple[State, ...] = ("ok", "warn", "bad")
    worst: dict[str, State] = {}
    for each in examine(here):
        worst[each.name] = max(each.state, worst.get(each.name, "ok"), key=order.index)
    return worst


def only(here: Machine, name: str, state: State) -> Finding:
    """Return the one finding of a name and a state."""
    [found] = [each for each in examine(here) if (each.name, each.state) == (name, state)]
    assert found.fix
    return found


def alone(here: Machine, name: str, state: State) -> Finding:
    """Return the one finding of a name and a state; nothing else is bad."""
    found = examine(here)
    assert {each.name for each in found if each.state == "bad"} <= {name}
    [one] = [each for each in found if (each.name, each.state) == (name, state)]
    assert one.fix
    return one


def named(each: object) -> str:
    """Return what a part of a case is called, the same in every process."""
    return "" if callable(each) else str(each)[:30]
