"""Every call and every fault there is: the daemon registers it, openapi.json describes it.

`python -m tests.house.openapi > agent/wire/openapi.json` writes that file; what a call does is the
first sentence of its handler.

The daemon says ``fault_of(error)`` with the status ``http_status(fault.code)``, the client raises
``error_of(fault)``. Source of the statuses: RFC 9110, section 15; 423 is of RFC 4918.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

from agent import errors
from agent.decision.values import Correction, Curve, Decision
from agent.errors import DaemonError, PolicyError, Problem, ReticentError, UsageError
from agent.wire.base import (
    LATEST_ENTRIES,
    LONGEST_HOST,
    LONGEST_NAME,
    MOST_ENTRIES,
    Done,
    Fault,
    RecipientName,
    Undone,
)
from agent.wire.decide import (
    Allowed,
    Answer,
    Ask,
    Clicked,
    CurveAsk,
    Draft,
    Frame,
    Offer,
    RelayAnswer,
    Tell,
    Told,
    Weighed,
    WhatIf,
)
from agent.wire.policy import (
    AttributeStatus,
    Edited,
    PolicyEdit,
    Review,
    Ruled,
    RulesStatus,
    Tried,
    TryPolicy,
    Word,
)
from agent.wire.state import (
    Changed,
    Corrected,
    Entry,
    Event,
    Locked,
    ModelStatus,
    NotThat,
    Place,
    PolicyStatus,
    ProfileChange,
    ProfileFacts,
    Recipient,
    Status,
    Unlock,
)

Door = Literal["control", "query"]
CONTROL: Door = "control"
QUERY: Door = "query"
BOTH = (CONTROL, QUERY)
_BIGGEST = 10**15  # every reader of JSON counts as far
_LIMIT = f"at most this many, the latest; by default {LATEST_ENTRIES}"
DOTS = {"", ".", ".."}  # what a server may take for a step through the path (RFC 3986, 5.2.4)


class RouteParameter(NamedTuple):
    """A part of the path, or of the query string.

    ``kind``: str, of ``least`` to ``most`` characters, or int, from ``least`` to ``most``.
    """

    name: str
    where: Literal["path", "query"]
    kind: type
    means: str
    least: int
    most: int


class Route(NamedTuple):
    """One call: at which doors, with which message, and what comes back.

    ``name``: of its handler; ``takes``: the type of the body, None where it is empty; ``gives``:
    the type of the answer's.
    """

    name: str
    method: str  # GET, POST or DELETE
    path: str
    doors: tuple[Door, ...]
    takes: Any
    gives: Any
    parameters: tuple[RouteParameter, ...] = ()


_ID = RouteParameter("id", "path", int, "of the review", 0, _BIGGEST)
_TO = RouteParameter(
    "recipient", "query", str, "only this recipient, and its pool", 1, LONGEST_HOST
)
_AFTER = RouteParameter("after", "query", int, "only greater numbers", 0, _BIGGEST)
_MOST = RouteParameter("limit", "query", int, _LIMIT, 1, MOST_ENTRIES)
_WHOM = RouteParameter("recipient", "path", str, "a host, or @ and a group", 1, LONGEST_HOST)
_FOR = RouteParameter("recipient", "query", str, "for this recipient", 1, LONGEST_HOST)
_NAME = RouteParameter("name", "path", str, "of the model", 1, LONGEST_NAME)


def _route(
    call: str,
    takes: Any,  # noqa: ANN401  (a type)
    gives: Any,  # noqa: ANN401  (a type)
    *parameters: RouteParameter,
    doors: tuple[Door, ...] = (CONTROL,),
) -> Route:
    """Return a route; ``call``: its name, method and path below /v1."""
    name, method, path = call.replace(":", "").split(" ")
    return Route(name, method, f"/v1{path}", doors, takes, gives, parameters)


ROUTES = (
    _route("status: GET /status", None, Status),
    _route("locked: GET /status", None, Locked, doors=(QUERY,)),
    _route("unlock: POST /unlock", Unlock, Status),
    _route("lock: POST /lock", None, Status),
    _route("decide: POST /decide", Ask, Answer, doors=BOTH),
    _route("draft: POST /draft", Ask, Draft, doors=(QUERY,)),
    _route("tell: POST /tell", Tell, Told, doors=(QUERY,)),
    _route("explain: POST /explain", Ask, Decision),
    _route("requests: GET /requests", None, list[Entry], _TO, _MOST),
    _route("whatif: POST /whatif", WhatIf, Weighed),
    _route("curve: POST /curve", CurveAsk, Curve),
    _route("reviews: GET /reviews", None, list[Review]),
    _route("verdict: POST /reviews/{id}", Word, Ruled, _ID),
    _route("dismiss: DELETE /reviews/{id}", None, Done, _ID),
    _route("override: POST /overrides", Word, Ruled),
    _route("undo: POST /undo", None, Undone),
    _route("ledger: GET /ledger", None, list[Entry], _TO, _AFTER, _MOST),
    _route("knowledge: GET /knowledge/{recipient}", None, Recipient, _WHOM),
    _route("recipients: GET /recipients", None, list[Recipient]),
    _route("forget: POST /forget", RecipientName, Done),
    _route("corrections: GET /readings", None, list[Correction]),
    _route("not_that: POST /readings", NotThat, Corrected),
    _route("profile: GET /profile", None, ProfileFacts),
    _route("change_profile: POST /profile", ProfileChange, Changed),
    _route("attributes: GET /attributes", None, list[AttributeStatus], _FOR),
    _route("policy: GET /policy", None, PolicyStatus),
    _route("reload: POST /policy", None, PolicyStatus),
    _route("rules: GET /policy/rules", None, RulesStatus),
    _route("edit_policy: POST /policy/settings", PolicyEdit, Edited),
    _route("try_policy: POST /policy/try", TryPolicy, Tried),
    _route("models: GET /models", None, list[ModelStatus]),
    _route("add_model: POST /models", Place, ModelStatus),
    _route("remove_model: DELETE /models/{name}", None, Done, _NAME),
    _route("backup: POST /backup", Place, Done),
    _route("shutdown: POST /shutdown", None, Done),
    _route("events: GET /events", None, Event),
    _route("clicked: POST /clicked", Clicked, Done, doors=(QUERY,)),
    _route("offer: POST /offer", Offer, Done, doors=(QUERY,)),
    _route("refuse: POST /refuse", RecipientName, Done, doors=BOTH),
    _route("relay: POST /relay", Frame, RelayAnswer, doors=(QUERY,)),
    _route("allow: POST /allow", RecipientName, Allowed),
)


def target_of(route: Route, given: Mapping[str, Any]) -> str:
    """Return the path and query of a call; a parameter that is None is left out.

    UsageError where a part of the path is empty or dots; TypeError for a parameter that the
    route does not have.
    """
    parameters = {each.name: each for each in route.parameters}
    if unknown := given.keys() - parameters:
        raise TypeError(f"{route.name} has no parameters {sorted(unknown)}")
    texts = {name: str(value) for name, value in given.items() if value is not None}
    path = route.path
    for name, each in parameters.items():
        if each.where == "path":
            text = texts.pop(name, "")
            if text in DOTS:
                raise UsageError(f"{text!r} is not a {name}", f"name the {name}")
            path = path.replace(f"{{{name}}}", quote(text, safe=""))
    return f"{path}?{urlencode(texts, quote_via=quote)}" if texts else path


SEE = "openapi.json has every call"  # for programs; people get another hint


class FaultKind(NamedTuple):
    """One kind of fault: the status that goes with it, and the error that it is to a caller."""

    code: str
    status: int
    error: type[ReticentError]


KINDS = (  # the first with an error is the one that this error becomes
    FaultKind("usage", 400, UsageError),
    FaultKind("unsafe", 403, errors.UnsafeError),
    FaultKind("locked", 423, errors.LockedError),
    FaultKind("wrong secret", 403, errors.WrongSecretError),
    FaultKind("busy vault", 409, errors.BusyVaultError),
    FaultKind("damaged vault", 500, errors.DamagedVaultError),
    FaultKind("vault version", 500, errors.VaultVersionError),
    FaultKind("rolled back", 500, errors.RolledBackError),
    FaultKind("replaced vault", 500, errors.ReplacedVaultError),
    FaultKind("vault", 500, errors.VaultError),
    FaultKind("damaged model", 422, errors.DamagedModelError),
    FaultKind("model version", 422, errors.VersionError),
    FaultKind("signature", 422, errors.SignatureError),
    FaultKind("model", 422, errors.ModelError),
    FaultKind("policy", 422, PolicyError),
    FaultKind("build", 422, errors.BuildError),
    FaultKind("daemon", 500, DaemonError),
    FaultKind("failed", 500, DaemonError),
    FaultKind("error", 500, ReticentError),
    FaultKind("malformed", 400, UsageError),
    FaultKind("refused", 403, DaemonError),
    FaultKind("not found", 404, UsageError),
    FaultKind("wrong method", 405, UsageError),
    FaultKind("slow", 408, DaemonError),
    FaultKind("conflict", 409, UsageError),
    FaultKind("too large", 413, UsageError),
    FaultKind("wrong type", 415, UsageError),
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
