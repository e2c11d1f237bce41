"""Every call there is, in one table: the daemon registers it, openapi.json describes it."""

from typing import Any, Literal, NamedTuple

from agent.wire import messages as m

Door = Literal["control", "query"]
CONTROL: Door = "control"
QUERY: Door = "query"


class Parameter(NamedTuple):
    """A part of the path, or of the query string; ``kind``: str or int."""

    name: str
    where: Literal["path", "query"]
    kind: type
    means: str


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


_RECIPIENT = Parameter("recipient", "query", str, "only of this recipient, and its pool")
_AFTER = Parameter("after", "query", int, "only with a greater number")
_LIMIT = Parameter("limit", "query", int, "at most so many, the latest; 1 to 10000, else 100")
_ID = Parameter("id", "path", int, "of the review")

ROUTES = (
    Route("status", "GET", "/v1/status", (CONTROL,), None, m.Status, "How the daemon is."),
    Route("locked", "GET", "/v1/status", (QUERY,), None, m.Locked, "Whether it is locked."),
    Route("unlock", "POST", "/v1/unlock", (CONTROL,), m.Unlock, m.Status, "Open the vault."),
    Route("lock", "POST", "/v1/lock", (CONTROL,), None, m.Status, "Close the vault."),
    Route(
        "decide",
        "POST",
        "/v1/decide",
        (CONTROL, QUERY),
        m.Ask,
        m.Answer,
        "Decide what one request carries, and record it before the answer leaves.",
    ),
    Route(
        "explain",
        "POST",
        "/v1/explain",
        (CONTROL,),
        m.Ask,
        m.Explained,
        "Say what would be decided.",
    ),
    Route("reviews", "GET", "/v1/reviews", (CONTROL,), None, list[m.Review], "What waits."),
    Route(
        "verdict",
        "POST",
        "/v1/reviews/{id}",
        (CONTROL,),
        m.Verdict,
        m.Ruled,
        "Approve or deny what waits.",
        (_ID,),
    ),
    Route(
        "dismiss",
        "DELETE",
        "/v1/reviews/{id}",
        (CONTROL,),
        None,
        m.Done,
        "Take it off the list, ruling nothing.",
        (_ID,),
    ),
    Route(
        "ledger",
        "GET",
        "/v1/ledger",
        (CONTROL,),
        None,
        list[m.Entry],
        "What was disclosed, oldest first.",
        (_RECIPIENT, _AFTER, _LIMIT),
    ),
    Route(
        "knowledge",
        "GET",
        "/v1/knowledge/{recipient}",
        (CONTROL,),
        None,
        m.Held,
        "What a recipient holds.",
        (Parameter("recipient", "path", str, "a host, an address, or @ and a group"),),
    ),
    Route("forget", "POST", "/v1/forget", (CONTROL,), m.Forget, m.Done, "State that it forgot."),
    Route("profile", "GET", "/v1/profile", (CONTROL,), None, m.Profile, "The user's values."),
    Route(
        "change_profile",
        "POST",
        "/v1/profile",
        (CONTROL,),
        m.ProfileChange,
        m.Done,
        "Set or unset values, all or none of them.",
    ),
    Route("policy", "GET", "/v1/policy", (CONTROL,), None, m.PolicyStatus, "The policy's state."),
    Route(
        "reload", "POST", "/v1/policy", (CONTROL,), None, m.PolicyStatus, "Read the policy again."
    ),
    Route("models", "GET", "/v1/models", (CONTROL,), None, list[m.ModelStatus], "The models."),
    Route(
        "add_model",
        "POST",
        "/v1/models",
        (CONTROL,),
        m.Place,
        m.ModelStatus,
        "Copy a model, and its signature, to the others.",
    ),
    Route(
        "remove_model",
        "DELETE",
        "/v1/models/{name}",
        (CONTROL,),
        None,
        m.Done,
        "Remove a model that was added.",
        (Parameter("name", "path", str, "of the model"),),
    ),
    Route("backup", "POST", "/v1/backup", (CONTROL,), m.Place, m.Done, "Copy the vault."),
    Route("shutdown", "POST", "/v1/shutdown", (CONTROL,), None, m.Done, "End the daemon."),
    Route(
        "events",
        "GET",
        "/v1/events",
        (CONTROL,),
        None,
        m.Event,
        "What happens, as server-sent events.",
    ),
    Route("clicked", "POST", "/v1/clicked", (QUERY,), m.Clicked, m.Done, "A result was visited."),
    Route("offer", "POST", "/v1/offer", (QUERY,), m.Offer, m.Done, "Queue a recipient's offer."),
    Route("refuse", "POST", "/v1/refuse", (QUERY,), m.Refuse, m.Done, "Give it nothing more."),
)
