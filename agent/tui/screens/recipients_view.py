"""A recipient in the list, and in detail: what it knows, what it could infer."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from agent.tui.charts import bars
from agent.tui.plain import fitted, plain
from agent.tui.virtual_list import Kind, Line, Part
from agent.wire.decide import Allowed
from agent.wire.records import Held, Recipient
from agent.wire.what_if import Weighed, WeighedOutcome
from agent.words.figures import COSTS, HELPS, LEFT, bits, counted, listed, moment, people
from agent.words.notices import held as knows_of
from agent.words.notices import inferred
from agent.words.outcomes import RULINGS
from agent.words.titles import NONE, Titles, titled, value_title

PEOPLE, REQUESTS = 28, 10  # columns
LEAST_NAME = 12
SPARK, CHART = 8, 36  # columns of bars
HIDDEN = "•••"
UNGUARDED = (
    "You guard no fact from it, so its guesses are not computed. g in Profile (4) guards one."
)
AFTER = "What would one more attribute do?"


def headline(found: Sequence[Recipient]) -> str:
    """Return how many know something, and whose people the numbers count."""
    if not found:
        return ""
    verb = "knows" if len(found) == 1 else "know"
    many = counted(len(found), "recipient")
    return f"{many} {verb} something about you. People are counted in the model."


def heads(found: Sequence[Recipient], width: int) -> str:
    """Return the titles of the columns; of how many people, where all models have as many."""
    whole = {each.people for each in found}
    of = f", of {whole.pop():,}" if len(whole) == 1 else ""
    name = fitted("  recipient", _name(width))
    return f"{name}{f'people like you{of}':>{PEOPLE}}{'requests':>{REQUESTS}}"


def lines(recipient: Recipient, width: int, titles: Titles = NONE) -> tuple[Line, ...]:
    """Return who it is and how many people are left; then what it knows."""
    blocked = recipient.blocked
    kind: Kind = "bad" if blocked else "strong"
    name = fitted(f"{'×' if blocked else ' '} {recipient.pool}", _name(width))
    left = fitted(left_of(recipient), PEOPLE, right=True)
    requests = fitted(f"{recipient.requests:,}", REQUESTS, right=True)
    known = listed(titled(recipient.held, titles), "nothing about you")
    below = fitted(f"    {'blocked · ' if blocked else ''}knows {known}", width)
    return ((Part(name, kind), Part(left), Part(requests, "muted")), (Part(below, "muted"),))


def left_of(recipient: Recipient) -> str:
    """Return how many people look like the user to a recipient, and how that came to be."""
    counts = [each.people_left for each in recipient.history]
    now = f"{recipient.people_left:,}"
    if counts in ([], [recipient.people_left]):
        return now
    return f"{counts[0]:,} {bars(counts, recipient.people, SPARK)} {now}"


def _name(width: int) -> int:
    return max(LEAST_NAME, width - PEOPLE - REQUESTS)


class Findings(NamedTuple):
    """What the daemon says about a recipient; ``weighed``: a sentence where it cannot say."""

    recipient: Recipient
    held: Held
    weighed: Weighed | str
    titles: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Findings({self.recipient.pool!r})"


def remarks(recipient: Recipient) -> list[str]:
    """Return what comes before anything else."""
    found = []
    if recipient.blocked:
        found.append("× Blocked: it is sent nothing any more. b unblocks it.")
    if recipient.sites != [recipient.pool]:
        found.append(f"They share what they learn: {', '.join(recipient.sites)}.")
    return found


def facts_held(
    held: Held, titles: Titles, zone: tzinfo | None, *, masked: bool
) -> list[tuple[str, str, str]]:
    """Return what a recipient holds, the latest first: title, value, since when.

    Values only where they may be seen.
    """

    def time(name: str) -> float:
        return held.since[name].timestamp() if name in held.since else 0.0

    return [
        (
            titles.get(name, name),
            HIDDEN if masked else value_title(held.values[name], titles.get(name, name)),
            moment(held.since[name], zone) if name in held.since else "",
        )
        for name in sorted(held.values, key=lambda name: (-time(name), name))
    ]


def inferences(held: Held) -> list[str]:
    """Return a sentence for each guarded attribute, or how to guard one."""
    return [inferred(each) for each in held.inferred] or [UNGUARDED]


def chart(recipient: Recipient, zone: tzinfo | None) -> list[str]:
    """Return how many people looked like the user, change by change, with numbers and dates."""
    history = recipient.history
    if not history:
        return []
    counts = [each.people_left for each in history]
    first, last = moment(history[0].at, zone), moment(history[-1].at, zone)
    if len(history) == 1:
        return [f"{people(counts[0])} people have looked like you to it since {first}."]
    drawn = bars(counts, recipient.people, CHART)
    width = max(len(drawn), len(first) + len(last) + 2)
    ends = f"{counts[-1]:,} people"
    return [
        f"People who look like you to it, of {recipient.people:,}, change by change:",
        drawn,
        f"{counts[0]:,}{ends:>{width - len(f'{counts[0]:,}')}}",
        f"{first}{last:>{width - len(first)}}",
    ]


def knowledge(found: Findings, zone: tzinfo | None, *, masked: bool) -> Iterator[RenderableType]:
    """Yield all that a recipient knows: the verdict, the course, each fact, each inference."""
    yield Text(plain(knows_of(found.held, found.titles)), "bold")
    yield from (Text(plain(each)) for each in remarks(found.recipient))
    yield Text("")
    yield from map(Text, chart(found.recipient, zone))
    yield Text("")
    facts = facts_held(found.held, found.titles, zone, masked=masked)
    if facts:
        table = _table(Column("what it knows", ratio=1), Column("value"), Column("since"))
        for fact in facts:
            table.add_row(*(Text(plain(each)) for each in fact))
        yield table
        yield Text("")
    yield from (Text(plain(sentence)) for sentence in inferences(found.held))
    yield Text("")


def additions(weighed: Weighed) -> list[tuple[str, str, tuple[str, str, str, str]]]:
    """Return what each attribute would do that is not held, what is worth most first.

    Its title, a remark, and four figures: helps, costs, worth, people left.
    """

    def worth(row: WeighedOutcome) -> float | None:
        known = row.gain_bits is not None and row.cost_bits is not None
        return row.gain_bits - row.cost_bits if known else None  # type: ignore[operator]

    def place(row: WeighedOutcome) -> float:
        found = worth(row)
        return float("inf") if found is None else -found

    found = []
    for row in sorted((each for each in weighed.rows if not each.held), key=place):
        remarks = [
            *(["in that set"] if row.inside else []),
            *([RULINGS[row.disclose].short] if row.disclose != "auto" else []),
            *([f"breaks {row.limit}"] if row.limit else []),
        ]
        helps, costs = bits(row.gain_bits), bits(row.cost_bits)
        figures = helps, costs, bits(worth(row), signed=True), people(row.people_left)
        found.append((row.title, ", ".join(remarks), figures))
    return found


def basis(weighed: Weighed) -> str:
    """Return what the figures are about, and with which set each attribute is evaluated."""
    names = listed(titled(weighed.weighed.names, {each.name: each.title for each in weighed.rows}))
    whole = f"together with the set that is best for all of them: {names}" if names else "by itself"
    return (
        f"On average over all queries, {whole}. Helps: {HELPS}. Costs: {COSTS}. "
        f"People left: {LEFT}."
    )


def added(weighed: Weighed | str) -> RenderableType:
    """Return what each attribute would do, or why that is not known."""
    if isinstance(weighed, str) or not weighed.rows:
        return Text(plain(weighed if isinstance(weighed, str) else weighed.headline))
    titles = ("helps", "costs", "worth", "people left")
    table = _table(
        Column("attribute", ratio=1), *(Column(each, justify="right") for each in titles)
    )
    for title, remark, row in additions(weighed):
        name = Text.assemble(plain(title), (f" ({remark})" if remark else "", "dim"))
        table.add_row(name, *map(Text, row))
    return Group(Text(AFTER, "bold"), Text(plain(basis(weighed))), table)


def _table(*columns: Column) -> Table:
    return Table(
        *columns, box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim"
    )


def matches(recipient: Recipient, text: str, titles: Titles = NONE) -> bool:
    """Return whether a recipient has these words: in its name, its sites or what it knows."""
    held = (*recipient.held, *titled(recipient.held, titles))
    words = " ".join([recipient.pool, *recipient.sites, *held]).casefold()
    state = " blocked" if recipient.blocked else ""
    return all(each in words + state for each in text.casefold().split())


def forgetting(pool: str) -> str:
    """Return what it means to state that a recipient has forgotten."""
    return (
        f"Has {pool} forgotten you? With a yes you state that it can no longer link what it knows "
        "to you: because you have another account there, say, and nothing else gives you away. "
        "This makes nobody forget. From then on it is assumed to know nothing about you; the "
        "ledger keeps what was sent, and your statement."
    )


def unblocked(sites: Sequence[str], done: Sequence[Allowed]) -> str:
    """Return what became of those that were unblocked, and which rule still blocks them."""
    pairs = [*zip(sites, done, strict=True)]
    free = [site for site, each in pairs if each.rule is None]
    taken = any(each.done for each in done)
    after = "treated like any other again" if taken else "not blocked, so nothing changed"
    sentences = [f"{are(free)} {after}."] if free else []
    for site, each in pairs:
        if each.rule is not None:
            rule = f"{each.rule!r}{'' if each.line is None else f', line {each.line}'}"
            sentences.append(
                f"{site} is still sent nothing: your rule {rule} blocks it (Policy, 6)."
            )
    return " ".join(sentences)


def are(sites: Sequence[str]) -> str:
    """Return the sites as the subject of a sentence."""
    return f"{listed(sites)} {'is' if len(sites) == 1 else 'are'}"
