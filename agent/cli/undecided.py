"""Why nothing was decided about a request, and how to mend it."""

from agent.errors import DaemonError, LockedError, ReticentError, UsageError, VaultError
from agent.paths import Paths
from agent.wire.asking import Code
from agent.wire.state import Status
from agent.wire.words import write_policy

SO = ", so nothing may be attached"
NO_VAULT = VaultError(f"there is no vault yet{SO}", "make one with `reticent init`")
UNDECIDED: dict[Code, ReticentError] = {
    "locked": LockedError(f"the vault is locked{SO}", "open it with `reticent unlock`"),
    "no policy": DaemonError(f"there is no policy in use{SO}", "see `reticent status`"),
    "no model": DaemonError(
        f"the model that the policy asks for is not there{SO}",
        "see `reticent status`; `reticent model add` adds one",
    ),
    "unfit": DaemonError(
        f"the model does not fit the policy, or what is held of you{SO}",
        "see `reticent policy check` and `reticent knows`",
    ),
    "not https": UsageError(
        f"the recipient's address is not https, so the network would read it{SO}",
        "name its https address, or the host alone",
    ),
    "too many": DaemonError(f"too much was asked in the last minute{SO}", "try again in a minute"),
    "too many from pages": DaemonError(
        f"pages asked too often in the last minute{SO}", "try again in a minute"
    ),
    "failed": DaemonError(f"the daemon could not decide{SO}", "see its log"),
}


def undecided(code: Code, status: Status, at: Paths) -> ReticentError:
    """Return the error for one of the codes above; ``status``: how the daemon is."""
    found = UNDECIDED[code]
    match code:
        case "locked" if not status.vault and status.notice is None:
            return NO_VAULT
        case "no policy" if status.policy.problems:
            hint = f"`reticent policy check` says what is wrong with {status.policy.path}"
        case "no policy":
            hint = write_policy(status.policy.path)
        case "failed" if status.notice is not None:
            hint = status.notice
        case "failed":
            hint = f"`reticent status` says why if the vault is at fault, else {at.log} where"
        case _:
            return found
    return DaemonError(found.what, hint)
