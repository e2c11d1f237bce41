"""`reticent policy calibrate`: a person's own prices, in bits, from their answers."""

import tomllib
from math import isfinite
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from agent.cli.options import PATH, json_option, option, record, yes_option
from agent.cli.policy import model_option, own_policy
from agent.cli.printing import Column, numeric, paragraph, strong, table, told
from agent.cli.prompts import agree
from agent.daemon.policy_api import calibrated_message, into_policy
from agent.decision.calibration import QUESTIONS, PersonAnswers, answers_of, calibrated
from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.wire.decide import Calibrated
from agent.words.figures import counted

LARGEST = 1 << 20  # bytes
TITLES = {"precision": "sharing", "one_of": "being one of"}
NAMES = {"trade_off": "lambda", "metric": "cost"}  # as the options and the policy call them
UNFITTED = (
    "λ: not fitted, for no answer about being recognised has a price. Answer [one_of] for more "
    "numbers of people, or leave λ as it is."
)
NEVER = (
    "What you would never allow has no price, and λ ignores it. A limit keeps it: `k` or `risk` in "
    "the policy."
)
ANSWERS = "PersonAnswers, as below. Of several files the medians count."
HEADS = ("identifiability", "bits wanted", "on the line", "off by")


def read_answers(path: Path, model: Model) -> PersonAnswers:
    """Return the answers in a file; UsageError, with the nearest, for what nobody asked."""
    try:
        document = tomllib.loads(read_bytes(path, LARGEST).decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        hint = "write lines such as region = 2"
        raise UsageError("this is not valid TOML", hint, str(path)) from None
    for key, value in document.items():
        if key not in QUESTIONS:
            error = UsageError.unknown("key", key, QUESTIONS)
            raise UsageError(error.what, error.hint, str(path))
        if not isinstance(value, dict):
            raise UsageError(f"{key!r} is not a table", f"write it as [{key}]", str(path))
    try:
        return answers_of({key: document.get(key, {}) for key in QUESTIONS}, model)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(path)) from None


def calibration_text(found: Calibrated) -> str:
    """Return the page: λ with the fit behind it, and what each attribute must bring."""
    parts = []
    if found.people > 1:
        parts.append(f"Medians of {counted(found.people, 'person', 'people')}.")
    if found.trade_off is None or found.rms_residual_bits is None:
        parts.append(paragraph(UNFITTED))
    else:
        fitted = f"λ = {found.trade_off:.4g} bits for being recognised with certainty"
        off = f"{found.rms_residual_bits:.2f} bits (root mean square)"
        parts.append(f"{strong(fitted)}\nA line through the origin; it is off by {off}.")
    rows = []
    for pair in found.pairs:
        name = f"{int(pair.name):,}" if found.source == "one_of" else pair.name
        line = off = ""
        if found.trade_off is not None:
            line = f"{found.trade_off * pair.identifiability:.2f}"
            off = "" if pair.residual_bits is None else f"{pair.residual_bits:+.2f}"
        rows.append((name, f"{pair.identifiability:.3g}", _bits(pair.wanted_bits), line, off))
    heads = (numeric(title) for title in HEADS)
    parts.append(table([Column(TITLES[found.source]), *heads], rows))
    if any(pair.wanted_bits is None for pair in found.pairs):
        parts.append(paragraph(NEVER))
    if found.sensitivity:
        sensitive = [(name, _bits(bits)) for name, bits in found.sensitivity.items()]
        columns = [Column("attribute"), numeric("bits")]
        parts.append(f"{strong('What an attribute must bring')}\n{table(columns, sensitive)}")
    return "\n\n".join(filter(None, parts))


def calibration_record(found: Calibrated) -> dict[str, Any]:
    """Return the same in JSON's types; null for what is never shared, and where nothing fits.

    Whether it is written is not in it, since it is printed before.
    """
    fields = to_builtins(found)
    return {NAMES.get(key, key): value for key, value in fields.items() if key != "written"}


def _bits(bits: float | None) -> str:
    return "never" if bits is None else f"{bits:.2f}"


@click.command()
@option("--answers files", PATH, "FILE", ANSWERS, required=True, multiple=True)
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
    message = calibrated_message(found)
    click.echo(record(calibration_record(message)) if as_json else calibration_text(message))
    if not write:
        return
    path = own_policy()
    if not yes:
        told(f"This goes into {path}.")
    agree("Write λ and the sensitivities into the policy?", yes=yes)
    into_policy(path, found)
    told(f"Written into {path}.")
    if not all(map(isfinite, found.sensitivity.values())):
        told("What you would never share is ruled never there.")
