"""`reticent policy try`: what a policy would have disclosed for past requests."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict, Unpack

import click
import msgspec
from msgspec import Meta, Struct

from agent.cli.interrupt import Progress
from agent.cli.options import PATH, json_option, record
from agent.cli.policy import noted, read_policy
from agent.cli.printing import GAP, INDENT, WIDTH, Column, facts, paragraph, strong, table
from agent.cli.terms import expect_shipped, read_values
from agent.decision.replay import (
    Compared,
    Counts,
    Outcome,
    Past,
    Shares,
    Summary,
    Worlds,
    replay,
    summary_of,
    worlds_of,
)
from agent.errors import UsageError, nearest
from agent.files import read_bytes
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.model.signature import trusted
from agent.words.figures import bits, people
from policy.hosts import host_of
from policy.match import Rulebook
from policy.rules import Policy

LARGEST = 1 << 28  # bytes
EARLIEST = 1970  # there is no week before the first year
BOM = b"\xef\xbb\xbf"
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile("Object missing required field `(.*)`")
_PLACED = re.compile(r" - at `\$\.(\w+)")
FORMS = {
    "at": ("this is no time with a zone", "write it as in 2026-03-02T09:14:00+01:00"),
    "recipient": ("this is no text", 'write a host in quotes, as in "books.example"'),
    "query": ("this is no text", "write what was asked in quotes"),
    "asked": ("this is no list of names", "write names of attributes in [ ], or null"),
    "disclosed": ("these are no names with values", 'write them as in {"region": "uk"}'),
}
NOTHING = "The history is empty: there is nothing to try the policy on."
COLUMNS = (
    Column("when"),
    Column("recipient"),
    Column("query"),
    Column("bits", right=True),
    Column("people left", right=True),
)
FRAME = len(INDENT) + len("2026-03-02") + len(GAP) * (len(COLUMNS) - 1)
DETAIL = " " * 6


class Tried(NamedTuple):
    """A replayed history; ``sorted``: whether its lines had stood in another order."""

    outcomes: tuple[Outcome, ...]
    summary: Summary
    worlds: Worlds
    sorted: bool


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line as it is written."""

    at: Annotated[datetime, Meta(tz=True)]
    recipient: str
    query: str
    asked: list[str] | None
    disclosed: dict[str, str]


class History(NamedTuple):
    """Requests in order of time; ``sorted``: whether the lines stood in another order."""

    requests: tuple[Past, ...]
    sorted: bool


_DECODER = msgspec.json.Decoder(_Line)


def read_history(path: Path, model: Model) -> History:
    """Return the requests in a file, sorted by time; of equal times the order of the lines holds.

    UsageError, with the line and the field, where one cannot be read or names what the model has
    not. Lines of white space are passed over.
    """
    lines = read_bytes(path, LARGEST).removeprefix(BOM).split(b"\n")
    requests = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                requests.append(_past(line, model))
            except UsageError as error:
                where = f"{path}:{number}" + (f": {error.where}" if error.where else "")
                raise UsageError(error.what, error.hint, where) from None
    ordered = sorted(requests, key=lambda past: past.at)
    return History(tuple(ordered), ordered != requests)


def _past(line: bytes, model: Model) -> Past:
    try:
        read = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(error) from None
    if read.at.year < EARLIEST:
        hint = f"write a time from {EARLIEST} on"
        raise UsageError(f"{read.at.isoformat()} is too long ago", hint, "at")
    return Past(
        read.at,
        _checked_host(read.recipient),
        read.query,
        None
        if read.asked is None
        else frozenset(_name(each, "asked", model) for each in read.asked),
        tuple((name, _code(name, value, model)) for name, value in read.disclosed.items()),
    )


def _checked_host(recipient: str) -> str:
    """Return the recipient as it is written; UsageError where it is no host."""
    try:
        host_of(recipient)
    except UsageError as error:
        raise UsageError(error.what, error.hint, "recipient") from None
    return recipient


def _name(name: str, field: str, model: Model) -> str:
    try:
        model.index(name)
    except UsageError as error:
        raise UsageError(error.what, error.hint, field) from None
    return name


def _code(name: str, value: str, model: Model) -> int:
    attribute = model.attributes[model.index(_name(name, "disclosed", model))]
    try:
        return attribute.code(value)
    except UsageError as error:
        raise UsageError(error.what, error.hint, "disclosed") from None


def _unreadable(error: Exception) -> UsageError:
    """Return in our own words why a line is no request."""
    hint = f"a line is one object with {', '.join(_Line.__struct_fields__)}"
    message = str(error)
    if unknown := _UNKNOWN.search(message):
        name = unknown[1]
        near = nearest(name, _Line.__struct_fields__)
        return UsageError(f"unknown key {name!r}", f"did you mean {near!r}?" if near else hint)
    if missing := _MISSING.search(message):
        return UsageError("it is missing", hint, missing[1])
    if not isinstance(error, msgspec.ValidationError):
        return UsageError("this is no JSON", hint)
    if placed := _PLACED.search(message):
        return UsageError(*FORMS[placed[1]], placed[1])
    return UsageError("this is no object", hint)


def try_record(tried: Tried) -> dict[str, Any]:
    """Return a replayed history in JSON's own types."""
    return {
        "requests": [_request(outcome) for outcome in tried.outcomes],
        "summary": _summary_record(tried),
    }


def _request(outcome: Outcome) -> dict[str, Any]:
    past = outcome.past
    return {
        "at": past.at.isoformat(),
        "recipient": past.recipient,
        "host": outcome.host,
        "pool": outcome.pool,
        "query": past.query,
        "matched_query": outcome.matched_query,
        "bits_was": outcome.bits.was,
        "bits_would_be": outcome.bits.would_be,
        "people_left_was": outcome.people_left.was,
        "people_left_would_be": outcome.people_left.would_be,
        "newly_disclosed": _shares(outcome.newly_disclosed),
        "newly_withheld": _shares(outcome.newly_withheld),
        "would_have_asked": _shares(outcome.would_ask),
        "expected": outcome.expected,
    }


def _summary_record(tried: Tried) -> dict[str, Any]:
    summary, bits = tried.summary, tried.summary.bits
    return {
        "requests": summary.requests,
        "changed": summary.changed,
        "would_have_asked": summary.asking,
        "mean_bits_was": None if bits is None else bits.was,
        "mean_bits_would_be": None if bits is None else bits.would_be,
        "pools": [
            {
                "pool": each.pool,
                "requests": each.requests,
                "people_left_was": each.people_left.was,
                "people_left_would_be": each.people_left.would_be,
            }
            for each in summary.pools
        ],
        "newly_disclosed": _counts(summary.newly_disclosed),
        "newly_withheld": _counts(summary.newly_withheld),
        "expected": summary.expected,
        "worlds": len(tried.worlds.rows),
        "like_the_history": tried.worlds.alike,
        "sorted": tried.sorted,
    }


def _shares(shares: Shares) -> list[dict[str, Any]]:
    return [{"name": name, "share": share} for name, share in shares]


def _counts(counts: Counts) -> list[dict[str, Any]]:
    return [{"name": name, "requests": count} for name, count in counts]


def try_text(tried: Tried) -> str:
    """Return all that there is to say about a replayed history, in 80 columns."""
    if not tried.outcomes:
        return NOTHING
    parts = [strong(paragraph(_headline(tried)))]
    notes = [*_notes(tried)]
    if notes:
        parts.append(paragraph(" ".join(notes)))
    parts += [_requests(tried.outcomes), _summary(tried)]
    return "\n\n".join(parts)


def _headline(tried: Tried) -> str:
    summary = tried.summary
    if not summary.changed:
        return "Nothing would change: each request would have carried what it did."
    of = f"{summary.changed} of {summary.requests}"
    changed = f"{of} requests would have carried something else"
    was, would_be = summary.bits or (0.0, 0.0)
    return f"{changed}: {bits(would_be)} bits on average, where it was {bits(was)}."


def _notes(tried: Tried) -> Iterator[str]:
    """Yield what has to be known to read the figures."""
    if tried.sorted:
        yield "The lines of the history were not in order of time, and were sorted."
    if not tried.summary.expected:
        return
    count = len(tried.worlds.rows)
    if not tried.worlds.alike:
        yield "The model knows nobody like the history."
    who = "who agree with the rest" if tried.worlds.alike else "drawn evenly from all of it"
    whose = "one person" if count == 1 else f"{count} people"
    yield (
        f"Some values stand neither in the history nor in a profile: they are those of {whose} of "
        f"the model {who}, figures are means, and a percentage is the share of these people."
    )


def _requests(outcomes: tuple[Outcome, ...]) -> str:
    """Return a row for each request, with what would differ below it."""
    figures = [_figures(each) for each in outcomes]
    titles = tuple(column.title for column in COLUMNS[-2:])
    room = WIDTH - FRAME - sum(max(map(len, cells)) for cells in zip(titles, *figures, strict=True))
    recipient = min(room // 2, max(len(each.host) for each in outcomes))
    recipient = max(recipient, len("recipient"))
    rows = [
        (
            each.past.at.date().isoformat(),
            _shortened(each.host, recipient),
            _shortened(each.past.query, room - recipient),
            *cells,
        )
        for each, cells in zip(outcomes, figures, strict=True)
    ]
    title, *lines = table(COLUMNS, rows).splitlines()
    below = ([line, *_details(each)] for line, each in zip(lines, outcomes, strict=True))
    return "\n".join([title, *chain.from_iterable(below)])


def _figures(outcome: Outcome) -> tuple[str, str]:
    was, would_be = outcome.bits
    return _change(bits(was), bits(would_be)), _people(outcome.people_left)


def _people(left: Compared) -> str:
    return _change(people(left.was), people(left.would_be))


def _change(was: str, would_be: str) -> str:
    return was if was == would_be else f"{was} -> {would_be}"


def _details(outcome: Outcome) -> Iterator[str]:
    """Yield lines for what the policy changes about one request."""
    for label, shares in (
        ("newly disclosed", outcome.newly_disclosed),
        ("newly withheld", outcome.newly_withheld),
        ("would have asked", outcome.would_ask),
    ):
        if shares:
            yield _detail(label, shares)


def _detail(label: str, shares: Shares) -> str:
    first = f"{DETAIL}{label:<16}  "
    named = (name if share == 1 else f"{name} ({share:.0%})" for name, share in shares)
    after = " " * len(first)
    return textwrap.fill(", ".join(named), WIDTH, initial_indent=first, subsequent_indent=after)


def _shortened(text: str, width: int) -> str:
    """Return a text in one line of so many columns, in which nothing steers the terminal."""
    line = "".join(each if each.isprintable() else " " for each in " ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 3]}..."


def _summary(tried: Tried) -> str:
    summary = tried.summary
    was, would_be = summary.bits or (0.0, 0.0)
    lines = [
        ("mean bits", _change(bits(was), bits(would_be))),
        ("changed", f"{summary.changed} of {summary.requests} requests"),
        ("would have asked", f"for {summary.asking} of {summary.requests} requests"),
        ("newly disclosed", _counted(summary.newly_disclosed)),
        ("newly withheld", _counted(summary.newly_withheld)),
    ]
    lines += [
        ("people left", f"{each.pool}: {_people(each.people_left)}") for each in summary.pools
    ]
    return f"{strong('In the end')}\n{facts(lines)}"


def _counted(counts: Counts) -> str:
    """Return attributes, with the number of requests where it is more than one."""
    if not counts:
        return "nothing"
    return ", ".join(name if count == 1 else f"{name} ({count}x)" for name, count in counts)


class TryOptions(TypedDict):
    """The options of `reticent policy try`, as click hands them over."""

    file: Path
    history: Path
    profile: Path | None
    model: Path | None
    as_json: bool


@click.command("try")
@click.argument("file", type=PATH)
@click.option(
    "--history",
    type=PATH,
    required=True,
    metavar="L.jsonl",
    help="Past requests, a JSON object a line (policy/FORMAT.md); sorted by time.",
)
@click.option(
    "--profile",
    type=PATH,
    metavar="P.toml",
    help='Your values, attribute = "value"; what is not there is not set.',
)
@click.option(
    "--model",
    type=PATH,
    metavar="M",
    help="The model's file. By default the one that comes with reticent.",
)
@json_option
def try_(**options: Unpack[TryOptions]) -> None:
    """Replay past requests under a policy file, and show what would differ.

    Each recipient is taken to hold what this policy would have disclosed to it before. What waits
    for you counts as withheld. Values that neither history nor profile has are taken from people
    of the model who agree with the rest, and figures are then means.
    """
    rules = read_policy(options["file"])
    model = (
        read(shipped_model())
        if options["model"] is None
        else trusted(options["model"], rules.trusted_keys)
    )
    history = read_history(options["history"], model)
    if options["model"] is None:
        _expect_shipped(rules, history.requests)
    profile = None if options["profile"] is None else read_values(options["profile"], model)
    worlds = worlds_of(history.requests, model, profile)
    noted(rules, [each.name for each in model.attributes])
    outcomes = _replayed(history.requests, rules, model, worlds)
    tried = Tried(outcomes, summary_of(outcomes), worlds, history.sorted)
    if options["as_json"]:
        click.echo(record(try_record(tried)))
    else:
        click.echo(try_text(tried))


def _expect_shipped(rules: Policy, requests: Sequence[Past]) -> None:
    """Refuse a history for part of which the policy asks for a model that is not named."""
    rulebook = Rulebook(rules, ())
    for past in requests:
        expect_shipped(rulebook.match(past.recipient, past.query, past.at.date()).settings)


def _replayed(
    requests: Sequence[Past], rules: Policy, model: Model, worlds: Worlds
) -> tuple[Outcome, ...]:
    with Progress() as progress:
        outcomes = []
        for outcome in replay(requests, rules, model, worlds):
            outcomes.append(outcome)
            progress("replaying", len(outcomes) / len(requests))
    return tuple(outcomes)
