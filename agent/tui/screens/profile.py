"""The user's own values as rows, and which of them may be sent."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from textual.content import Content
from textual.widgets import Input

from agent.decision.values import Fact
from agent.tui.dialogs import Choice, Confirm
from agent.tui.page import SentencesPage, for_item
from agent.tui.plain import HIDDEN, fitted, plain
from agent.tui.virtual_list import Line, Look, Part
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit, Value
from agent.wire.state import Changed, EventKind, ProfileChange, ProfileFacts, Recipient
from agent.words.figures import listed
from agent.words.notices import MOST_NAMED, also, edited, outdated
from agent.words.titles import RULED, RULINGS, in_order, value_title

STEPS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # bits
NOT_SET = "not set"
EACH_REQUEST = "each request"  # sets it anew
UNWRITTEN = "not saved yet: Enter"
ROOMY, SPACIOUS = 70, 100  # columns, from which on sliders, and rules, have room
PENDING = "not saved yet: Enter saves it, Escape puts it back"
BITS = "With 1 bit, the right result is twice as easy to find."
GAP = 2  # columns between two
UNSET = ""  # in place of a value
UNSPECIFIED = "unspecified"  # values[0]: set like any other
LAST = (
    ("not said: you prefer not to say, which is an answer too", UNSPECIFIED),
    ("not set, so never sent", UNSET),
)
LEFT_TO = ("never", "ask", "auto", "always")


def dearer(bits: float) -> float:
    """Find the next step to the right, or stay at the last."""
    return next(iter(STEPS[bisect_right(STEPS, bits) :]), bits)


def cheaper(bits: float) -> float:
    """Find the next step to the left, or stay at the first."""
    return STEPS[max(0, bisect_left(STEPS, bits) - 1)]


def slider(bits: float) -> str:
    """Draw the slider, one sign a step, with its knob at the last step reached."""
    place = max(0, bisect_right(STEPS, bits) - 1)
    return "─" * place + "●" + "─" * (len(STEPS) - 1 - place)


@dataclass(frozen=True, slots=True)
class FactRow:
    """An attribute; ``depth``: how many coarser ones stand above it; ``holders``: who know it.

    ``value``: None while values are hidden; ``slid``: bits that are not written yet, or None.
    """

    attribute: AttributeStatus
    depth: int = 0
    is_set: bool = False
    value: str | None = field(default=None, repr=False)
    slid: float | None = None
    holders: tuple[str, ...] = ()

    @property
    def bits(self) -> float:
        """Where the slider stands."""
        return self.attribute.sensitivity_bits if self.slid is None else self.slid

    @property
    def own(self) -> bool:
        """Whether it has a value of the user's own: what is set for each request has none."""
        return self.attribute.scope == "person"

    @property
    def shown_value(self) -> str:
        """The value, hidden if it is; or why there is none."""
        if not self.own:
            return EACH_REQUEST
        if not self.is_set:
            return NOT_SET
        return HIDDEN if self.value is None else value_title(self.value, self.attribute.title)

    @property
    def rule(self) -> str:
        """The rule that decides, with its line where it has one."""
        line = self.attribute.line
        return self.attribute.rule + ("" if line is None else f", line {line}")


def plain_name(attribute: AttributeStatus) -> str:
    """Name an attribute as its own model does, without the prefix MODEL."""
    return attribute.name.removeprefix(f"{attribute.model}.")


def families(attributes: Sequence[AttributeStatus]) -> list[tuple[AttributeStatus, int]]:
    """Order attributes with their depths: each coarse one, then what refines it."""
    names = {each.name for each in attributes}
    finer: dict[str, list[AttributeStatus]] = {}
    for each in attributes:
        if each.refines in names:
            finer.setdefault(str(each.refines), []).append(each)

    def below(top: AttributeStatus, depth: int) -> Iterator[tuple[AttributeStatus, int]]:
        yield top, depth
        for each in finer.get(top.name, ()):
            yield from below(each, depth + 1)

    tops = (each for each in attributes if each.refines not in names)
    ordered = [pair for each in tops for pair in below(each, 0)]
    reached = {each.name for each, _ in ordered}
    return ordered + [(each, 0) for each in attributes if each.name not in reached]


def rows_of(
    attributes: Sequence[AttributeStatus],
    facts: Iterable[Fact],
    held: Mapping[str, Collection[str]],
    *,
    masked: bool,
) -> list[FactRow]:
    """Lay out a row for each kind of fact; ``held``: names of facts by the recipient's pool."""
    values = {each.kind: each.value for each in facts}
    rows = []
    for each, depth in families(attributes):
        value = None if masked else values.get(each.kind)
        names = {each.name, f"{each.model}.{plain_name(each)}"}
        holders = tuple(pool for pool, theirs in held.items() if names.intersection(theirs))
        rows.append(
            FactRow(
                each, depth, each.scope == "person" and each.kind in values, value, holders=holders
            )
        )
    return rows


def matching(rows: Iterable[FactRow], text: str) -> list[FactRow]:
    """Filter rows whose title or name contains a text, in any case."""
    wanted = text.strip().casefold()
    names = ((each, f"{each.attribute.title.casefold()}\n{each.attribute.name}") for each in rows)
    return [each for each, name in names if wanted in name]


def columns(width: int) -> dict[str, int]:
    """Choose the columns that a list of this width has room for, with their own widths."""
    bits = {"must help, in bits": 19} if width >= ROOMY else {"bits": 6}
    rules = {"by the rule": width - 80} if width >= SPACIOUS else {}
    fixed = {"value": 13, "may be sent": 13, **bits, **rules}
    rest = width - GAP * len(fixed) - sum(fixed.values())
    return {"attribute": max(8, rest), **fixed}


def heads(width: int) -> str:
    """Head the columns."""
    return (" " * GAP).join(fitted(title, room) for title, room in columns(width).items())


def cells(row: FactRow, width: int) -> tuple[str, ...]:
    """Fill the cells of a row."""
    fact = row.attribute
    indent = "  " * (row.depth - 1) + "└ " if row.depth else ""
    bits = f"{row.bits:.4g}{'*' if row.slid is not None else ''}"
    drawn = bits if width < ROOMY else f"{slider(row.bits)} {bits}"
    rule = row.rule if row.slid is None else UNWRITTEN
    found = (indent + fact.title, row.shown_value, RULINGS[fact.disclose], drawn, rule)
    return found[: len(columns(width))]


def line(row: FactRow, width: int) -> Line:
    """Draw a row as a line."""
    pairs = zip(cells(row, width), columns(width).values(), strict=True)
    return tuple(Part(fitted(text, room) + " " * GAP) for text, room in pairs)


def detail(row: FactRow, pending: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the details of an attribute: labels, each with a sentence.

    ``pending``: titles of those whose sliders are not written yet.
    """
    fact = row.attribute
    others = [each for each in pending if each != fact.title]
    if others:
        yield "Not saved yet (*)", f"{listed(others)}: Enter on the row saves it."
    masked = " (m shows it)" if row.shown_value == HIDDEN else ""
    yield (
        fact.title,
        {NOT_SET: "not set, so never sent"}.get(row.shown_value, row.shown_value) + masked,
    )
    yield "May it be sent", f"it {RULED[fact.disclose]} (by {row.rule})"
    price = f"it must help by {row.bits:.4g} bits more than it costs"
    price = price if row.bits else "none but the risk of being found"
    yield "Its price", f"{price}{'' if row.slid is None else f' ({PENDING})'}. {BITS}"
    nobody = "no recipient" if row.own else "nobody: no recipient keeps it"
    yield "Known to", listed(row.holders, nobody, most=MOST_NAMED)
    yield "Its values", ", ".join(value_title(v, fact.title) for v in in_order(fact.values[1:]))
    yield "In the policy", fact.name


class ProfileScreen(SentencesPage[FactRow], where="profile"):
    """A row for each attribute of the model in use."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"profile", "policy", "models", "answer", "forget"}
    )
    sought = "a part of a title"
    tooltip_list = (
        "Your attributes. Values stay hidden until you press m. The bits say how much better an "
        "answer must get before the attribute may be sent: with 1 bit, the right result is twice "
        "as easy to find. Decide for what an attribute is, never because of your own value: a rule "
        "made for a value gives the value away by what it leaves out."
    )
    tooltip_detail = "What is known about the attribute under the cursor, and which rule decides."

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[FactRow] = ()
        self._slid: dict[str, float] = {}

    def item_look(self) -> Look[FactRow]:
        """Say how rows are shown."""
        return Look(
            key=lambda row: row.attribute.name, lines=lambda row, width: (line(row, width),)
        )

    def items(self) -> Sequence[FactRow]:
        """List the rows that pass the filter, with the sliders where they stand."""
        found = matching(self._all, self.text)
        return [replace(row, slid=self._slid.get(row.attribute.name)) for row in found]

    def explain(self, item: FactRow) -> Content:
        """Explain an attribute."""
        names = (each.attribute for each in self._all)
        pending = [each.title for each in names if each.name in self._slid]
        every = detail(item, pending)
        parts = [Content.assemble((f"{head}: ", "bold"), plain(text)) for head, text in every]
        return Content("\n").join(parts)

    def on_listing_resized(self) -> None:
        """Show the titles of the columns that fit."""
        width = self.listing.scrollable_content_region.width - 1
        self.put_text("#heads", f" {heads(width)}")

    def clear(self) -> None:
        """Show no attribute and no value."""
        self._all, self._slid = (), {}
        self.query_one(Input).value = ""
        self.draw()

    def mask(self) -> None:
        """Drop the values, or ask for them."""
        if self.review.masked:
            self._all = [replace(each, value=None) for each in self._all]
            self.draw()
        elif self.review.reachable:
            self.do(partial(self.renew, attended=True))

    async def renew(self, *, attended: bool = False) -> None:
        """Fetch attributes, values and recipients, and show them."""
        call = partial(self.review.link.call, attended=attended)
        attributes: list[AttributeStatus] = await call("attributes")
        recipients: list[Recipient] = await call("recipients")
        own: ProfileFacts = await call("profile")
        if self.review.reachable:  # else it was locked meanwhile
            held = {each.pool: each.held for each in recipients}
            self._all = rows_of(attributes, own.facts, held, masked=self.review.masked)
            self.draw()

    # sliders

    def action_more(self) -> None:
        """Raise the threshold for sharing this fact."""
        self._slide(dearer)

    def action_less(self) -> None:
        """Lower the threshold for sharing this fact."""
        self._slide(cheaper)

    def _slide(self, to: Callable[[float], float]) -> None:
        row = self.listing.under
        if row is not None:
            name, bits = row.attribute.name, to(row.bits)
            self._slid[name] = bits
            if bits == row.attribute.sensitivity_bits:
                del self._slid[name]
            self.draw()

    def action_only_back(self) -> None:
        """Put the slider back; or show all attributes again."""
        row = self.listing.under
        if row is None or self._slid.pop(row.attribute.name, None) is None:
            super().action_only_back()
        self.draw()

    @for_item
    async def action_save(self, row: FactRow) -> None:
        """Write the slider under the cursor, if it was moved."""
        if row.slid is not None:
            self._slid.pop(row.attribute.name, None)
            done = f"{row.attribute.title}: must help by {row.bits:.4g} bits"
            await self._edit(row, {"sensitivity": row.bits}, done)

    # the user's decisions

    @for_item
    async def action_set_value(self, row: FactRow) -> None:
        """Choose a value, or remove it after asking; the user learns who knows an older one."""
        fact = row.attribute
        if not row.own:
            self.review.tell(f"{fact.title} is set for each request; there is nothing to set.")
            return
        values = in_order(fact.values[1:])
        answers = [*((value_title(each, fact.title), each) for each in values), *LAST]
        every = [*values, UNSPECIFIED]
        begins = every.index(row.value) if row.value in every else None  # none while it is hidden
        question = Choice(f"Your value of: {fact.title}", answers, begins, find=True)
        picked = await self.review.push_screen_wait(question)
        if picked is None:
            return
        if picked == await self._value(fact):
            self.review.tell(f"{fact.title}: nothing changed.")
            return
        change = ProfileChange(set={fact.kind: picked})
        if picked == UNSET:
            change = ProfileChange(unset=[fact.kind])
            asked = f"Remove your value of: {fact.title}? Whoever knows it keeps it."
            if not await self.review.push_screen_wait(Confirm(asked, "remove it")):
                return
        changed: Changed = await self.ask("change_profile", change)
        done = f"{fact.title}: {'set' if picked else 'not set any more'}. u reverts that."
        more = also(changed.implied, masked=self.review.masked)
        self.review.tell("\n".join((done, *more, *outdated(changed, {fact.name: fact.title}))))

    @for_item
    async def action_copy(self, row: FactRow) -> None:
        """Copy its value, after asking, also while values are hidden."""
        fact = row.attribute
        if not row.is_set:
            self.review.tell(f"{fact.title} is {NOT_SET}; there is nothing to copy.")
            return
        asked = f"Copy your value of: {fact.title}? Every program of yours can read the clipboard."
        if await self.review.push_screen_wait(Confirm(asked, "copy it")):
            self.review.copy_to_clipboard(await self._value(fact))
            self.review.tell("Copied.")

    @for_item
    async def action_disclose(self, row: FactRow) -> None:
        """Choose whether it may be sent."""
        fact = row.attribute
        if fact.disclose == "guarded":
            self.review.tell(f"{fact.title} is kept secret, so never sent. g stops that.")
            return
        asked = f"May it be sent: {fact.title}? Decide for what it is, not for your value."
        now = {fact.disclose: " (current)"}
        answers = [
            (f"{RULINGS[each]}: it {RULED[each]}{now.get(each, '')}", each) for each in LEFT_TO
        ]
        question = Choice(asked, answers, LEFT_TO.index(fact.disclose))
        picked = await self.review.push_screen_wait(question)
        if picked not in (None, fact.disclose):
            await self._edit(row, {"disclose": picked}, f"{fact.title}: {RULED[picked]}")

    @for_item
    async def action_guard(self, row: FactRow) -> None:
        """Guard it, or guard it no more."""
        guard = 0 if row.attribute.guard else 1
        done = RULED["guarded"] if guard else "not guarded any more"
        await self._edit(row, {"guard": guard}, f"{row.attribute.title}: {done}")

    async def _value(self, fact: AttributeStatus) -> str:
        own: ProfileFacts = await self.ask("profile")
        values = (each.value for each in own.facts if each.kind == fact.kind)
        return next(values, None) or UNSET

    async def _edit(self, row: FactRow, settings: dict[str, Value], done: str) -> None:
        edit = PolicyEdit(attribute=plain_name(row.attribute), set=settings)
        made: Edited = await self.ask("edit_policy", edit)
        self.review.tell(edited(done, made))
