"""`reticent calibrate`: what a person wants in return for being known, from their own answers."""

from math import isfinite
from pathlib import Path

import click

from agent.cli.answers import read_answers
from agent.cli.asked import agree
from agent.cli.calibration_text import calibration_record, calibration_text
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record, yes_option
from agent.cli.policy_options import model_option, own_policy
from agent.cli.problems import printable, told
from agent.daemon.policing.calibrated import into_policy, message
from agent.decision.calibration import Calibration, calibrated
from agent.model.file import read
from agent.model.shipped import shipped_model


@click.command()
@click.option(
    "--answers",
    "files",
    type=PATH,
    required=True,
    multiple=True,
    metavar="FILE",
    help="Answers, as below. Of several files the medians count.",
)
@model_option
@click.option("--write", is_flag=True, help="Write it into your own policy, after asking.")
@yes_option
@json_option
def calibrate(
    files: tuple[Path, ...], model: Path | None, *, write: bool, yes: bool, as_json: bool
) -> None:
    """Turn answers about your privacy into λ and into sensitivities, in bits.

    FILE is TOML. Answer for the attribute, never because of your own value of it.

    \b
    [improvement]   # for sharing something so sensitive, a search must improve
    1 = "25%"       # by 25%, 50%, 100%, be four times (4x) as fast, or: never
    [sensitivity]   # of attributes, from 1 (hardly) to 5 (highly sensitive)
    region = 2
    [one_of]        # the same of being known to be one of so many people
    1000 = 1
    """  # noqa: D301  (click's mark for lines that are kept)
    meant = read(model or shipped_model())
    found = calibrated([read_answers(file, meant) for file in files], meant)
    said = message(found)
    click.echo(record(calibration_record(said)) if as_json else calibration_text(said))
    if write:
        _write(found, yes=yes)


def _write(found: Calibration, *, yes: bool) -> None:
    """Write a calibration into the user's own policy, once they agree."""
    path = own_policy()
    if not yes:
        click.echo(paragraph(f"\nThis goes into {printable(str(path))}."), err=True)
    agree("Write λ and the sensitivities into the policy?", yes=yes)
    into_policy(path, found)
    told(f"Written into {path}.")
    if not all(map(isfinite, found.sensitivity.values())):
        told("What you would never share is ruled never there.")
