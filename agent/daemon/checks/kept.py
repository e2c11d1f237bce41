"""What is kept: the vault with its witness, the policy, the models. None of it is opened."""

import os
from collections.abc import Iterator

from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.daemon.checks.places import listens
from agent.daemon.shelf import Shelf
from agent.errors import PolicyError, ReticentError, UsageError, reason
from agent.vault.database import APPLICATION_ID
from agent.vault.framing import FORMAT
from agent.vault.trouble import RESTORE
from agent.vault.witness import read_witness
from policy.audit import audit, misspelt
from policy.load import load
from policy.rules import Policy

HEADER = 100  # bytes of an SQLite file; source: sqlite.org/fileformat2.html, section 1.3
MAGIC, VERSION, APPLICATION = b"SQLite format 3\x00", slice(60, 64), slice(68, 72)


def vault(here: Machine) -> Iterator[Finding]:
    """Yield whether there is a vault that this version reads, and its witness."""
    place = here.paths.vault
    try:
        with place.open("rb") as file:
            header = file.read(HEADER)
    except FileNotFoundError:
        yield warn("vault", "there is none yet", "reticent init")
        return
    except OSError as error:
        yield bad("vault", f"{place}: {reason(error)}", "mend that, or " + RESTORE)
        return
    problem = None if listens(here.paths.control) else _problem(header)  # it may be written to now
    yield problem or ok("vault", f"{place}, format {FORMAT}")
    if not os.access(place, os.W_OK) or not os.access(place.parent, os.W_OK):
        fix = "make the file and its folder writable: what cannot be recorded is not disclosed"
        yield bad("vault", f"{place} cannot be written to", fix)
    if read_witness(here.paths.witness) is None:
        what = "nothing says how old the vault should be: an old copy of it would not be noticed"
        yield warn("vault", what, "reticent unlock: it writes that down")


def policy(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with the policy, and what in it does nothing."""
    place = here.paths.policy
    if not os.path.lexists(place):
        fix = f'write one line into {place}: preset = "balanced"'
        yield warn("policy", "there is none, so nothing is attached to any request", fix)
        return
    try:
        rules = load(place)
    except PolicyError as error:
        for each in error.problems:
            key = f"{each.key}: " if each.key else ""
            yield bad("policy", f"{place}:{each.line}: {key}{each.what}", each.hint)
        return
    except UsageError as error:
        yield bad("policy", error.what, error.hint)
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
    for name in sorted(_asked_for(rules) - {*shelf.names()}):
        what = f"the policy asks for the model {name!r}, which is not there"
        yield bad("models", what, f"reticent model add {name}.safetensors")


def _problem(header: bytes) -> Finding | None:
    """Return what the first bytes of a file say against its being a vault of ours."""
    application = int.from_bytes(header[APPLICATION], "big")
    version = int.from_bytes(header[VERSION], "big")
    if header[: len(MAGIC)] != MAGIC or application != APPLICATION_ID:
        return bad("vault", "the file is damaged, or not a vault", RESTORE)
    if version != FORMAT:
        age, fix = ("newer", "install a newer reticent")
        if version < FORMAT:
            age, fix = ("older", "open it with the reticent that made it")
        return bad("vault", f"it is in format {version}, {age} than this version reads", fix)
    return None


def _notes(here: Machine, rules: Policy) -> Iterator[Finding]:
    """Yield what in a valid policy has no effect."""
    names = _names(here, rules)
    spelt = {*misspelt(rules, names)}
    for each in audit(rules, names, here.now.date()):
        if each in spelt or each.key.endswith("expires"):
            where = f"{here.paths.policy}:{each.line}: {each.key}"
            yield warn("policy", f"{where}: {each.what}", each.hint)


def _names(here: Machine, rules: Policy) -> tuple[str, ...]:
    """Return the names of all attributes of the models that can be used."""
    usable = Shelf(here.paths.models).usable(rules.trusted_keys, here.now)
    return tuple(sorted({attribute.name for model in usable for attribute in model.attributes}))


def _asked_for(rules: Policy | None) -> set[str]:
    return (
        {str(rule.settings["model"]) for rule in rules.rules if "model" in rule.settings}
        if rules
        else set()
    )


def _rules(here: Machine) -> Policy | None:
    """Return the policy, None where there is none that is valid."""
    try:
        return load(here.paths.policy)
    except ReticentError:
        return None
