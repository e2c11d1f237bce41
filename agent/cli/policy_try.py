"""`reticent policy try`: what a policy would have disclosed for past requests."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import click
import msgspec
from msgspec import Meta, Struct

from agent.cli.decide import expect_model
from agent.cli.interrupt import Progress
from agent.cli.options import PATH, Answer, answers, explain_option, option
from agent.cli.policy import MODEL_FILE, noted, read_model, read_policy, with_shipped
from agent.cli.printing import Column, facts, numeric, page, paragraph, strong, table, wide
from agent.decision import replay as replays
from agent.decision.locale import LOCALE
from agent.errors import UsageError, misfit, nearest
from agent.files import read_bytes
from agent.model.concepts import Concepts, meaning_of
from agent.model.file import read, shipped_models
from agent.model.model import Model
from agent.words.figures import bits, counted, people
from agent.words.titles import Titles
from policy.hosts import host_of
from policy.match import Rulebook

PROFILE = 'Your facts, attribute = "value". Facts that are not in it are never sent.'
LARGEST = 1 << 28  # bytes
EARLIEST = 1970  # there is no week before the first year
BOM = b"\xef\xbb\xbf"
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_NAMED = re.compile(rb'"model": *"([^"]+)"')
_PLACED = re.compile(r" - at `\$\.(\w+)")
HINTS = {
    "at": "write it as in 2026-03-02T09:14:00+01:00",
    "recipient": 'write a host in quotes, as in "books.example"',
    "query": "write what was asked in quotes",
    "asked": "write names of attributes in [ ], or null",
    "disclosed": 'write them as in {"region": "uk"}',
    "model": 'write the id of the model that decided, as in "atus"',
}
FIELDS = f"a line is one object with {', '.join(HINTS)}"
NOTHING = "The history is empty: there is nothing to try the policy on."
COLUMNS = (Column("when"), wide("recipient"), wide("query"), numeric("people left"))
BITS = numeric("bits more useful")
HISTORY = "Past requests, a JSON object a line (policy/FORMAT.md); sorted by time."
SHOWN = 60  # characters of a query


class HistoryLine(Struct, frozen=True, forbid_unknown_fields=True):
    """One line as it is written."""

    at: Annotated[datetime, Meta(tz=True)]
    recipient: str
    query: str
    asked: list[str] | None
    disclosed: dict[str, str]
    model: str = ""


class History(NamedTuple):
    """Requests in order of time; ``sorted``: whether the lines stood in another order."""

    requests: tuple[replays.PastRequest, ...]
    sorted: bool


_DECODER = msgspec.json.Decoder(HistoryLine)


def read_history(path: Path, models: Sequence[Model]) -> History:
    """Return the requests in a file, sorted by time; of equal times the order of the lines holds.

    ``models``: the first is tried; what others told stays as it was. UsageError, with the line and
    the field, where one cannot be read or names something absent from its model, the first if it
    names none. Blank lines are skipped.
    """
    lines = read_bytes(path, LARGEST).removeprefix(BOM).split(b"\n")
    requests = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                requests.append(_past(line, models))
            except UsageError as error:
                where = f"{path}:{number}" + (f": {error.where}" if error.where else "")
                raise UsageError(error.what, error.hint, where) from None
    ordered = sorted(requests, key=lambda past: past.at)
    return History(tuple(ordered), ordered != requests)


def _past(line: bytes, models: Sequence[Model]) -> replays.PastRequest:
    """Return the request on a line; UsageError, with the field, where it cannot be one."""
    try:
        read = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        placed, unknown = _PLACED.search(str(error)), _UNKNOWN.search(str(error))
        near = nearest(unknown[1], HINTS) if unknown else None
        what = f"unknown key {unknown[1]!r}" if unknown else misfit(error, "the line")
        hint = f"did you mean {near!r}?" if near else HINTS[placed[1]] if placed else FIELDS
        raise UsageError(what, hint) from None
    if read.at.year < EARLIEST:
        hint = f"write a time from {EARLIEST} on"
        raise UsageError(f"{read.at.isoformat()} is too long ago", hint, "at")
    field, tried = "recipient", models[0]
    try:
        host_of(read.recipient)
        field, by_id = "model", {each.id: each for each in models}
        if read.model and read.model not in by_id:
            raise UsageError.unknown("model", read.model, by_id)
        model = by_id[read.model] if read.model else tried
        field = "asked"
        for name in read.asked or ():
            model.index(name)
        field = "disclosed"
        codes = tuple(
            (name, model.attributes[model.index(name)].code(value))
            for name, value in read.disclosed.items()
        )
    except UsageError as error:
        raise UsageError(error.what, error.hint, field) from None
    asked, elsewhere = None if read.asked is None else frozenset(read.asked), None
    if model is not tried:
        persons = {each.name for each in model.attributes[: model.persons]}
        told = [pair for pair in read.disclosed.items() if pair[0] in persons]
        elsewhere = tuple(meaning_of(name, value, model) for name, value in told)
        known = (Concepts(models).code(each, tried) for each in elsewhere)
        codes = tuple(pair for pair in known if pair is not None)
    return replays.PastRequest(read.at, read.recipient, read.query, asked, codes, elsewhere)


def try_record(
    outcomes: Sequence[replays.Replayed], summary: replays.Summary, worlds: replays.Worlds
) -> dict[str, Any]:
    """Return a replayed history in JSON's own types."""
    return {
        "requests": [
            {
                "at": each.past.at.isoformat(),
                "recipient": each.past.recipient,
                "host": each.host,
                "pool": each.pool,
                "query": each.past.query,
                "matched_query": each.matched_query,
                **_compared("bits", each.bits),
                **_compared("people_left", each.people_left),
                "newly_disclosed": _named("share", each.newly_disclosed),
                "newly_withheld": _named("share", each.newly_withheld),
                "would_have_asked": _named("share", each.would_ask),
                "expected": each.expected,
            }
            for each in outcomes
        ],
        "summary": {
            "requests": summary.requests,
            "changed": summary.changed,
            "would_have_asked": summary.asking,
            **_compared("mean_bits", summary.bits or (None, None)),
            "pools": [
                {
                    "pool": each.pool,
                    "requests": each.requests,
                    **_compared("people_left", each.people_left),
                }
                for each in summary.pools
            ],
            "newly_disclosed": _named("requests", summary.newly_disclosed),
            "newly_withheld": _named("requests", summary.newly_withheld),
            "expected": summary.expected,
            "worlds": len(worlds.rows),
            "like_the_history": worlds.alike,
        },
    }


def _compared(name: str, figures: replays.Compared | tuple[None, None]) -> dict[str, float | None]:
    return dict(zip((f"{name}_was", f"{name}_would_be"), figures, strict=True))


def _named(of: str, pairs: replays.Shares | replays.Counts) -> list[dict[str, Any]]:
    return [{"name": name, of: number} for name, number in pairs]


def try_text(
    outcomes: Sequence[replays.Replayed],
    summary: replays.Summary,
    notes: Sequence[str],
    titles: Titles,
    *,
    explain: bool,
) -> str:
    """Return all that there is to say about a replayed history, in 80 columns.

    ``explain``: with the bits behind the verdict.
    """
    before, after = summary.bits or (0.0, 0.0)
    was, would_be = bits(before), bits(after)
    changed = f"{summary.changed} of {summary.requests} requests"
    head = "Nothing would change: each request would have sent what it did."
    if summary.changed:
        how = "worse" if after < before else "better"
        served = "as well" if was == would_be else f"{how} on average"
        head = f"{changed} would have sent something else; you would have been served {served}."
    rows = [
        (
            each.past.at.date().isoformat(),
            each.host,
            each.past.query if len(each.past.query) <= SHOWN else f"{each.past.query[:SHOWN]}...",
            _change(*map(people, each.people_left)),
            *([_change(*map(bits, each.bits))] if explain else []),
        )
        for each in outcomes
    ]
    in_the_end = [
        ("changed", changed),
        ("would have asked", f"for {summary.asking} of {summary.requests} requests"),
        ("newly sent", _counts(summary.newly_disclosed, titles)),
        ("no longer sent", _counts(summary.newly_withheld, titles)),
    ]
    in_the_end += [
        ("people left", f"{each.pool}: {_change(*map(people, each.people_left))}")
        for each in summary.pools
    ]
    in_the_end += [("mean bits", _change(was, would_be))] if explain else []
    differing = facts(pair for each in outcomes for pair in _differing(each, titles))
    return page(
        head,
        paragraph(" ".join(notes)),
        table((*COLUMNS, BITS) if explain else COLUMNS, rows),
        f"{strong('What would differ')}\n{differing}" if differing else "",
        f"{strong('In the end')}\n{facts(in_the_end)}",
    )


def _notes(history: History, summary: replays.Summary, worlds: replays.Worlds) -> Iterator[str]:
    """Yield what has to be known to read the figures."""
    if history.sorted:
        yield "The lines of the history were not in order of time, and were sorted."
    if kept := sum(each.elsewhere is not None for each in history.requests):
        yield (
            f"Another model decided {counted(kept, 'request')}, which stays as it was; what the "
            "recipient knows by it counts."
        )
    if not summary.expected:
        return
    if not worlds.alike:
        yield "Nobody in the model is like the history."
    who = "who agree with the rest" if worlds.alike else "drawn evenly from all of it"
    yield (
        "Some values are neither in the history nor in a profile. In their place stand those of "
        f"{counted(len(worlds.rows), 'person', 'people')} of the model {who}: figures are means, "
        "and a percentage is the share of these people."
    )


def _change(was: str, would_be: str) -> str:
    return was if was == would_be else f"{was} -> {would_be}"


def _differing(outcome: replays.Replayed, titles: Titles) -> Iterator[tuple[str, str]]:
    """Yield what the policy changes about one request."""
    for label, shares in (
        ("newly sent", outcome.newly_disclosed),
        ("no longer sent", outcome.newly_withheld),
        ("would have asked", outcome.would_ask),
    ):
        named = (
            titles[name] if share == 1 else f"{titles[name]} ({share:.0%})"
            for name, share in shares
        )
        if shares:
            when = outcome.past.at.date().isoformat()
            yield f"{when}  {label}", f"{', '.join(named)} (to {outcome.host})"


def _counts(counts: replays.Counts, titles: Titles) -> str:
    """Return attributes, with the number of requests where it is more than one."""
    named = (titles[name] if count == 1 else f"{titles[name]} ({count}x)" for name, count in counts)
    return ", ".join(named) or "nothing"


def _read_known(past: Path, file: Path | None, keys: Sequence[str]) -> tuple[list[Model], History]:
    """Return a history, and the models that it is of, the one that is tried first.

    It is the one in the file, or the shipped one that most lines name; where none is named, the
    first that knows their facts.
    """
    if file is not None:
        models = with_shipped(read_model(file, keys=keys))
        return models, read_history(past, models)
    named = Counter(_NAMED.findall(read_bytes(past, LARGEST)))
    models = sorted(map(read_model, shipped_models()), key=lambda each: -named[each.id.encode()])
    orders = [[*models[at:], *models[:at], LOCALE] for at in range(1 if named else len(models))]
    for each in orders[:-1]:
        with suppress(UsageError):
            return each, read_history(past, each)
    return orders[-1], read_history(past, orders[-1])


def read_values(path: Path, model: Model) -> dict[str, int]:
    """Return codes by attribute; UsageError where the model lacks what the file names."""
    from agent.vault.profile import LARGEST, read_profile, values_in  # and with it the whole vault

    codes = model.person_codes
    shipped = (each for each in map(read, shipped_models()) if each.id != model.id)
    try:
        found = read_profile(read_bytes(path, LARGEST), [model, *shipped, LOCALE])
    except UsageError as error:
        raise UsageError(error.what, error.hint, str(path)) from None
    return {name: codes[name][value] for name, value in values_in(found, model).items()}


@click.command("try")
@click.argument("file", type=PATH)
@option("--history past", PATH, "L.jsonl", HISTORY, required=True)
@option("--profile", PATH, "P.toml", PROFILE)
@option("--model model_file", MODEL_FILE, "M|NAME", "By default the shipped one that fits.")
@explain_option
@answers
def try_(
    file: Path, past: Path, profile: Path | None, model_file: Path | None, *, explain: bool
) -> Answer:
    """Replay past requests under a policy file, and show what would differ.

    Each recipient is assumed to know what this policy would have sent it before. What waits for
    your approval counts as withheld. Where neither history nor profile has a value, people of the
    model who agree with the rest stand in, and figures are means.
    """
    rules = read_policy(file)
    models, history = _read_known(past, model_file, rules.trusted_keys)
    model = models[0]
    if model_file is None:
        rulebook = Rulebook(rules, {})
        for each in [each for each in history.requests if each.elsewhere is None]:
            settings = rulebook.match(each.recipient, each.query, each.at.date()).settings
            expect_model(settings, (model.id,))
    own = None if profile is None else read_values(profile, model)
    worlds = replays.worlds_of(history.requests, model, own)
    titles = {each.name: each.title for each in model.attributes}
    noted(rules, models)
    outcomes = []
    with Progress() as progress:
        for outcome in replays.replay(history.requests, rules, model, worlds, models):
            outcomes.append(outcome)
            progress("replaying", len(outcomes) / len(history.requests))
    summary = replays.summary_of(outcomes)
    message = try_record(outcomes, summary, worlds)
    message["summary"]["sorted"] = history.sorted
    notes = [*_notes(history, summary, worlds)]
    text = try_text(outcomes, summary, notes, titles, explain=explain) if outcomes else NOTHING
    return Answer(message, text)
