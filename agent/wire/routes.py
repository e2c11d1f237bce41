"""Every call there is, in one table: the daemon registers it, openapi.json describes it."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

from agent.errors import UsageError
from agent.wire.base import LATEST_ENTRIES, LONGEST_HOST, LONGEST_NAME, MOST_ENTRIES, Done
from agent.wire.decide import (
    Allow,
    Allowed,
    Answer,
    Ask,
    Clicked,
    Explained,
    Offer,
    Refuse,
    RelayAnswer,
    Relayed,
)
from agent.wire.policy import (
    AttributeStatus,
    Edited,
    Override,
    PolicyEdit,
    Review,
    Ruled,
    RulesStatus,
    Undone,
    Verdict,
)
from agent.wire.records import (
    Changed,
    Entry,
    Forget,
    Handled,
    Held,
    Profile,
    ProfileChange,
    Recipient,
)
from agent.wire.state import Event, Locked, ModelStatus, Place, PolicyStatus, Status, Unlock
from agent.wire.what_if import Calibrate, Calibrated, CurveAsk, TradeOffs, Weighed, WhatIf

Door = Literal["control", "query"]
CONTROL: Door = "control"
QUERY: Door = "query"
_BIGGEST = 10**15  # every reader of JSON counts as far
_LIMIT = f"at most so many, the latest; else {LATEST_ENTRIES}"
DOTS = {"", ".", ".."}  # what a server may take for a step through the path (RFC 3986, 5.2.4)


class Parameter(NamedTuple):
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
    method: Literal["GET", "POST", "DELETE"]
    path: str
    doors: tuple[Door, ...]
    takes: Any
    gives: Any
    means: str
    parameters: tuple[Parameter, ...] = ()


_ID = Parameter("id", "path", int, "of the review", 0, _BIGGEST)


_TO = Parameter("recipient", "query", str, "only this recipient, and its pool", 1, LONGEST_HOST)


_AFTER = Parameter("after", "query", int, "only greater numbers", 0, _BIGGEST)


_MOST = Parameter("limit", "query", int, _LIMIT, 1, MOST_ENTRIES)


ROUTES = (
    Route("status", "GET", "/v1/status", (CONTROL,), None, Status, "How the daemon is."),
    Route("locked", "GET", "/v1/status", (QUERY,), None, Locked, "Whether it is locked."),
    Route("unlock", "POST", "/v1/unlock", (CONTROL,), Unlock, Status, "Open the vault."),
    Route("lock", "POST", "/v1/lock", (CONTROL,), None, Status, "Close the vault."),
    Route(
        "decide",
        "POST",
        "/v1/decide",
        (CONTROL, QUERY),
        Ask,
        Answer,
        "Decide what one request carries, and record it before the answer leaves.",
    ),
    Route(
        "explain",
        "POST",
        "/v1/explain",
        (CONTROL,),
        Ask,
        Explained,
        "Say what would be decided.",
    ),
    Route(
        "requests",
        "GET",
        "/v1/requests",
        (CONTROL,),
        None,
        list[Handled],
        "The latest requests, oldest first, also those that carried nothing.",
        (_TO, _MOST),
    ),
    Route(
        "whatif",
        "POST",
        "/v1/whatif",
        (CONTROL,),
        WhatIf,
        Weighed,
        "Say what another set would bring and cost.",
    ),
    Route(
        "curve",
        "POST",
        "/v1/curve",
        (CONTROL,),
        CurveAsk,
        TradeOffs,
        "Say what would leave at every trade-off.",
    ),
    Route("reviews", "GET", "/v1/reviews", (CONTROL,), None, list[Review], "What waits."),
    Route(
        "verdict",
        "POST",
        "/v1/reviews/{id}",
        (CONTROL,),
        Verdict,
        Ruled,
        "Approve or deny what waits.",
        (_ID,),
    ),
    Route(
        "dismiss",
        "DELETE",
        "/v1/reviews/{id}",
        (CONTROL,),
        None,
        Done,
        "Take it off the list, ruling nothing.",
        (_ID,),
    ),
    Route(
        "override",
        "POST",
        "/v1/overrides",
        (CONTROL,),
        Override,
        Ruled,
        "Say of attributes whether they may leave.",
    ),
    Route("undo", "POST", "/v1/undo", (CONTROL,), None, Undone, "Take back the last word said."),
    Route(
        "ledger",
        "GET",
        "/v1/ledger",
        (CONTROL,),
        None,
        list[Entry],
        "What was disclosed, oldest first.",
        (_TO, _AFTER, _MOST),
    ),
    Route(
        "knowledge",
        "GET",
        "/v1/knowledge/{recipient}",
        (CONTROL,),
        None,
        Held,
        "What a recipient holds.",
        (Parameter("recipient", "path", str, "a host, or @ and a group", 1, LONGEST_HOST),),
    ),
    Route(
        "recipients",
        "GET",
        "/v1/recipients",
        (CONTROL,),
        None,
        list[Recipient],
        "Who was told anything, the latest first.",
    ),
    Route("forget", "POST", "/v1/forget", (CONTROL,), Forget, Done, "State that it forgot."),
    Route("profile", "GET", "/v1/profile", (CONTROL,), None, Profile, "The user's values."),
    Route(
        "change_profile",
        "POST",
        "/v1/profile",
        (CONTROL,),
        ProfileChange,
        Changed,
        "Set or unset values, all or none of them.",
    ),
    Route(
        "attributes",
        "GET",
        "/v1/attributes",
        (CONTROL,),
        None,
        list[AttributeStatus],
        "The attributes of the model in use, and what the policy says of each.",
        (Parameter("recipient", "query", str, "for this recipient", 1, LONGEST_HOST),),
    ),
    Route("policy", "GET", "/v1/policy", (CONTROL,), None, PolicyStatus, "The policy's state."),
    Route("reload", "POST", "/v1/policy", (CONTROL,), None, PolicyStatus, "Read the policy again."),
    Route("rules", "GET", "/v1/policy/rules", (CONTROL,), None, RulesStatus, "All that it rules."),
    Route(
        "edit_policy",
        "POST",
        "/v1/policy/settings",
        (CONTROL,),
        PolicyEdit,
        Edited,
        "Write settings into the policy, or take them out.",
    ),
    Route(
        "calibrate",
        "POST",
        "/v1/calibrate",
        (CONTROL,),
        Calibrate,
        Calibrated,
        "Turn answers into prices, in bits.",
    ),
    Route("models", "GET", "/v1/models", (CONTROL,), None, list[ModelStatus], "The models."),
    Route(
        "add_model",
        "POST",
        "/v1/models",
        (CONTROL,),
        Place,
        ModelStatus,
        "Copy a model, and its signature, to the others.",
    ),
    Route(
        "remove_model",
        "DELETE",
        "/v1/models/{name}",
        (CONTROL,),
        None,
        Done,
        "Remove a model that was added.",
        (Parameter("name", "path", str, "of the model", 1, LONGEST_NAME),),
    ),
    Route("backup", "POST", "/v1/backup", (CONTROL,), Place, Done, "Copy the vault."),
    Route("shutdown", "POST", "/v1/shutdown", (CONTROL,), None, Done, "End the daemon."),
    Route(
        "events",
        "GET",
        "/v1/events",
        (CONTROL,),
        None,
        Event,
        "What happens, as server-sent events.",
    ),
    Route("clicked", "POST", "/v1/clicked", (QUERY,), Clicked, Done, "A result was visited."),
    Route("offer", "POST", "/v1/offer", (QUERY,), Offer, Done, "Queue a recipient's offer."),
    Route("refuse", "POST", "/v1/refuse", (CONTROL, QUERY), Refuse, Done, "Give it nothing more."),
    Route(
        "relay",
        "POST",
        "/v1/relay",
        (QUERY,),
        Relayed,
        RelayAnswer,
        "Make one of this door's calls, for a program that knows no HTTP.",
    ),
    Route("allow", "POST", "/v1/allow", (CONTROL,), Allow, Allowed, "Take back a refusal."),
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
            path = path.replace(f"{{{name}}}", _segment(name, texts.pop(name, "")))
    return f"{path}?{urlencode(texts, quote_via=quote)}" if texts else path


def _segment(name: str, text: str) -> str:
    if text in DOTS:
        raise UsageError(f"{text!r} is no {name}", f"name the {name}")
    return quote(text, safe="")
