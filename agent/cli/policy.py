"""`reticent policy`: check a policy file, see what it rules, and change a setting of it."""

from collections.abc import Mapping
from typing import ClassVar

import click

from agent.cli.groups import Commands, Deferred


class PolicyCommands(Commands):
    """The commands about policy files; each is in a module of its own."""

    deferred: ClassVar[Mapping[str, Deferred]] = {
        "check": Deferred("agent.cli.policy_check", "Say what is wrong with policy files."),
        "explain": Deferred("agent.cli.policy_explain", "Say which rules decide a request."),
        "rules": Deferred("agent.cli.policy_rules", "Show what the daemon follows, and when."),
        "set": Deferred("agent.cli.policy_set", "Set something in a policy file."),
        "show": Deferred("agent.cli.policy_show", "Show what holds, and where it comes from."),
        "try": Deferred("agent.cli.policy_try", "Show what a policy would have disclosed."),
        "unset": Deferred("agent.cli.policy_set", "Take something out of a policy file."),
    }


@click.group(cls=PolicyCommands)
def policy() -> None:
    """Check a policy file, see what it rules, and change it."""
