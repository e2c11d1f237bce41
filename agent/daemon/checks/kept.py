"""What is read anew whenever it changes: the policy, and the models."""

import os
from collections.abc import Iterator

from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.daemon.live.shelf import Shelf
from agent.errors import PolicyError, ReticentError, UsageError
from agent.files import check_ours
from agent.wire.words import write_policy
from policy.audit import audit, misspelt
from policy.read import EMPTY_POLICY, is_empty_policy, load
from policy.rules import Policy


def policy(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with the policy, and what in it does nothing."""
    place = here.paths.policy
    if not os.path.lexists(place):
        what = "there is none, so nothing is attached to any request"
        yield warn("policy", what, write_policy(place))
        return
    try:
        rules = load(place, check_ours)
    except PolicyError as error:
        for each in error.problems:
            key = f"{each.key}: " if each.key else ""
            yield bad("policy", f"{place}:{each.line}: {key}{each.what}", each.hint)
        return
    except UsageError as error:
        yield bad("policy", str(error), error.hint)
        return
    if is_empty_policy(rules.text):
        yield bad(
            "policy",
            f"{place}: {EMPTY_POLICY.what}, so the daemon does not use it",
            EMPTY_POLICY.hint,
        )
        return
    notes = [*_notes(here, rules)]
    yield from notes
    if not notes:
        yield ok("policy", f"{place}")


def models(here: Machine) -> Iterator[Finding]:
    """Yield which models cannot be used, or are asked for and not there."""
    rules = _rules(here)
    keys = rules.trusted_keys if rules else ()
    shelf = Shelf(here.paths.models)
    for each in shelf.status(keys, here.now):
        if each.problem:
            fix = "install reticent again" if each.shipped else f"reticent model remove {each.name}"
            yield bad("models", f"{each.name}: {each.problem}", fix)
        else:
            yield ok("models", f"{each.name}: {each.queries} queries, {each.attributes} attributes")
    for name in sorted((rules.models if rules else frozenset()) - {*shelf.names()}):
        what = f"the policy asks for the model {name!r}, which is not there"
        yield bad("models", what, f"reticent model add {name}.safetensors")


def _notes(here: Machine, rules: Policy) -> Iterator[Finding]:
    """Yield what in a valid policy has no effect, or none in browsers."""
    names = _names(here, rules)
    spelt = {*misspelt(rules, names)}
    for each in audit(rules, names, here.now.date()):
        unsearched = each.key.endswith("search") and not each.settings
        if each in spelt or unsearched or each.key.endswith("expires"):
            where = f"{here.paths.policy}:{each.line}: {each.key}"
            yield warn("policy", f"{where}: {each.what}", each.hint)


def _names(here: Machine, rules: Policy) -> tuple[str, ...]:
    """Return the names of all attributes of the models that can be used."""
    usable = Shelf(here.paths.models).usable(rules.trusted_keys, here.now)
    return tuple(sorted({attribute.name for model in usable for attribute in model.attributes}))


def _rules(here: Machine) -> Policy | None:
    """Return the policy, None where there is none that is valid."""
    try:
        return load(here.paths.policy, check_ours)
    except ReticentError:
        return None
