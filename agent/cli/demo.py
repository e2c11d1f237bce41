"""`reticent demo`: eight requests of a fictional developer, on the shipped model."""

from collections.abc import Sequence

import click

from agent.cli import demo_story as story
from agent.cli.demo_ledger import (
    Entry,
    converse,
    converse_without_memory,
    gained,
    known_to,
    people_who_fit,
    told,
)
from agent.cli.demo_text import comparison_text, recipients_text, request_text
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.decision.phrases import bits, people
from agent.decision.request import Knowledge
from agent.decision.terms import Terms
from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model

RECIPIENTS = (story.SEARCH, story.JOBS)
CERTIFIED = (
    "Certified is what holds if gains shrink as a set grows, which is not proven; where one "
    "was seen to grow, nothing is. Such bounds are loose, so small shares are normal."
)


@click.command()
@json_option
def demo(*, as_json: bool) -> None:
    """Show eight requests of a fictional developer to two recipients.

    Decided on the model that comes with reticent; nothing is stored and nothing leaves.
    """
    model = read(shipped_model())
    entries = converse(story.REQUESTS, story.PROFILE, model, Terms())
    if as_json:
        click.echo(record({"requests": [_request(each) for each in entries]}))
        return
    click.echo(paragraph(_introduction(model)))
    for number, entry in enumerate(entries, 1):
        before = people_who_fit(known_to(entry.recipient, entries[: number - 1]), model)
        click.echo(f"\n{request_text(number, entry, before)}")
    click.echo(f"\n{recipients_text(RECIPIENTS, entries, model)}")
    click.echo(f"\n{comparison_text(RECIPIENTS, _ways(entries, model))}")
    click.echo(f"\n{paragraph(f'{_alone(model)}{CERTIFIED}')}")


def _request(entry: Entry) -> dict[str, object]:
    """Return what one request carried, and what that brought and cost."""
    return {
        "recipient": entry.recipient,
        "query": entry.decision.request.query,
        "disclosed": dict(entry.values),
        "utility_bits": entry.decision.figures.utility,
        "people_left": entry.people_left,
    }


def _introduction(model: Model) -> str:
    count, total = len(story.PROFILE), len(model.attributes)
    return (
        f"{story.NAME}, a fictional developer, has set {count} of the {total} facts that the model "
        f"{model.id} knows, and makes {len(story.REQUESTS)} requests to {len(RECIPIENTS)} "
        "recipients. Which facts a request may carry is decided from the query and from what its "
        "recipient holds already; her values are read only then."
    )


def _ways(entries: Sequence[Entry], model: Model) -> list[list[str]]:
    """Return a line for each way to decide the same requests."""
    standing = Terms(mode="standing")
    forgetful = converse_without_memory(story.REQUESTS, story.PROFILE, model, Terms())
    constant = converse(story.REQUESTS, story.PROFILE, model, standing)
    return [
        _way("reticent, as above", entries, model),
        _way("deciding without memory", forgetful, model),
        _way("one standing set", constant, model),
        _everything(model),
    ]


def _way(name: str, entries: Sequence[Entry], model: Model) -> list[str]:
    gains = [gained(each.decision.request.query, each.values, model) for each in entries]
    held = [known_to(recipient, entries) for recipient in RECIPIENTS]
    return [
        name,
        bits(sum(gains) / len(gains)),
        *(_fitting(knowledge, model) for knowledge in held),
    ]


def _everything(model: Model) -> list[str]:
    """Return the line for attaching every fact to every request."""
    values = story.PROFILE
    gains = [gained(query, values, model) for _, query in story.REQUESTS]
    fitting = [_fitting(told(Knowledge(), values, model), model) for _ in RECIPIENTS]
    return [f"sharing all {len(values)} facts", bits(sum(gains) / len(gains)), *fitting]


def _alone(model: Model) -> str:
    """Return what sharing everything would do to her, if nobody else has all of her facts."""
    if people_who_fit(told(Knowledge(), story.PROFILE, model), model):
        return ""
    return "Nobody in the model has all of her facts: shared together, they single her out. "


def _fitting(knowledge: Knowledge, model: Model) -> str:
    return people(people_who_fit(knowledge, model))
