"""`reticent read`: what a text means to the models in use; nothing is sent."""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from agent.cli.daemon_client import door
from agent.cli.model import model_path, trusted_keys
from agent.cli.options import PIPE, QUERY, json_option, option
from agent.cli.printing import note, numeric, page, paragraph, table, wide
from agent.daemon.model_registry import ModelRegistry
from agent.errors import DaemonError
from agent.model.file import read as read_model
from agent.model.lookup import spelling
from agent.model.model import Model, surest
from agent.model.reading import Reading
from agent.paths import paths
from agent.wire.decide import ReadAs
from agent.wire.records import Correction
from agent.words.figures import counted
from agent.words.outcomes import WHY_NOTHING
from agent.words.titles import read_as, surely

COLUMNS = (numeric("sure"), wide("query"), wide("model"))
FIELDS = ("query", "title", "model", "probability")
UNCORRECTED = "what you said texts do not mean counts while the vault is open"
NEXT = "`reticent ask HOST TEXT --dry-run` shows what would be sent with it. Nothing was sent now."


@click.command(name="read")
@click.argument("words", nargs=-1, required=True, metavar="TEXT|-")
@option("--model", str, "M|NAME", "One model, by its file or name. By default all in use.")
@json_option
def read(words: tuple[str, ...], model: str | None, *, as_json: bool) -> None:
    """Show which known queries a text means, and how surely.

    What you said it does not mean is left out where the daemon runs and the vault is open.
    - reads a text from each line of the standard input; with --json each gets an object on a line
    of its own, with query null where the text means none, is empty or is not UTF-8.
    """
    text = " ".join(words)
    models, corrections = _models(model), _corrections()
    lines = sys.stdin if text == PIPE else iter([QUERY.convert(text, None, None)])
    bad = 0
    for line in lines:
        given = line.rstrip("\r\n")
        shown = given.encode(errors="surrogateescape").decode(errors="replace")
        bad += shown != given
        meant, candidates = _meanings(shown if shown == given else "", models, corrections)
        record = _record(shown, meant, candidates)
        click.echo(json.dumps(record) if as_json else _page(shown, meant, candidates))
    if bad:
        note(f"{counted(bad, 'line')} not text in UTF-8 could not be read")


def _models(named: str | None) -> list[Model]:
    if named is not None:
        return [read_model(model_path(named))]
    registry, keys, now = ModelRegistry(paths().models), trusted_keys(), datetime.now(UTC)
    return registry.usable(keys, now) or [registry.of(None, keys, now)]


def _corrections() -> list[Correction]:
    """Return what texts do not mean, by the vault where it is open; a note where it is not."""
    try:
        with door(attended=False) as client:
            found: list[Correction] = client.call("corrections")
    except DaemonError:
        if paths().vault.exists():
            note(UNCORRECTED)
        return []
    return found


def _meanings(
    text: str, models: Sequence[Model], corrections: Sequence[Correction]
) -> tuple[ReadAs | None, list[ReadAs]]:
    """Return what a text means, None where no model is sure, and what it may mean to any."""
    written = spelling(text)

    def reading_by(model: Model, text: str) -> Reading:
        own = [each for each in corrections if each.model == model.id and each.text == written]
        return model.corrected(model.read(text), [each.query for each in own])

    def found(model: Model, reading: Reading) -> list[ReadAs]:
        pairs = ((model.queries[each.query], each.probability) for each in reading.candidates)
        return [
            ReadAs(query=query.text, title=query.title, model=model.id, probability=share)
            for query, share in pairs
        ]

    model, reading = surest(text, models, reading_by)
    meant = None if reading.query is None else found(model, reading)[0]
    candidates = [each for other in models for each in found(other, reading_by(other, text))]
    return meant, sorted(candidates, key=lambda each: (each != meant, -each.probability))


def _record(text: str, meant: ReadAs | None, candidates: Sequence[ReadAs]) -> dict[str, object]:
    return {
        "text": text,
        "query": None if meant is None else meant.query,
        "model": None if meant is None else meant.model,
        "probability": None if meant is None else meant.probability,
        "candidates": [{name: getattr(each, name) for name in FIELDS} for each in candidates],
    }


def _page(text: str, meant: ReadAs | None, candidates: Sequence[ReadAs]) -> str:
    """Return what a person is told of a text: how it is read, and what else it may mean."""
    said = WHY_NOTHING["unknown query"]
    if meant is not None:
        said = f"read as {read_as(meant)}, by the model {meant.model}"
    others = [each for each in candidates if each != meant]
    rows = [(surely(each.probability), each.title, each.model) for each in others]
    also = (
        "It may also mean:" if meant else "It may mean one of these, but that is not sure enough:"
    )
    doubt = "\n".join([also, table(COLUMNS, rows)]) if rows else ""
    return page(f"“{text}” is {said}.", doubt, paragraph(NEXT) if meant else "")
