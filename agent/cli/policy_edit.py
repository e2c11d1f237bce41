"""Change what a policy rules: `set`, `block` and `calibrate`."""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date
from functools import partial
from math import isfinite, log2
from pathlib import Path
from typing import Any

import click
import numpy as np
from msgspec import Struct

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import (
    PATH,
    QUERY,
    Output,
    answers,
    json_option,
    once,
    option,
    pair,
    record,
    today,
    yes_option,
)
from agent.cli.policy import (
    check_policy,
    have_taken,
    installed_models,
    model_option,
    noted,
    other_populations,
    own_policy,
    policy_option,
    read_model,
    written,
)
from agent.cli.printing import Column, note, paragraph, say, table
from agent.cli.prompts import agree
from agent.daemon.instructions import overriding_rules
from agent.daemon.policy_file import Change, Check, Edit, rewrite
from agent.decision.topics import attributes_of
from agent.decision.values import CROWD
from agent.errors import PolicyError, ReticentError, UsageError
from agent.files import read_bytes
from agent.model.model import Model
from agent.tradeoff.study import IMPROVEMENTS, fit
from agent.wire.base import Done, RecipientName
from agent.wire.decide import Allowed
from agent.wire.policy import Edited, Tried, TryPolicy, Win
from agent.words.figures import bits, counted, demand, listed, number, whom
from agent.words.titles import Titles, titled
from policy import amend
from policy.read import load, preset, read, shipped_text
from policy.rules import Policy
from policy.settings import LEVELS, SETTINGS, Value

BLOCKED = "{} gets nothing from now on, under any of its names, by a rule in the policy."
UNBLOCKED = "{} is treated like others again from now on."
NOT_BLOCKED = "{} was not blocked, so nothing was changed."
STILL = "{} still gets nothing, by {}, which is not for it alone: change it by hand."

KIND_HELP = "For one recipient, a group, any assistant, any search engine or any other site."
LARGEST = 1 << 20  # bytes
QUESTIONS = ("sensitivity", "one_of")
LONGEST_NUMBER = 10  # digits, of a number of people
WRITTEN_DIGITS = 4  # of a price: answers in five words are no more exact
PRICE = "anonymity_price"
LATEST, MOST_FACTS = 40, 8  # requests that a price is tried on; facts that they carry, in a line
UNFITTED = "Price of anonymity: not fitted. Answer [one_of] for more numbers of people."
NEVER = "What you would never allow has no price. A limit keeps it: `k` or `risk` in the policy."


def day(text: str) -> date:
    """Parse a date; UsageError if it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date", "write it as 2027-03-01") from None


@click.command("set")
@click.argument("pairs", nargs=-1, required=True, metavar="KEY=VALUE...")
@option("--recipient", str, "HOST|GROUP|KIND", KIND_HELP)
@option("--attribute", str, "NAME", "For one attribute, or a pattern.")
@option("--query", QUERY, "WORDS", "For queries with these words; - reads the standard input.")
@option("--expires", day, "DATE", "Through this day, as 2027-03-01.")
@policy_option
@answers
def set_(pairs: tuple[str, ...], file: Path, **scope: Any) -> Output:  # noqa: ANN401  (of the options)
    """Change a setting in a policy, for all requests or only for those that you name.

    KEY= takes a setting out, and a rule that has no other. Comments stay. Nothing is written if the
    result would not be a valid policy. Rules that still win over the new one are listed.
    sensitivity= takes bits, or whom you would tell: anybody, "most people", "some people",
    "few people" or nobody.
    """
    where, models = amend.scope(**scope), installed_models()
    titles = {each.name: each.title for one in reversed(models) for each in one.attributes}
    parts = ((each[:-1], "") if each.endswith("=") else pair(each) for each in pairs)
    given = once("KEY=VALUE", [*parts])
    for key, text in given.items():
        if key not in SETTINGS and key in titles:
            hint = f"write disclose={text} --attribute {key}"
            raise UsageError(f"{key!r} is an attribute, not a setting", hint)
    removed = {amend.checked_key(key): None for key, text in given.items() if not text}
    values = {key: amend.value_of(key, text) for key, text in given.items() if text}
    if values:
        amend.check_day(where, today())

    change = partial(amend.edited, where=where, new={**values, **removed})
    edit = _rewritten(file, change, lambda new: check_policy(new, models))
    noted(edit.after, models)
    moves = "population" in given and file == own_policy()
    for each in other_populations(edit.after, models[0]) if moves else ():
        note(each)
    attributes = attributes_of(models, models)
    wins = overriding_rules(edit.after, where, values, attributes, today())
    return _outcome(edit, {**values, **removed}, wins, titles)


def _rewritten(path: Path, change: Change, check: Check = lambda _: None) -> Edit:
    """Change a policy file; else show all that is wrong with it, or would be."""
    load(path)
    try:
        edit = rewrite(path, change, check)
    except UsageError as error:
        if isinstance(error.__cause__, PolicyError):
            note("this is what the policy would be, and nothing was written")
            raise error.__cause__ from None
        raise
    have_taken(path)
    return edit


def _outcome(
    edit: Edit,
    values: Mapping[str, Value | None],
    wins: list[Win],
    titles: Titles,
) -> Output:
    """Say what stands in the file now, None for what was removed, and what still wins over it."""
    done, file = "Written" if edit.changed else "Unchanged", edit.after.source
    texts = list[str]()
    for key, value in values.items():
        removal = f"{key} is removed from {file}."
        stands = None if value is None else f"{done}: {key} = {written(value, key)} in {file}."
        texts.append(stands or removal)
    grouped: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for win in wins:
        source = f"{win.rule} (line {win.line})" if win.line else win.rule.partition(",")[0]
        grouped[win.key, written(win.value), source] += titled(win.names, titles)
    for (key, text, source), names in grouped.items():
        of = f" of {', '.join(names)}" if names else ""
        texts.append(f"Overridden by: {key} {text}{of}, from {source}.")
    return Output(Edited(changed=edit.changed, wins=wins), "\n".join(map(paragraph, texts)))


@click.command()
@click.argument("recipient", metavar="HOST")
@click.option("--undo", is_flag=True, help="Treat HOST like others again.")
@answers
def block(recipient: str, *, undo: bool) -> Output:
    """Send nothing more to HOST, from the next request on.

    The block is written into the policy, and covers whatever counts as one recipient with HOST: all
    domains of its company, and its group. They keep what they already know.
    """
    with door() as client:
        if not undo:
            done: Done = client.call("refuse", RecipientName(recipient=recipient))
            return Output(done, paragraph(BLOCKED.format(recipient)))
        lifted: Allowed = client.call("allow", RecipientName(recipient=recipient))
    text = (UNBLOCKED if lifted.done else NOT_BLOCKED).format(recipient)
    if lifted.rule is not None:
        text = STILL.format(recipient, repr(lifted.rule))
    return Output(lifted, paragraph(text))


class Calibration(Struct, frozen=True, kw_only=True):
    """The prices that answers imply, in bits.

    ``anonymity_price``: as near as the presets go, None where no answer has a price; ``fitted``:
    what the answers alone say, and ``error_bits`` the root mean square of what they are off the
    line. ``one_of``, ``sensitivity``: wanted, by number of people and by attribute, None for what
    is never shared.
    """

    anonymity_price: float | None = None
    fitted: float | None = None
    error_bits: float | None = None
    one_of: dict[str, float | None]
    sensitivity: dict[str, float | None]


def calibrated(answers: Mapping[str, Any], model: Model) -> Calibration:
    """Fit a price to what a person wants for being one of k people, whose identifiability is 1/k.

    ``answers``: to the QUESTIONS, each one of IMPROVEMENTS, of which a factor x is log2 x bits
    (paper 7.2), or whom one would tell an attribute. UsageError, with the nearest name, for an
    unknown question or an invalid answer, and where there is no answer at all.
    """
    wanted: dict[str, dict[str, float | None]] = {each: {} for each in QUESTIONS}
    offered = {text: log2(factor) for text, factor in IMPROVEMENTS.items()}
    for question, answered in answers.items():
        if question not in QUESTIONS:
            raise UsageError.unknown("key", question, QUESTIONS)
        if not isinstance(answered, dict):
            raise UsageError(f"{question!r} is not a table", f"write it as [{question}]")
        choices = {**offered, **(LEVELS if question == "sensitivity" else {})}
        for name, answer in answered.items():
            digits = name.isascii() and name.isdecimal() and len(name) <= LONGEST_NUMBER
            if question == "sensitivity":
                model.index(name)
            elif not digits or name.startswith("0"):
                hint = "write a whole number from 1, without signs, as in 1000 = '25%'"
                raise UsageError(f"{name!r} is not a number of people", hint)
            if not isinstance(answer, str) or answer not in choices:
                raise UsageError.unknown("answer", str(answer), choices)
            wanted[question][name] = choices[answer] if isfinite(choices[answer]) else None
    if not any(wanted.values()):
        raise UsageError("no question is answered", "answer sensitivity, one_of, or both")
    priced = {k: bits for k, bits in wanted["one_of"].items() if bits is not None}
    line = fit(np.array([1 / int(k) for k in priced]), np.array([*priced.values()]))
    if line is None:
        return Calibration(one_of=wanted["one_of"], sensitivity=wanted["sensitivity"])
    fitted, off = line[0] / CROWD, line[1]
    within = min(max(fitted, price_of("generous")), price_of("strict"))
    return Calibration(anonymity_price=within, fitted=fitted, error_bits=off, **wanted)


def price_of(name: str) -> float:
    """Look up the price of anonymity that a preset sets, in bits."""
    return next(float(each.settings[PRICE]) for each in preset(name) if PRICE in each.settings)


def calibration_text(result: Calibration) -> str:
    """Lay out the price with the fit behind it, and what each attribute must bring."""
    text, cost = UNFITTED, result.anonymity_price
    if cost is not None and result.fitted is not None:
        beyond = "" if cost == result.fitted else ", further than any preset goes"
        text = f"Price of anonymity: {number(cost)} bits, so {demand(CROWD * cost)}. Your answers "
        off = f"they are {bits(result.error_bits)} bits off"
        text += f"give {number(result.fitted)}{beyond}; {off}."
    never = NEVER if None in result.one_of.values() else ""
    rows = [
        (name, "never" if bits is None else written(bits, "sensitivity"))
        for name, bits in result.sensitivity.items()
    ]
    prices = table([Column("attribute"), Column("must help by")], rows)
    return "\n\n".join(filter(None, [paragraph(text), paragraph(never), prices]))


def into_policy(text: str, policy: Policy, result: Calibration) -> str:
    """Return the text of a policy with a calibration in it, all else as it was."""
    prices: list[tuple[str | None, float | None]] = [*result.sensitivity.items()]
    if result.anonymity_price is not None:
        prices.append((None, result.anonymity_price))
    for name, price in prices:
        key, values = PRICE if name is None else "sensitivity", dict[str, Value](disclose="never")
        if price is not None:
            values = {key: amend.value_of(key, f"{price:.{WRITTEN_DIGITS}g}")}
        text = amend.with_settings(text, policy, amend.scope(None, name, None, None), values)
        policy = read(text, policy.source, preset)
    return text


def replayed(text: str) -> str:
    """Say what a policy would have sent with the latest requests in the ledger."""
    try:
        with door() as client:
            tried: Tried = client.call("try_policy", TryPolicy(text=text))
            titles = titles_of(client)
    except ReticentError as error:
        return f"Your past requests could not be tried with it: {error}."
    latest = tried.disclosed[-LATEST:]
    carried = [*filter(None, latest)]
    facts = Counter(titled([name for names in carried for name in names], titles))
    which = listed((f"{title} ({times})" for title, times in facts.most_common()), most=MOST_FACTS)
    many, some = counted(len(latest), "request"), which and f": {which}"
    return f"Of your last {many}, {len(carried)} would have carried something{some}."


def questions(model: Model) -> str:
    """Write the questions as TOML to fill in: about facts that not anybody would be told."""
    kinds = (each for each in model.attributes if not each.further)
    asked = (each for each in kinds if each.sensitivity > LEVELS["anybody"])
    lines = [f'# {each.name} = "{whom(each.sensitivity)}"  # {each.title}' for each in asked]
    return shipped_text("questions.toml").replace("# FACTS", "\n".join(lines)).rstrip()


@click.command()
@option("--answers file", PATH, "FILE", "Your answers. Without it, the questions are printed.")
@model_option
@click.option("--write", is_flag=True, help="Write it into your own policy, after asking.")
@yes_option
@json_option
def calibrate(
    file: Path | None, model: Path | None, *, write: bool, yes: bool, as_json: bool
) -> None:
    """Turn answers about your privacy into a price of anonymity and into sensitivities, in bits.

    Print the questions into a file, answer them there, and name the file:

    \b
    reticent policy calibrate > answers.toml
    reticent policy calibrate --answers answers.toml --write
    """  # noqa: D301  (click's mark for lines that are kept)
    used = read_model(model)
    if file is None:
        click.echo(questions(used))
        return
    try:
        document = tomllib.loads(read_bytes(file, LARGEST).decode("utf-8-sig"))
        result = calibrated(document, used)
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        raise UsageError("not valid TOML", "write lines such as 1000 = '25%'", str(file)) from None
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(file)) from None
    click.echo(record(result) if as_json else calibration_text(result))
    if not write:
        return
    path = own_policy()

    def change(text: str, policy: Policy) -> str:
        text = into_policy(text, policy, result)
        say(paragraph(replayed(text)))
        agree(f"Write this price and the sensitivities into {path}?", yes=yes)
        return text

    _rewritten(path, change)
    say(f"Written into {path}.")
    if None in result.sensitivity.values():
        say("What you would never share is ruled never there.")
