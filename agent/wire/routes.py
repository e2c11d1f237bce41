"""Every call and every fault there is: the daemon registers it, openapi.json describes it.

`python -m tests.house.openapi > agent/wire/openapi.json` writes that file; what a call does is the
first sentence of its handler.

The daemon says ``fault_of(error)`` with the status ``http_status(fault.code)``, the client raises
``error_of(fault)``. Source of the statuses: RFC 9110, section 15; 423 is of RFC 4918.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

from msgspec import Meta

from agent import errors
from agent.decision.values import Curve, Decision, Reading
from agent.errors import DaemonError, PolicyError, Problem, ReticentError, UsageError
from agent.wire import base, decide, policy, state

Door = Literal["control", "query"]
CONTROL: Door = "control"
QUERY: Door = "query"
BOTH = (CONTROL, QUERY)
_BIGGEST = 10**15  # every reader of JSON counts as far
_LIMIT = f"at most this many, the latest; by default {base.LATEST_ENTRIES}"


class Route(NamedTuple):
    """One call: at which doors, with which message, and what comes back.

    ``name``: of its handler; ``takes``: the type of the body, None where it is empty; ``gives``:
    the type of the answer's; ``parameters``: the types of those of the path, which are numbers, and
    of the query string.
    """

    name: str
    method: str  # GET, POST or DELETE
    path: str
    doors: tuple[Door, ...]
    takes: Any
    gives: Any
    parameters: Mapping[str, Any]


_ID = Annotated[int, Meta(ge=0, le=_BIGGEST, description="of the review")]
_TO = Annotated[base.Host, Meta(description="only this recipient, and its pool")]
_ONE = Annotated[base.Host, Meta(description="only this one, or @ and a group, with all of it")]
_AFTER = Annotated[int, Meta(ge=0, le=_BIGGEST, description="only greater numbers")]
_MOST = Annotated[int, Meta(ge=1, le=base.MOST_ENTRIES, description=_LIMIT)]
_SINCE = Annotated[datetime, Meta(tz=True, description="not before that time, of RFC 3339")]
_UNTIL = Annotated[datetime, Meta(tz=True, description="only before that time")]
_WHEN: dict[str, Any] = {"since": _SINCE, "until": _UNTIL}
_ENTRIES = list[state.Entry]


def _route(
    call: str,
    takes: Any,  # noqa: ANN401  (a type)
    gives: Any,  # noqa: ANN401  (a type)
    doors: tuple[Door, ...] = (CONTROL,),
    **parameters: Any,  # noqa: ANN401  (types)
) -> Route:
    """Make a route; ``call``: its name, method and path below /v1."""
    name, method, path = call.replace(":", "").split(" ")
    return Route(name, method, f"/v1{path}", doors, takes, gives, parameters)


ROUTES = (
    _route("status: GET /status", None, state.Status),
    _route("locked: GET /status", None, state.Locked, doors=(QUERY,)),
    _route("unlock: POST /unlock", state.Unlock, state.Status),
    _route("lock: POST /lock", None, state.Status),
    _route("pause: POST /pause", state.Pause, base.Done),
    _route("decide: POST /decide", decide.Ask, decide.Answer, doors=BOTH),
    _route("disclosed: POST /disclosed", decide.Conversation, decide.Answer, doors=(QUERY,)),
    _route("draft: POST /draft", decide.Ask, decide.Draft, doors=(QUERY,)),
    _route("tell: POST /tell", decide.Tell, decide.Told, doors=BOTH),
    _route("export: POST /export", base.RecipientName, decide.Draft),
    _route("explain: POST /explain", decide.Ask, Decision),
    _route("requests: GET /requests", None, _ENTRIES, recipient=_TO, **_WHEN, limit=_MOST),
    _route("whatif: POST /whatif", decide.WhatIf, decide.Weighed),
    _route("curve: POST /curve", decide.CurveAsk, Curve),
    _route("reviews: GET /reviews", None, list[policy.Review]),
    _route("verdict: POST /reviews/{id}", policy.Word, policy.Ruled, id=_ID),
    _route("dismiss: DELETE /reviews/{id}", None, base.Done, id=_ID),
    _route("override: POST /overrides", policy.Word, policy.Ruled),
    _route("undo: POST /undo", None, base.Undone),
    _route(
        "ledger: GET /ledger", None, _ENTRIES, recipient=_TO, **_WHEN, after=_AFTER, limit=_MOST
    ),
    _route("delete_texts: POST /ledger/texts", state.Deletion, list[int]),
    _route("recipients: GET /recipients", None, list[state.Recipient], recipient=_ONE),
    _route("forget: POST /forget", base.RecipientName, base.Done),
    _route("correct: POST /readings", state.ReadingEdit, state.Corrected),
    _route("topics: POST /topics", decide.Ask, list[Reading], doors=BOTH),
    _route("means: POST /means", state.ReadingEdit, base.Done, doors=(QUERY,)),
    _route("profile: GET /profile", None, state.ProfileFacts),
    _route("change_profile: POST /profile", state.ProfileChange, state.Changed),
    _route("propose: POST /facts", state.FactTexts, state.FactDraft),
    _route("remember: POST /remember", state.FactProposal, base.Done, doors=(QUERY,)),
    _route("attributes: GET /attributes", None, list[policy.AttributeStatus]),
    _route("reload: POST /policy", None, state.PolicyStatus),
    _route("rules: GET /policy/rules", None, policy.RulesStatus),
    _route("edit_policy: POST /policy/settings", policy.PolicyEdit, policy.Edited),
    _route("models: GET /models", None, list[state.ModelStatus]),
    _route("backup: POST /backup", state.Place, base.BackupContents),
    _route("shutdown: POST /shutdown", None, base.Done),
    _route("events: GET /events", None, state.Event),
    _route("reranked: POST /rerank", decide.SearchResults, list[int], doors=BOTH),
    _route("clicked: POST /clicked", decide.Clicked, base.Done, doors=(QUERY,)),
    _route("offer: POST /offer", decide.Offer, base.Done, doors=(QUERY,)),
    _route("refuse: POST /refuse", base.RecipientName, base.Done, doors=BOTH),
    _route("relay: POST /relay", decide.Frame, decide.RelayAnswer, doors=(QUERY,)),
    _route("allow: POST /allow", base.RecipientName, decide.Allowed),
)


def target_of(route: Route, given: Mapping[str, Any]) -> str:
    """Write the path and query of a call; a parameter that is None is left out.

    TypeError for a parameter that the route does not have.
    """
    if unknown := given.keys() - route.parameters:
        raise TypeError(f"{route.name} has no parameters {sorted(unknown)}")
    path = route.path.format_map(given)
    texts = {
        name: str(value)
        for name, value in given.items()
        if value is not None and f"{{{name}}}" not in route.path
    }
    return f"{path}?{urlencode(texts, quote_via=quote)}" if texts else path


SEE = "openapi.json has every call"  # for programs; people get another hint


class FaultKind(NamedTuple):
    """One kind of fault: the status that goes with it, and the error that it is to a caller."""

    code: str
    status: int
    error: type[ReticentError]


KINDS = (  # the first with an error is the one that this error becomes
    FaultKind("usage", 400, UsageError),
    FaultKind("locked", 423, errors.LockedError),
    FaultKind("no daemon", 503, errors.AbsentError),
    FaultKind("wrong secret", 403, errors.WrongSecretError),
    FaultKind("vault", 500, errors.VaultError),
    FaultKind("model", 422, errors.ModelError),
    FaultKind("policy", 422, PolicyError),
    FaultKind("daemon", 500, DaemonError),
    FaultKind("failed", 500, DaemonError),
    FaultKind("error", 500, ReticentError),
    FaultKind("malformed", 400, UsageError),
    FaultKind("refused", 403, DaemonError),
    FaultKind("not found", 404, UsageError),
    FaultKind("slow", 408, DaemonError),
    FaultKind("conflict", 409, UsageError),
    FaultKind("too large", 413, UsageError),
)
_BY_CODE = {kind.code: kind for kind in KINDS}
_BY_ERROR = {kind.error: kind for kind in reversed(KINDS)}
_OTHER = _BY_CODE["error"]


def fault_of(error: ReticentError, code: str | None = None) -> base.Fault:
    """Write the fault that says what an error says; ``code``: a nearer kind than the error's."""
    kind = next(_BY_ERROR[each] for each in type(error).__mro__ if each in _BY_ERROR)
    return base.Fault(code=code or kind.code, what=error.what, hint=error.hint, where=error.where)


def error_of(fault: base.Fault) -> ReticentError:
    """Rebuild the error that a fault stands for; a DaemonError where the kind is unknown."""
    kind = _BY_CODE.get(fault.code)
    if kind is None:
        return DaemonError(fault.what, fault.hint, fault.where)
    if kind.error is PolicyError:
        source, _, line = (fault.where or "").rpartition(":")
        number = int(line) if line.isdecimal() and source else 1
        return PolicyError(source or line, [Problem(number, "", fault.what, fault.hint)])
    return kind.error(fault.what, fault.hint, fault.where)


def http_status(code: str) -> int:
    """Look up the status of HTTP of a kind of fault; 500 where it is unknown."""
    return _BY_CODE.get(code, _OTHER).status
