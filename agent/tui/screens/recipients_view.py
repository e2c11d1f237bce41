"""A recipient in the list, and in detail: what it knows, what it could infer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import NamedTuple

from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent.tui.charts import bars, columns
from agent.tui.plain import fitted, plain
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.decide import Allowed
from agent.wire.records import Held, Moment, Recipient
from agent.wire.what_if import Row, Weighed
from agent.words.figures import COSTS, HELPS, LEFT, bits, listed, moment, people
from agent.words.notices import held as knows_of
from agent.words.notices import inferred
from agent.words.outcomes import RULINGS
from agent.words.titles import NONE, Titles, titled, value_title

HEIGHT = 2  # lines of each
PEOPLE, REQUESTS = 26, 10  # columns
LEAST_NAME = 12
SPARK = 8
HIDDEN = "•••"
CHART, HIGH = 40, 5  # columns and lines of the bars
MARGIN = 8  # columns of the numbers beside them
UNGUARDED = (
    "You guard no fact from it, so its guesses are not computed. g in Profile (4) guards one."
)
TOOLTIP = (
    "What this recipient knows about you, and how many people look like that to it. w shows what "
    "one more attribute would do, m shows your values."
)
AFTER = "What would one more attribute do?"


def heads(found: Sequence[Recipient], width: int) -> str:
    """Return what stands in the columns; of how many people, where all models have as many."""
    whole = {each.people for each in found}
    of = f", of {whole.pop():,}" if len(whole) == 1 else ""
    name = fitted("  recipient", _name(width))
    return f"{name}{f'look like you{of}':>{PEOPLE}}{'requests':>{REQUESTS}}"


def lines(recipient: Recipient, width: int, titles: Titles = NONE) -> tuple[Line, ...]:
    """Return who it is and how many people are left; then what it knows."""
    sign = "×" if recipient.blocked else " "
    kind: Kind = "bad" if recipient.blocked else "strong"
    blocked = "blocked · " if recipient.blocked else ""
    known = listed(titled(recipient.held, titles), "nothing about you")
    return (
        (
            _part(f"{sign} {recipient.pool}", _name(width), kind),
            _part(left(recipient), PEOPLE, right=True),
            _part(f"{recipient.requests:,}", REQUESTS, "muted", right=True),
        ),
        (_part(f"    {blocked}knows {known}", width, "muted"),),
    )


def left(recipient: Recipient) -> str:
    """Return how many people look like the user to a recipient, and how that came to be."""
    counts = [each.people_left for each in recipient.history]
    now = f"{recipient.people_left:,}"
    if counts in ([], [recipient.people_left]):
        return now
    return f"{counts[0]:,} {bars(counts, recipient.people, SPARK)} {now}"


def look(titles: Callable[[], Titles]) -> Look[Recipient]:
    """Return how recipients are drawn."""
    return Look(
        key=lambda each: each.pool,
        lines=lambda each, width: lines(each, width, titles()),
        height=lambda _, __: HEIGHT,
        rests=lambda _: True,
    )


def _name(width: int) -> int:
    return max(LEAST_NAME, width - PEOPLE - REQUESTS)


def _part(text: str, width: int, kind: Kind = "plain", *, right: bool = False) -> Part:
    return Part(fitted(text, width, right=right), kind)


class Known(NamedTuple):
    """A fact that a recipient holds, in words."""

    title: str
    value: str
    since: str


class More(NamedTuple):
    """What one more attribute would do, in words."""

    title: str
    remark: str
    helps: str
    costs: str
    worth: str
    left: str


def remarks(recipient: Recipient) -> list[str]:
    """Return what else there is to say before anything else."""
    found = []
    if recipient.blocked:
        found.append("× Blocked: it is sent nothing any more. b unblocks it.")
    if recipient.sites != [recipient.pool]:
        found.append(f"They share what they learn: {', '.join(recipient.sites)}.")
    return found


def facts_held(held: Held, titles: Titles, zone: tzinfo | None, *, masked: bool) -> list[Known]:
    """Return what a recipient holds, the latest first; values only where they may be seen."""
    names = sorted(held.values, key=lambda name: (-_time(held, name), name))
    return [
        Known(
            title=titles.get(name, name),
            value=HIDDEN if masked else value_title(held.values[name], titles.get(name, name)),
            since=moment(held.since[name], zone) if name in held.since else "",
        )
        for name in names
    ]


def _time(held: Held, name: str) -> float:
    since = held.since.get(name)
    return since.timestamp() if since else 0.0


def inferences(held: Held) -> list[str]:
    """Return a sentence for each guarded attribute, or how to guard one."""
    return [inferred(each) for each in held.inferred] or [UNGUARDED]


def chart(recipient: Recipient, zone: tzinfo | None) -> list[str]:
    """Return how many people looked like the user, change by change, with numbers and dates."""
    history = recipient.history
    if not history:
        return []
    if len(history) == 1:
        at = moment(history[0].at, zone)
        return [f"{people(history[0].people_left)} people looked like you to it since {at}."]
    numbers = stretched(history, CHART)
    rows = columns(numbers, recipient.people, HIGH)
    named = {0: f"{recipient.people:,}", HIGH - 1: "1"}
    first, last = moment(history[0].at, zone), moment(history[-1].at, zone)
    ends = f"{history[0].people_left:,}", f"{history[-1].people_left:,}"
    return [
        *(
            f"{named.get(at, ''):>{MARGIN - 2}} {'┤' if at in named else '│'}{row}"
            for at, row in enumerate(rows)
        ),
        f"{'':{MARGIN}}{first}{last:>{CHART - len(first)}}",
        f"{'':{MARGIN}}{ends[0]}{ends[1] + ' people':>{CHART - len(ends[0])}}",
    ]


def stretched(history: Sequence[Moment], count: int) -> list[int]:
    """Return how many people were left, as so many numbers: every change is as wide.

    The first and the last are among them, whatever there is no room for.
    """
    last = len(history) - 1
    if last < count:
        places = [step * len(history) // count for step in range(count)]
    else:
        places = [step * last // (count - 1) for step in range(count)]
    return [history[place].people_left for place in places]


def beside(weighed: Weighed) -> str:
    """Return what the figures are about, and beside which set each attribute is evaluated."""
    titles = {each.name: each.title for each in weighed.rows}
    names = listed(titled(weighed.weighed.names, titles))
    whole = f"beside the set that is best for all of them: {names}" if names else "by itself"
    return (
        f"On average over all queries, {whole}. Helps: {HELPS}. Costs: {COSTS}. "
        f"People left: {LEFT}."
    )


def additions(weighed: Weighed) -> list[More]:
    """Return what each attribute would do that is not held, what is worth most first."""
    rows = [each for each in weighed.rows if not each.held]
    return [_more(each) for each in sorted(rows, key=lambda each: -_worth(each))]


def _worth(row: Row) -> float:
    if row.gain_bits is None or row.cost_bits is None:
        return float("-inf")
    return row.gain_bits - row.cost_bits


def _more(row: Row) -> More:
    worth = _worth(row)
    remarks = [
        *(["in that set"] if row.inside else []),
        *([RULINGS[row.disclose].short] if row.disclose != "auto" else []),
        *([f"breaks {row.limit}"] if row.limit else []),
    ]
    return More(
        title=row.title,
        remark=", ".join(remarks),
        helps=bits(row.gain_bits),
        costs=bits(row.cost_bits),
        worth=bits(None if worth == float("-inf") else worth, signed=True),
        left=people(row.people_left),
    )


def matches(recipient: Recipient, text: str, titles: Titles = NONE) -> bool:
    """Return whether a recipient has these words: in its name, its sites or what it knows."""
    held = (*recipient.held, *titled(recipient.held, titles))
    words = " ".join([recipient.pool, *recipient.sites, *held]).casefold()
    state = " blocked" if recipient.blocked else ""
    return all(each in words + state for each in text.casefold().split())


def means(pool: str) -> str:
    """Return what it means to say that a recipient forgot."""
    return (
        f"Has {pool} forgotten you? With a yes you state that it can no longer link what it knows "
        "to you: because you have another account there, say, and nothing else gives you away. "
        "This makes nobody forget. From then on it is assumed to know nothing about you; the "
        "ledger keeps what was sent, and your statement."
    )


def unblocked(sites: Sequence[str], done: Sequence[Allowed]) -> str:
    """Return what became of those that were unblocked, and which rule still blocks them."""
    free: list[str] = []
    still: list[str] = []
    for site, each in zip(sites, done, strict=True):
        line = "" if each.line is None else f", line {each.line}"
        by = f"{site} is still sent nothing: your rule {each.rule!r}{line} blocks it (Policy, 6)."
        (free if each.rule is None else still).append(site if each.rule is None else by)
    taken = any(each.done for each in done)
    said = "treated like any other again" if taken else "not blocked, so nothing changed"
    return " ".join([*([f"{are(free)} {said}."] if free else []), *still])


def are(sites: Sequence[str]) -> str:
    """Return the sites as the subject of a sentence."""
    return f"{listed(sites)} {'is' if len(sites) == 1 else 'are'}"


class Told(NamedTuple):
    """What the daemon says of a recipient; ``weighed``: a sentence where it cannot say."""

    recipient: Recipient
    held: Held
    weighed: Weighed | str
    titles: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Told({self.recipient.pool!r})"


class Detail(VerticalScroll):
    """One recipient, whole."""

    def __init__(self) -> None:
        super().__init__(id="recipient")
        self.tooltip = TOOLTIP
        self._told: Told | None = None
        self._wants_more = False  # what one more attribute would do

    @property
    def pool(self) -> str | None:
        """Of whom this is."""
        return None if self._told is None else self._told.recipient.pool

    def compose(self) -> ComposeResult:
        """Lay out what is known, and what more would do."""
        yield Static(id="known")
        yield Static(id="more")

    def show(self, told: Told | None, zone: tzinfo | None, *, masked: bool) -> None:
        """Show a recipient, or none; values are kept only while they are seen."""
        if told is not None and told.recipient.pool != self.pool:
            self.scroll_home(animate=False)
            self._wants_more = False
        self._told = _without_values(told) if told is not None and masked else told
        above, below = self.query_one("#known", Static), self.query_one("#more", Static)
        if self._told is None:
            above.update("")
            below.update("")
            return
        above.update(Group(*_facts_table(self._told, zone, masked=masked)))
        below.update(_additions_table(self._told))
        weighed = self._told.weighed
        below.display = self._wants_more or isinstance(weighed, str) or not weighed.rows

    def mask(self, zone: tzinfo | None) -> None:
        """Drop the values."""
        self.show(self._told, zone, masked=True)

    def to_more(self) -> None:
        """Show what one more attribute would do."""
        more = self.query_one("#more", Static)
        self._wants_more = more.display = True
        self.call_after_refresh(self.scroll_to_widget, more, animate=False, top=True)


def _without_values(told: Told) -> Told:
    values = dict.fromkeys(told.held.values, "")
    return told._replace(held=replace(told.held, values=values))


def _facts_table(told: Told, zone: tzinfo | None, *, masked: bool) -> Iterator[RenderableType]:
    yield Text(plain(knows_of(told.held, told.titles)), "bold")
    for each in remarks(told.recipient):
        yield Text(plain(each))
    yield Text("")
    drawn = chart(told.recipient, zone)
    yield from (Text(line, no_wrap=len(drawn) > 1) for line in drawn)
    yield Text("")
    facts = facts_held(told.held, told.titles, zone, masked=masked)
    if facts:
        table = _table(Column("what it knows", ratio=1), Column("value"), Column("since"))
        for fact in facts:
            table.add_row(*(Text(plain(each)) for each in fact))
        yield table
        yield Text("")
    for sentence in inferences(told.held):
        yield Text(plain(sentence))
    yield Text("")


def _additions_table(told: Told) -> RenderableType:
    """Return what each attribute would do, or why that cannot be said."""
    weighed = told.weighed
    if isinstance(weighed, str):
        return Text(plain(weighed))
    if not weighed.rows:
        return Text(plain(weighed.headline))
    table = _table(
        Column("attribute", ratio=1),
        *(Column(name, justify="right") for name in ("helps", "costs", "worth", "people left")),
    )
    for each in additions(weighed):
        remark = f" ({each.remark})" if each.remark else ""
        name = Text.assemble(plain(each.title), (remark, "dim"))
        table.add_row(name, *map(Text, (each.helps, each.costs, each.worth, each.left)))
    return Group(Text(AFTER, "bold"), Text(plain(beside(weighed))), table)


def _table(*columns: Column) -> Table:
    return Table(
        *columns, box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim"
    )
