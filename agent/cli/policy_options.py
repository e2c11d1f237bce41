"""The options that the commands about policies share."""

from collections.abc import Sequence
from pathlib import Path

import click

from agent.cli.options import PATH
from agent.cli.problems import note
from agent.files import check_ours
from agent.model.file import read
from agent.model.shipped import shipped_model
from agent.paths import paths
from policy.audit import misspelt
from policy.careful import careful
from policy.load import load
from policy.rules import Policy


def own_policy() -> Path:
    """Return where the policy lies that the daemon follows."""
    return paths().policy


def read_policy(file: Path) -> Policy:
    """Return the policy in a file; one's own only where nobody else could have written it.

    UsageError where it cannot be read, PolicyError where it is wrong.
    """
    return load(file, check_ours if file == own_policy() else None)


policy_option = click.option(
    "--policy",
    "file",
    type=PATH,
    default=own_policy,
    metavar="FILE",
    help="The policy file. By default your own.",
)
model_option = click.option(
    "--model",
    type=PATH,
    metavar="M",
    help="The model whose attributes are meant. By default the one that comes with reticent.",
)


def noted(policy: Policy, names: Sequence[str]) -> Policy:
    """Return the policy that keeps what is nearly named; what is misspelt is said on the way."""
    for each in misspelt(policy, names):
        note(f"{policy.source}:{each.line}: {each.what} ({each.hint})")
    return careful(policy, names)


def names_of(model: Path | None) -> tuple[str, ...]:
    """Return the names of the attributes of a model, by default of the shipped one."""
    return tuple(each.name for each in read(model or shipped_model()).attributes)
