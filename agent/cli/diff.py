"""`reticent model diff`: what has changed from one model to the next, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from agent.cli.design import LAMBDA
from agent.cli.model import model_path
from agent.cli.options import Answer, answers, option
from agent.cli.printing import facts, numeric, page, paragraph, table, wide
from agent.decision.choice import LEAST
from agent.decision.difference import Best, Side
from agent.decision.terms import Terms
from agent.model.file import read
from agent.model.model import Query
from agent.words.figures import bits, counted, listed, measured, people
from agent.words.titles import NONE, Titles, titled

SHOWN = 12  # queries, those that changed most
NAMED = 8  # in one line
MATTERS = 0.01  # bits
COLUMNS = (wide("query"), *map(numeric, ("helped", "helps", "at most", "now")), wide("facts"))
LEGEND = (
    "to all: what is best sent with every request alike, how much it helps and how often one guess "
    "then finds the person; helped, helps: bits better served with the best facts, before and now; "
    "at most, now: the bits of help that no facts exceed; facts: what the best set gained (+) and "
    "lost (-)."
)


class Both(NamedTuple):
    """A query that both models know, with its best set in each."""

    old: Query
    new: Query
    before: Best
    after: Best

    @property
    def bits(self) -> float:
        """By how much more the best set helps."""
        return self.after.figures.utility - self.before.figures.utility

    def moved(self, titles: Titles = NONE) -> list[str]:
        """Return which attributes the best set gained, with a +, and lost, with a -."""
        came = [each for each in self.after.names if each not in self.before.names]
        went = [each for each in self.before.names if each not in self.after.names]
        gained = [f"+{each}" for each in titled(came, titles)]
        return [*gained, *(f"-{each}" for each in titled(went, titles))]


@click.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@option("--lambda trade_off", float, "BITS", LAMBDA, default=Terms().trade_off)
@answers
def diff(old: str, new: str, trade_off: float) -> Answer:
    """Show in words what has changed from the model A to the model B.

    Which queries came and went, and for which the best facts or their help changed; which facts
    came, went and no longer help; the people; what is best sent with every request. Queries are
    the same by their text, facts by their name. Takes a decision for each query.
    """
    before, after = (Side.of(read(model_path(each)), trade_off) for each in (old, new))
    queries = {each.text: each for each in before.model.queries}
    both = [
        Both(queries[each.text], each, before.best[each.text], after.best[each.text])
        for each in after.model.queries
        if each.text in queries
    ]
    both.sort(key=lambda each: -abs(each.bits))
    record = diff_record(before, after, both)
    message = {"lambda": trade_off, **record}
    if before.model.digest == after.model.digest:
        return Answer(message, paragraph(f"{old} and {new} are the same model."))
    differ = [each for each in both if abs(each.bits) >= LEAST or each.moved()]
    came, went = record["new_queries"], record["gone_queries"]
    titles = {each.name: each.title for each in (*before.model.attributes, *after.model.attributes)}
    rows = [
        (
            each.new.title,
            *map(bits, (each.before.figures.utility, each.after.figures.utility)),
            *map(bits, (each.old.prior_entropy_bits, each.new.prior_entropy_bits)),
            ", ".join(each.moved(titles)) or "as before",
        )
        for each in differ[:SHOWN]
    ]
    less = len(differ) - len(rows)
    more = f" {less} more changed less; --json has all." if less else ""
    matter = sum(abs(each.bits) >= MATTERS for each in both)
    text = page(
        f"{counted(len(both), 'query is', 'queries are')} in both models; {matter} are served "
        f"better or worse by {MATTERS} bits or more. {len(came)} came and {len(went)} went.",
        facts(notes_of(before, after, record, titles)),
        table(COLUMNS, rows),
        paragraph(LEGEND + more) if rows else "",
    )
    return Answer(message, text)


def diff_record(before: Side, after: Side, both: Sequence[Both]) -> dict[str, list[object]]:
    """Return the difference in JSON's own types; a pair is before and after."""

    def best(found: Best) -> dict[str, object]:
        return {
            "names": [*found.names],
            "utility_bits": found.figures.utility,
            "identifiability": found.figures.identifiability,
            "people_left": found.figures.people_left,
        }

    sides = (before, after)
    old, new = ({each.name: each for each in side.model.attributes} for side in sides)
    both_know = [each for each in new if each in old]
    return {
        "models": [
            {
                "id": side.model.id,
                "digest": side.model.digest,
                "people": round(side.model.people),
                "population_rows": side.model.population.rows,
                "standing": best(side.standing),
            }
            for side in sides
        ],
        "new_queries": [each for each in after.best if each not in before.best],
        "gone_queries": [each for each in before.best if each not in after.best],
        "new_attributes": [each for each in new if each not in old],
        "gone_attributes": [each for each in old if each not in new],
        "other_values": [name for name in both_know if old[name].values != new[name].values],
        "no_longer_help": [
            each for each in both_know if before.uses[each] and not after.uses[each]
        ],
        "help_now": [each for each in both_know if after.uses[each] and not before.uses[each]],
        "attributes": [
            {"name": name, "queries": [side.uses[name] for side in sides]}
            for name in dict.fromkeys((*old, *new))
        ],
        "queries": [
            {
                "query": each.new.text,
                "change_bits": each.bits,
                "best": [best(each.before), best(each.after)],
                "prior_entropy_bits": [each.old.prior_entropy_bits, each.new.prior_entropy_bits],
                "heldout_bits": [each.old.heldout_bits, each.new.heldout_bits],
            }
            for each in both
        ],
    }


def notes_of(
    before: Side, after: Side, record: Mapping[str, list[object]], titles: Titles
) -> Iterator[tuple[str, str]]:
    """Yield what came, went and changed, but for the queries that both know."""
    for name, side in (("was", before), ("is", after)):
        model, standing = side.model, side.standing
        rows = f"{model.population.rows:,} people"
        whom = rows if model.population.weights is None else f"{rows}, for {people(model.people)}"
        guess = measured(standing.figures.identifiability, "maxprob")
        has = f"{counted(len(model.queries), 'query', 'queries')}, {len(model.attributes)} facts"
        sent = listed(titled(standing.names, titles), "nothing")
        yield name, f"{model.id}: {has}, {whom}"
        yield (
            "to all",
            f"{sent}; {bits(standing.figures.utility)} bits, found by one guess: {guess}",
        )
    asked = {each.text: each.title for each in (*before.model.queries, *after.model.queries)}
    for key, title, known in (
        ("new_queries", "new queries", asked),
        ("gone_queries", "gone queries", asked),
        ("new_attributes", "new facts", titles),
        ("gone_attributes", "gone facts", titles),
        ("other_values", "other values", titles),
        ("no_longer_help", "no longer help", titles),
        ("help_now", "help now", titles),
    ):
        if names := [*map(str, record[key])]:
            yield title, listed(titled(names, known), most=NAMED)
