"""`reticent calibrate`: what a person wants in return for being known, from their own answers."""

import tomllib
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

import click

from agent.cli.answers import read_answers
from agent.cli.asked import agree
from agent.cli.calibration import METRIC, Calibration, calibrated
from agent.cli.calibration_text import calibration_record, calibration_text
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record, yes_option
from agent.cli.policy_options import model_option, own_policy
from agent.cli.problems import printable, told
from agent.daemon.policing.rewriting import rewrite
from agent.errors import UsageError
from agent.model.file import read
from agent.model.shipped import shipped_model
from policy.edit import with_attribute, with_setting
from policy.rules import Policy

DIGITS = 4  # of a number that is written: answers on a scale of five are no more exact


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
    page = record(calibration_record(found)) if as_json else calibration_text(found)
    click.echo(page)
    if write:
        _write(found, yes=yes)


def _write(found: Calibration, *, yes: bool) -> None:
    """Write a calibration into the user's own policy, once they agree."""
    path = own_policy()
    if not yes:
        click.echo(paragraph(f"\nThis goes into {printable(str(path))}."), err=True)
    agree("Write λ and the sensitivities into the policy?", yes=yes)
    rewrite(path, lambda text, policy: changed(text, policy, found))
    told(f"Written into {path}.")
    if not all(map(isfinite, found.sensitivity.values())):
        told("What you would never share is ruled never there.")


def changed(text: str, policy: Policy, found: Calibration) -> str:
    """Return the text of a policy with a calibration in it, and all else as it was.

    UsageError where the policy measures being recognised in another unit than λ was fitted to,
    and where what it says of an attribute will expire.
    """
    if found.fit is not None:
        _check_unit(policy)
        text = with_setting(text, "lambda", _rounded(found.fit.trade_off))
    entries = tomllib.loads(text).get("attributes", {})
    for name, bits in found.sensitivity.items():
        text = with_attribute(text, name, _entry(name, entries.get(name, {}), bits))
    return text


def _check_unit(policy: Policy) -> None:
    other = {str(rule.settings.get("cost", METRIC)) for rule in policy.rules} - {METRIC}
    if other:
        what = f"the policy has the cost {min(other)!r}, and λ was fitted to {METRIC!r}"
        raise UsageError(what, "take that line out, or write λ by hand", policy.source)


def _entry(
    name: str, entry: str | Mapping[str, str | float], bits: float
) -> dict[str, str | float]:
    """Return what `[attributes]` shall say of one attribute; what is ruled never stays so."""
    said = {"disclose": entry} if isinstance(entry, str) else dict(entry)
    if "expires" in said:
        what = f"what the policy says of {name} expires, and a sensitivity does not"
        raise UsageError(what, "give what expires a [[rule]] of its own")
    if not isfinite(bits):
        return {**said, "disclose": "never"}
    return {**said, "sensitivity": _rounded(bits)}


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
