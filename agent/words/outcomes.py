"""What became of a request, of an attribute, of a rule: one short phrase per code.

The phrases stand behind a colon or in brackets, whenever it happened: "Sent nothing: vault locked".
"""

from collections.abc import Mapping
from typing import NamedTuple

from agent.decision.values import Code

PRESET = '`preset = "balanced"`'  # the one line that a policy needs

WHY_NOTHING: Mapping[Code, str] = {
    "answered": "no fact helps enough to be worth sharing",
    "unknown query": "not recognised; sent unchanged",
    "blocked": "one of your rules blocks it",
    "recognised": "only one person fits what it knows, and more would confirm that it is you",
    "outside the model": "nobody in the model fits what it knows, so you may stand out",
    "past a limit already": "it already knows more than your limits allow",
    "locked": "vault locked",
    "no policy": "no policy in use",
    "no model": "no usable model",
    "unfit": "the model does not fit your policy, or what the recipient holds",
    "failed": "internal error",
    "not https": "not an https address, so the network could read it",
    "too many": "too many requests in one minute",
    "too many from pages": "pages asked too often in one minute",
    "drafted": "only shown to you, for a chat box",
    "parameters only": "it gets your language and country in its address, and nothing else",
}
BROWSER: Mapping[str, str] = {  # what only a browser can meet
    "no daemon": "Reticent was not running",
    "no host": "this browser could not find Reticent",
    "too slow": "Reticent timed out; the facts may be recorded as shared",
    "too large": "the search is too long",
    "repeated": "repeated in this tab, so sent as you typed it",
    "unseen": "a page searched where you could not see it",
    "withheld": "the browser dropped it, but Reticent recorded it as shared",
}
ADDED: Mapping[str, str] = {  # to a search; the recipient and what it was follow
    "words": "Added to your search on",
    "parameters": "Added to the address on",
    "nothing": "Nothing was added: your search has it already.",
}
CHAT: Mapping[str, str] = {  # why there is no line for the message in a chat box
    "empty": "Write your message first, then open this again.",
    "no message": "Click into your message first, then open this again.",
    "elsewhere": "The page has changed. Open this again on the page with your message.",
    "other frame": "The message box belongs to another site, so it is not read.",
    "closed": "This box cannot be written in.",
    "in part": "Your message is too long for its box to hand out whole.",
    "too large": "Your message is too long.",
    "changed": "The message is not the one above any more.",
    "too long": "The box has no room for the line.",
    "not put in": "The page did not take the line.",
}
CHATTING: Mapping[str, str] = {  # around the line
    "about": "About me",
    "wait": "Waits for your approval, and is not in the line:",
    "nothing told": "Nothing was shared.",
    "told": "It is recorded as shared all the same. To put it in by hand:",
}
BROWSER_STATES: Mapping[str, tuple[str, str]] = {  # what is wrong, and what to run
    "lock": ("Reticent is locked. Searches carry nothing.", "reticent unlock"),
    "off": ("Reticent is not running. Searches carry nothing.", "reticent daemon"),
    "no host": (
        "This browser cannot find Reticent. Searches carry nothing.",
        "reticent connect browsers",
    ),
    "stale": (
        "Your policy has mistakes. The last good rules stay in use.",
        "reticent policy check",
    ),
    "slow": ("Reticent took too long. A search went on without it.", "reticent status"),
}
REASONS: Mapping[str, str] = {
    "worth it": "helps more than it costs",
    "always": "always sent",
    "waits for you": "waits for your approval",
    "in the standing set": "part of the set sent with every request",
    "not in the standing set": "not part of the set sent with every request",
    "in the plan": "worth it over all requests to this site",
    "planned for other requests": "planned for other requests",
    "not in the plan": "rarely useful for this site",
    "known to the recipient": "already known to it",
    "costs more than it helps": "does not help enough",
    "would break a limit": "would break a limit",
    "not asked for": "not asked for",
    "not carried": "cannot be sent in the address",
    "told anyway": "already visible from your browser and IP address",
    "not allowed": "not allowed by your rules",
    "not set": "not set, so never sent",
    "never": "never sent",
    "guarded": "kept secret, so never sent",
    "recognised": "would confirm who you are",
    "outside the model": "nobody in the model looks like you",
    "too many combinations": "too many combinations to evaluate",
    "no room in the header": "no room in the header",
}
BY_RULE = frozenset({"always", "waits for you", "never", "guarded", "not allowed"})  # reasons


class RulingText(NamedTuple):
    """What a policy says of an attribute, in a table and in a sentence."""

    short: str
    sentence: str


RULINGS: Mapping[str, RulingText] = {
    "never": RulingText("never", "is never sent"),
    "ask": RulingText("asks first", "waits for your approval before it is sent"),
    "auto": RulingText("when worth it", "is sent when it helps more than it costs"),
    "always": RulingText("always", "is sent with every request, unless a limit forbids it"),
    "guarded": RulingText(
        "kept secret", "is never sent, and less of what others could guess it from"
    ),
}
LIMITS: Mapping[str, str] = {
    "k": "fewer people would look like you than you allow",
    "risk": "a guess at who you are would be right more often than you allow",
    "attributes_per_request": "more facts would be sent at once than you allow",
    "new_facts_per_week": "more new facts would be sent in a week than you allow",
    "protect": "fewer people would look like you than you allow",
}
PROOFS: Mapping[str, str] = {
    "enumerated": "No better set exists.",
    "if-submodular": (
        "A good set. A better one may exist; how much better is bounded, provided each further "
        "fact helps less than the one before."
    ),
    "none": "A good set. A better one may exist.",
}


def why(reason: str, rule: str | None = None, limit: str | None = None) -> str:
    """Return why an attribute is sent or not, with the limit or the rule behind it."""
    text = REASONS.get(reason) or WHY_NOTHING.get(reason, reason)  # type: ignore[call-overload]  # any text
    if limit:
        return f"{text}: {limit}"
    return f"{text} (rule: {rule})" if rule and reason in BY_RULE else str(text)


def breaks(limit: str) -> str:
    """Return which limit a set breaks, and what that means."""
    return f"breaks the limit {limit}: {LIMITS[limit]}" if limit in LIMITS else f"breaks {limit}"


def write_policy(path: object) -> str:
    """Return what to do where there is no policy; ``path``: of the file, or what stands for it."""
    return f"write {PRESET} into {path}"
