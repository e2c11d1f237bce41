"""What is said of a recipient: what it knows, what follows from that, what more would do. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from agent.tui.bars import columns
from agent.tui.numbers import bits, more, people
from agent.wire.records import Held, Inferred, Moment, Recipient
from agent.wire.what_if import Row, Weighed

HIDDEN = "•••"
CHART, HIGH = 40, 5  # columns and lines of the bars
MARGIN = 8  # columns of the numbers beside them
RULED = {
    "never": "never leaves",
    "ask": "asks you first",
    "guarded": "guarded",
    "always": "always leaves",
}
UNGUARDED = (
    "No fact is guarded from it, so nothing is counted of what it could infer. To guard one: g in "
    "Profile (4), or `reticent policy set guard=1 --attribute NAME`."
)
Titles = Mapping[str, str]


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


def headline(recipient: Recipient) -> str:
    """Return how many facts a recipient holds, and how many people look like that."""
    count = len(recipient.held)
    facts = "nothing" if not count else "1 fact" if count == 1 else f"{count} facts"
    return f"{recipient.pool} knows {facts} about you. {alike(recipient)}"


def alike(recipient: Recipient) -> str:
    """Return how well the user is hidden among others."""
    whole = f"{recipient.people:,}"
    if recipient.people_left > 1:
        return f"You are 1 of {recipient.people_left:,} to it, of {whole} people."
    if recipient.people_left == 1:
        return f"Of {whole} people only 1 looks like that: it may have recognised you."
    return f"None of {whole} people looks like that: you stand out, and it may recognise you."


def remarks(recipient: Recipient) -> list[str]:
    """Return what else there is to say before anything else."""
    found = []
    if recipient.blocked:
        found.append("× Blocked: the policy gives it nothing any more. b unblocks it.")
    if recipient.sites != [recipient.pool]:
        found.append(f"They pool what they learn: {', '.join(recipient.sites)}.")
    return found


def known(held: Held, titles: Titles, zone: tzinfo | None, *, masked: bool) -> list[Known]:
    """Return what a recipient holds, the latest first; values only where they may be seen."""
    names = sorted(held.values, key=lambda name: (-_time(held, name), name))
    return [
        Known(
            title=titles.get(name, name),
            value=HIDDEN if masked else held.values[name],
            since=moment(held.since[name], zone) if name in held.since else "",
        )
        for name in names
    ]


def _time(held: Held, name: str) -> float:
    since = held.since.get(name)
    return since.timestamp() if since else 0.0


def moment(at: datetime, zone: tzinfo | None) -> str:
    """Return a time to the minute, where the user lives."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def inferences(held: Held) -> list[str]:
    """Return a sentence for each guarded attribute, or how to guard one."""
    return [_inference(each) for each in held.inferred] or [UNGUARDED]


def _inference(found: Inferred) -> str:
    if not found.best_guess:
        return f"{found.title}: too few people look like you to it to say what it could infer."
    told = f"{abs(found.bits):.2f}"
    guess, chance = round(100 * found.best_guess), round(100 * found.by_chance)
    right = f"its best guess is right for {guess} of 100 people, {chance} by chance"
    if found.bits < 0:
        return f"What it holds leaves {found.title} {told} bits less certain than before; {right}."
    whole = f"{found.bits_in_all:.2f}"
    return f"What it holds tells {told} of {whole} bits of {found.title}; {right}."


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
    """Return beside what each attribute is weighed."""
    titles = {each.name: each.title for each in weighed.rows}
    names = ", ".join(titles.get(each, each) for each in weighed.weighed.names)
    whole = f"beside the set that is best for all of them: {names}" if names else "by itself"
    return f"On average over all queries, in bits, {whole}."


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
        *([RULED[row.disclose]] if row.disclose in RULED else []),
        *([f"breaks {row.limit}"] if row.limit else []),
    ]
    return More(
        title=row.title,
        remark=", ".join(remarks),
        helps=bits(row.gain_bits),
        costs=bits(row.cost_bits),
        worth=more(None if worth == float("-inf") else worth),
        left=people(row.people_left),
    )


def matches(recipient: Recipient, text: str) -> bool:
    """Say whether a recipient is one that is looked for: by its name, its sites, what it holds."""
    wanted = text.casefold().split()
    words = " ".join([recipient.pool, *recipient.sites, *recipient.held]).casefold()
    state = " blocked" if recipient.blocked else ""
    return all(each in words + state for each in wanted)
