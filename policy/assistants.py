"""Assistants that have a chat box on a page: the well-known ones, and how a rule lists one."""

import tomllib
from datetime import date
from functools import cache
from typing import NamedTuple

from agent.errors import UsageError
from policy.edit import Entry, free_name, with_rule
from policy.hosts import site_of, suffixes
from policy.match import home_of
from policy.read import shipped_text


class Assistant(NamedTuple):
    """An assistant that many people know; ``address``: of its whole site, as in a rule."""

    name: str
    address: str
    recipient: str


@cache
def well_known() -> tuple[Assistant, ...]:
    """Return those that the user may choose from, by name; none of them is listed by itself."""
    text = shipped_text("assistants.toml")
    return tuple(Assistant(**each) for each in tomllib.loads(text)["assistant"])


def own_address(text: str, host: str) -> str:
    """Return the address of a whole site as a rule has it; UsageError where it is not the host's.

    ``host``: canonical. A host below it is its own too, unless somebody else registered that.
    """
    found, origin = home_of(text)
    if host not in suffixes(found) or site_of(found) != site_of(host):
        hint = "write the address of its whole site, like https://chat.example/"
        raise UsageError(f"{found} is not {host}, nor below it", hint)
    return f"{origin}/"


def with_assistant(text: str, recipient: str, address: str, until: date | None = None) -> str:
    """Return the text of a policy with one more rule, by which a recipient is an assistant.

    ``until``: the last day, None for no end.
    """
    rule: dict[str, Entry] = {
        "name": free_name(text, f"assistant {recipient}"),
        "recipient": recipient,
        "address": address,
        "assistant": True,
    }
    return with_rule(text, rule if until is None else {**rule, "expires": until})
