"""Errors and the faults that stand for them on the wire: one table, read both ways.

The daemon says ``fault_of(error)`` with the status ``http_status(fault.code)``, the client raises
``error_of(fault)``. Source of the statuses: RFC 9110, section 15; 423 is of RFC 4918.
"""

from typing import NamedTuple

from agent import errors
from agent.errors import DaemonError, PolicyError, Problem, ReticentError, UsageError
from agent.wire.base import Fault

SEE = "openapi.json has every call"  # for programs; people get another hint


class FaultKind(NamedTuple):
    """One kind of fault: the status that goes with it, and the error that it is to a caller."""

    code: str
    status: int
    error: type[ReticentError]
    means: str


KINDS = (  # the first with an error is the one that this error becomes
    FaultKind("usage", 400, UsageError, "something in the request does not exist or does not fit"),
    FaultKind(
        "unsafe",
        403,
        errors.UnsafeError,
        "another user could have changed one of our files or folders",
    ),
    FaultKind("locked", 423, errors.LockedError, "the vault is locked"),
    FaultKind("wrong secret", 403, errors.WrongSecretError, "no key slot opens with this secret"),
    FaultKind("busy vault", 409, errors.BusyVaultError, "the vault is open in another process"),
    FaultKind("damaged vault", 500, errors.DamagedVaultError, "the vault was altered or cut off"),
    FaultKind(
        "vault version", 500, errors.VaultVersionError, "the vault is in a format not read here"
    ),
    FaultKind(
        "rolled back",
        500,
        errors.RolledBackError,
        "the vault is older than this machine has seen it",
    ),
    FaultKind(
        "replaced vault", 500, errors.ReplacedVaultError, "the vault was replaced while it was open"
    ),
    FaultKind("vault", 500, errors.VaultError, "the vault cannot be used"),
    FaultKind("damaged model", 422, errors.DamagedModelError, "the model is altered or cut short"),
    FaultKind("model version", 422, errors.VersionError, "the model is in a format not read here"),
    FaultKind(
        "signature", 422, errors.SignatureError, "the model is not signed with an expected key"
    ),
    FaultKind("model", 422, errors.ModelError, "the model must not be used"),
    FaultKind("policy", 422, PolicyError, "the policy has mistakes"),
    FaultKind("build", 422, errors.BuildError, "no model can be made from these tables"),
    FaultKind("daemon", 500, DaemonError, "the daemon cannot do it"),
    FaultKind("failed", 500, DaemonError, "the daemon failed; see its log"),
    FaultKind("error", 500, ReticentError, "something else went wrong"),
    FaultKind("malformed", 400, UsageError, "the request is not what openapi.json describes"),
    FaultKind("refused", 403, DaemonError, "this caller may not ask this here"),
    FaultKind("not found", 404, UsageError, "there is no such call, review or model"),
    FaultKind("wrong method", 405, UsageError, "the call exists with another method"),
    FaultKind("slow", 408, DaemonError, "the request did not arrive in time"),
    FaultKind("conflict", 409, UsageError, "it already exists, or has changed in the meantime"),
    FaultKind("too large", 413, UsageError, "the request is too large"),
    FaultKind("wrong type", 415, UsageError, "the body is not declared as JSON"),
)
_BY_CODE = {kind.code: kind for kind in KINDS}
_BY_ERROR = {kind.error: kind for kind in reversed(KINDS)}
_OTHER = _BY_CODE["error"]


def fault_of(error: ReticentError, code: str | None = None) -> Fault:
    """Return the fault that says what an error says; ``code``: a nearer kind than the error's."""
    kind = next(_BY_ERROR[each] for each in type(error).__mro__ if each in _BY_ERROR)
    return Fault(code=code or kind.code, what=error.what, hint=error.hint, where=error.where)


def error_of(fault: Fault) -> ReticentError:
    """Return the error that a fault stands for; a DaemonError where the kind is not known."""
    kind = _BY_CODE.get(fault.code)
    if kind is None:
        return DaemonError(fault.what, fault.hint, fault.where)
    if kind.error is PolicyError:
        source, _, line = (fault.where or "").rpartition(":")
        number = int(line) if line.isdecimal() and source else 1
        return PolicyError(source or line, [Problem(number, "", fault.what, fault.hint)])
    return kind.error(fault.what, fault.hint, fault.where)


def http_status(code: str) -> int:
    """Return the status of HTTP that goes with a kind of fault; 500 where it is not known."""
    return _BY_CODE.get(code, _OTHER).status
