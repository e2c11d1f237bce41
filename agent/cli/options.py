"""What many commands share: options, a type of argument, and how an answer becomes JSON."""

import json
from pathlib import Path

import click
import msgspec

PATH = click.Path(path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Of chance.",
)


def record(message: object) -> str:
    """Return a message, or plain types that hold some, as one JSON object of ASCII."""
    return json.dumps(msgspec.to_builtins(message), indent=2, allow_nan=False)
