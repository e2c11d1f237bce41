"""Every call there is, in one table: the daemon registers it, openapi.json describes it."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

from agent.decision.values import Correction, Curve, Decision
from agent.errors import UsageError
from agent.wire.base import LATEST_ENTRIES, LONGEST_HOST, LONGEST_NAME, MOST_ENTRIES, Done
from agent.wire.decide import (
    Allow,
    Allowed,
    Answer,
    Ask,
    Clicked,
    Draft,
    Frame,
    Offer,
    Refuse,
    RelayAnswer,
    Tell,
    Told,
)
from agent.wire.policy import (
    AttributeStatus,
    Edited,
    Override,
    PolicyEdit,
    Review,
    Ruled,
    RulesStatus,
    Tried,
    TryPolicy,
    Undone,
    Word,
)
from agent.wire.records import (
    Changed,
    Corrected,
    Entry,
    Forget,
    Handled,
    Held,
    NotThat,
    ProfileChange,
    ProfileFacts,
    Recipient,
)
from agent.wire.state import Event, Locked, ModelStatus, Place, PolicyStatus, Status, Unlock
from agent.wire.what_if import Calibrate, Calibrated, CurveAsk, Weighed, WhatIf

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
    means: str
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
    means: str,
    *parameters: RouteParameter,
    doors: tuple[Door, ...] = (CONTROL,),
) -> Route:
    """Return a route; ``call``: its name, method and path below /v1."""
    name, method, path = call.replace(":", "").split(" ")
    return Route(name, method, f"/v1{path}", doors, takes, gives, means, parameters)


ROUTES = (
    _route("status: GET /status", None, Status, "How the daemon is."),
    _route("locked: GET /status", None, Locked, "Whether it is locked.", doors=(QUERY,)),
    _route("unlock: POST /unlock", Unlock, Status, "Open the vault."),
    _route("lock: POST /lock", None, Status, "Close the vault."),
    _route(
        "decide: POST /decide",
        Ask,
        Answer,
        "Decide what one request carries, and record it before the answer leaves.",
        doors=BOTH,
    ),
    _route(
        "draft: POST /draft",
        Ask,
        Draft,
        "Say what a line in an assistant's chat box may have; nothing is sent or recorded.",
        doors=(QUERY,),
    ),
    _route(
        "tell: POST /tell",
        Tell,
        Told,
        "Record facts of a draft as sent, before they are put into the chat box.",
        doors=(QUERY,),
    ),
    _route("explain: POST /explain", Ask, Decision, "Say what would be decided, and why."),
    _route(
        "requests: GET /requests",
        None,
        list[Handled],
        "The latest requests, oldest first, also those that carried nothing.",
        _TO,
        _MOST,
    ),
    _route(
        "whatif: POST /whatif", WhatIf, Weighed, "Weigh another set of attributes for a request."
    ),
    _route("curve: POST /curve", CurveAsk, Curve, "What would leave at every trade-off."),
    _route("reviews: GET /reviews", None, list[Review], "What waits for the user's word."),
    _route("verdict: POST /reviews/{id}", Word, Ruled, "Approve or deny what waits.", _ID),
    _route("dismiss: DELETE /reviews/{id}", None, Done, "Drop a review without a verdict.", _ID),
    _route("override: POST /overrides", Override, Ruled, "Say whether attributes may leave."),
    _route("undo: POST /undo", None, Undone, "Undo the user's last word."),
    _route(
        "ledger: GET /ledger", None, list[Entry], "Disclosures, oldest first.", _TO, _AFTER, _MOST
    ),
    _route("knowledge: GET /knowledge/{recipient}", None, Held, "What a recipient holds.", _WHOM),
    _route(
        "recipients: GET /recipients", None, list[Recipient], "Who was sent anything, latest first."
    ),
    _route(
        "forget: POST /forget", Forget, Done, "State that a recipient has forgotten everything."
    ),
    _route("corrections: GET /readings", None, list[Correction], "What texts do not mean."),
    _route(
        "not_that: POST /readings",
        NotThat,
        Corrected,
        "Say that a text does not mean what it was read as.",
    ),
    _route("profile: GET /profile", None, ProfileFacts, "The user's values."),
    _route(
        "change_profile: POST /profile", ProfileChange, Changed, "Set or unset values, all or none."
    ),
    _route(
        "attributes: GET /attributes",
        None,
        list[AttributeStatus],
        "The attributes of the model in use, and what the policy says of each.",
        _FOR,
    ),
    _route("policy: GET /policy", None, PolicyStatus, "The policy's state."),
    _route("reload: POST /policy", None, PolicyStatus, "Read the policy again."),
    _route("rules: GET /policy/rules", None, RulesStatus, "All rules of the policy in use."),
    _route(
        "edit_policy: POST /policy/settings",
        PolicyEdit,
        Edited,
        "Write settings into the policy, or take them out.",
    ),
    _route(
        "try_policy: POST /policy/try",
        TryPolicy,
        Tried,
        "What another policy would have sent with the requests in the ledger.",
    ),
    _route(
        "calibrate: POST /calibrate", Calibrate, Calibrated, "Turn answers into prices in bits."
    ),
    _route("models: GET /models", None, list[ModelStatus], "The models."),
    _route("add_model: POST /models", Place, ModelStatus, "Add a model, with its signature."),
    _route(
        "remove_model: DELETE /models/{name}", None, Done, "Remove a model that was added.", _NAME
    ),
    _route("backup: POST /backup", Place, Done, "Write a backup of the vault."),
    _route("shutdown: POST /shutdown", None, Done, "End the daemon."),
    _route("events: GET /events", None, Event, "What happens, as server-sent events."),
    _route("clicked: POST /clicked", Clicked, Done, "A result was visited.", doors=(QUERY,)),
    _route("offer: POST /offer", Offer, Done, "Queue a recipient's offer.", doors=(QUERY,)),
    _route(
        "refuse: POST /refuse", Refuse, Done, "Give a recipient nothing from now on.", doors=BOTH
    ),
    _route(
        "relay: POST /relay",
        Frame,
        RelayAnswer,
        "Make one of this socket's calls, for the browser's native host.",
        doors=(QUERY,),
    ),
    _route("allow: POST /allow", Allow, Allowed, "Take back a refusal."),
)


def target_of(route: Route, given: Mapping[str, Any]) -> str:
    """Return the path and query of a call; a parameter that is None is left out.

    UsageError where a part of the path is empty or dots; TypeError for a parameter that the
    route does not have.
    """
    known = {each.name: each for each in route.parameters}
    if unknown := given.keys() - known:
        raise TypeError(f"{route.name} has no parameters {sorted(unknown)}")
    texts = {name: str(value) for name, value in given.items() if value is not None}
    path = route.path
    for name, each in known.items():
        if each.where == "path":
            text = texts.pop(name, "")
            if text in DOTS:
                raise UsageError(f"{text!r} is not a {name}", f"name the {name}")
            path = path.replace(f"{{{name}}}", quote(text, safe=""))
    return f"{path}?{urlencode(texts, quote_via=quote)}" if texts else path
