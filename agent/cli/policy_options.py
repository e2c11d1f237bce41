"""The options that the commands about policies share."""

from pathlib import Path

import click

from agent.model.file import read
from agent.model.shipped import shipped_model

PATH = click.Path(path_type=Path)
FILE = Path("policy.toml")

policy_option = click.option(
    "--policy",
    "file",
    type=PATH,
    default=FILE,
    show_default=True,
    metavar="FILE",
    help="The policy file.",
)
model_option = click.option(
    "--model",
    type=PATH,
    metavar="M",
    help="The model whose attributes are meant. By default the one that comes with reticent.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def names_of(model: Path | None) -> tuple[str, ...]:
    """Return the names of the attributes of a model, by default of the shipped one."""
    return tuple(each.name for each in read(model or shipped_model()).attributes)
