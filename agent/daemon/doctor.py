"""Everything that a user can get wrong, looked at in order; nothing is changed by looking."""

from collections.abc import Callable, Iterator

from agent.daemon.checks import browsers, kept, machine, places, running, sealed
from agent.daemon.checks.finding import Finding, Machine, bad
from agent.errors import reason

Check = Callable[[Machine], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    machine.python,
    machine.user,
    machine.clock,
    machine.disk,
    machine.environment,
    places.folders,
    places.files,
    places.sockets,
    running.daemon,
    running.service,
    browsers.browsers,
    sealed.vault,
    kept.policy,
    kept.models,
    machine.keyring,
    machine.screen,
)


def examine(here: Machine) -> tuple[Finding, ...]:
    """Return what each check found; what the system does not let it see is found to be bad."""
    return tuple(finding for check in CHECKS for finding in _found(check, here))


def _found(check: Check, here: Machine) -> Iterator[Finding]:
    try:
        yield from check(here)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        yield bad(check.__name__, f"{where}{reason(error)}", "mend that, and run this again")
