"""`reticent lab`: studies that anybody can run again."""

from collections.abc import Mapping
from typing import ClassVar

import click

from agent.cli.groups import Commands, Deferred


class LabCommands(Commands):
    """The studies; each is in a module of its own."""

    deferred: ClassVar[Mapping[str, Deferred]] = {
        "attack": Deferred(
            "agent.cli.lab_attack", "Attack the agent, and weigh what it gives away."
        ),
        "paper": Deferred(
            "agent.cli.lab_paper", "Draw the paper's results, from a model or a log."
        ),
        "synth": Deferred("agent.cli.lab_synth", "Write a synthetic log of the paper's size."),
    }


@click.group(cls=LabCommands)
def lab() -> None:
    """Run the studies behind reticent again, on your own machine."""
