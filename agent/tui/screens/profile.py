"""The user's own values as rows, and which of them may be sent."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from textual.content import Content

from agent.errors import UsageError
from agent.tui.dialogs import Choice, TextQuestion, confirm
from agent.tui.list_page import COPIED, SentencesPage, for_item
from agent.tui.page import LEFT_TO, background, write_rule
from agent.tui.plain import HIDDEN, fitted, plain
from agent.tui.virtual_list import Line, Look, Part
from agent.wire import state
from agent.wire.policy import AttributeStatus, PolicyEdit, Value
from agent.words.figures import SENSITIVITIES, listed, rarity, removes, sensitivity, whom
from agent.words.notices import MOST_NAMED, also, outdated, taken_for
from agent.words.titles import RULED, RULINGS, in_order, stated, value_title

STEPS = (0.0, *SENSITIVITIES.values(), 1.0, 2.0, 5.0, 10.0)  # bits
NOT_SET = "not set"
EACH_REQUEST = "each request"  # sets it anew
BITS = "With 1 bit, the right result is twice as easy to find."
GAP = 2  # columns between two
UNSET = ""  # in place of a value
UNSPECIFIED = "unspecified"  # values[0]: set like any other
LAST = (
    ("not said: you prefer not to say, which is an answer too", UNSPECIFIED),
    ("not set, so never sent", UNSET),
)
IN_WORDS = "A fact about you, in your own words, such as: I'm allergic to peanuts"
KEEP = (("keep it", True), ("drop it", False))


@dataclass(frozen=True, slots=True)
class FactRow:
    """An attribute; ``holders``: the recipients that know it.

    ``value``: None while values are hidden; ``figures``: None unless it is set.
    """

    attribute: AttributeStatus
    is_set: bool = False
    value: str | None = field(default=None, repr=False)
    figures: state.FactFigures | None = None
    holders: tuple[str, ...] = ()

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
        fact = self.attribute
        return HIDDEN if self.value is None else stated(self.value, fact.title, own=self.in_words)

    @property
    def in_words(self) -> bool:
        """Whether it is a fact in the user's own words."""
        return self.attribute.name.startswith("#")


def plain_name(attribute: AttributeStatus) -> str:
    """Name an attribute as its own model does, without the prefix MODEL."""
    return attribute.name.removeprefix(f"{attribute.model}.")


def rows_of(
    attributes: Sequence[AttributeStatus],
    own: state.ProfileFacts,
    known_by: Mapping[str, Collection[str]],
    *,
    masked: bool,
) -> list[FactRow]:
    """Lay out a row for each kind of fact; ``known_by``: names of facts by the recipient's pool.

    Where a person may hold several of a kind, the next one has a row once those before are set.
    """
    values = {each.kind: each.value for each in own.facts if each.value}
    figures = {each.kind: own.figures.get(each.id) for each in own.facts if each.value}
    words = {f"#{each.id}": each for each in own.facts if each.words}
    rows, complete = [], True
    for each in attributes:
        if fact := words.get(each.name):
            more = own.figures.get(fact.id, state.FactFigures())
            row = FactRow(each, is_set=True, figures=more, holders=(*more.pools,))
            rows.append(row if masked else replace(row, value=fact.words))
            continue
        if each.shared in ("", each.name):
            complete = True
        if not complete and each.kind not in values:
            continue
        complete = complete and each.kind in values
        value = None if masked else values.get(each.kind)
        names = {each.name, f"{each.model}.{plain_name(each)}"}
        holders = tuple(pool for pool, theirs in known_by.items() if names.intersection(theirs))
        is_set = each.scope == "person" and each.kind in values
        rows.append(FactRow(each, is_set, value, figures.get(each.kind), holders))
    return rows


def matching(rows: Iterable[FactRow], text: str) -> list[FactRow]:
    """Filter rows whose title or name contains a text, in any case."""
    wanted = text.strip().casefold()
    return [e for e in rows if wanted in f"{e.attribute.title.casefold()}\n{e.attribute.name}"]


def columns(width: int) -> dict[str, int]:
    """Choose the columns that a list of this width has room for, with their own widths."""
    fixed = {"value": 13, "may be sent": 13, "you would tell": 14}
    return {"fact": max(8, width - GAP * len(fixed) - sum(fixed.values())), **fixed}


def heads(width: int) -> str:
    """Head the columns."""
    return (" " * GAP).join(fitted(title, room) for title, room in columns(width).items())


def cells(row: FactRow) -> tuple[str, ...]:
    """Fill the cells of a row."""
    fact = row.attribute
    told = whom(fact.sensitivity_bits) if fact.sensitivity_bits else "anybody"
    return fact.title, row.shown_value, RULINGS[fact.disclose], told


def line(row: FactRow, width: int) -> Line:
    """Draw a row as a line."""
    pairs = zip(cells(row), columns(width).values(), strict=True)
    return tuple(Part(fitted(text, room) + " " * GAP) for text, room in pairs)


def detail(row: FactRow) -> Iterator[tuple[str, str]]:
    """Yield the details of an attribute: labels, each with a sentence."""
    fact = row.attribute
    masked = " (m shows it)" if row.shown_value == HIDDEN else ""
    value = "not set, so never sent" if row.shown_value == NOT_SET else row.shown_value
    yield fact.title, value + masked
    if row.figures is not None and row.figures.helps_with:
        yield "It helps with", listed(row.figures.helps_with)
    if row.figures is not None and row.figures.share and row.value is not None:
        yield "Shared by", f"{rarity(row.figures.share)} of the {row.figures.share_of}"
    where = "" if fact.line is None else f", line {fact.line}"
    yield "May it be sent", f"it {RULED[fact.disclose]} (by {fact.rule}{where})"
    yield "Its price", f"{price(fact.sensitivity_bits)}. {BITS}"
    nobody = "no recipient" if row.own else "nobody: no recipient keeps it"
    yield "Known to", listed(row.holders, nobody, most=MOST_NAMED)
    if fact.values:
        yield "Its values", ", ".join(value_title(v, fact.title) for v in in_order(fact.values[1:]))
    yield "In the policy", fact.name


def price(bits: float) -> str:
    """Say how much an attribute must help, beyond the risk of being found."""
    if not bits:
        return "none but the risk of being found"
    return f"it must help by {sensitivity(bits)} more than it costs"


class ProfileScreen(SentencesPage[FactRow], where="profile"):
    """A row for each attribute of the model in use."""

    concerns: ClassVar[frozenset[state.EventKind]] = frozenset(
        {"profile", "policy", "models", "answer", "forget"}
    )

    def item_look(self) -> Look[FactRow]:
        """Say how rows are shown."""
        return Look(
            key=lambda row: row.attribute.name, lines=lambda row, width: (line(row, width),)
        )

    def items(self) -> Sequence[FactRow]:
        """List the rows that pass the filter."""
        return matching(self._all, self.text)

    def record(self, item: FactRow) -> Mapping[str, str]:
        """Name the cells of a fact in a file."""
        return dict(zip(columns(COPIED), cells(item), strict=True))

    def explain(self, item: FactRow) -> Content:
        """Explain an attribute."""
        every = (Content.assemble((f"{head}: ", "bold"), plain(e)) for head, e in detail(item))
        return Content("\n").join(every)

    def on_listing_resized(self) -> None:
        """Show the titles of the columns that fit."""
        self.put_text("#heads", f" {heads(self.listing.scrollable_content_region.width - 1)}")

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
        recipients: list[state.Recipient] = await call("recipients")
        own: state.ProfileFacts = await call("profile")
        if self.review.reachable:  # else it was locked meanwhile
            known_by = {each.pool: each.held for each in recipients}
            self._all = rows_of(attributes, own, known_by, masked=self.review.masked)
            self.draw()

    # the user's decisions

    @background
    async def action_add(self) -> None:
        """Take a fact in the user's own words, and keep it once they have seen what it is."""
        text = await self.review.push_screen_wait(TextQuestion(IN_WORDS))
        if text is None or not text.strip():
            return
        draft: state.FactDraft = await self.ask("propose", state.FactTexts(texts=[text.strip()]))
        kinds, keep = (e.attribute for e in self._all if not e.in_words), list[state.FactEdit]()
        titles = {each.kind: each.title for each in kinds}
        for each in draft.proposals:
            about = taken_for(each, titles.get(each.fact.kind, each.fact.kind)).items()
            lines = (f"{label}: {what}" for label, what in about)
            text = "\n".join((f"Keep {each.fact.words!r}?", *lines))
            if await self.review.push_screen_wait(Choice(text, KEEP, 1 - each.is_new)):
                keep.append(state.FactEdit(id=each.fact.id))
        if keep:
            await self.ask("change_profile", state.ProfileChange(draft=draft.draft, keep=keep))
            self.review.tell("Kept in your words. u reverts that.")
            self.soon()

    @for_item
    async def action_set_value(self, row: FactRow) -> None:
        """Choose a value, or remove it after asking; the user learns who knows an older one."""
        fact = row.attribute
        if not row.own:
            self.review.tell(f"{fact.title} is set for each request; there is nothing to set.")
            return
        if row.in_words:
            text = f"Remove {row.shown_value}? Whoever knows it keeps it."
            if await self.review.push_screen_wait(confirm(text, "remove it")):
                await self.ask("change_profile", state.ProfileChange(unset=[fact.name[1:]]))
                self.review.tell("Removed. u reverts that.")
            return
        values = in_order(fact.values[1:])
        answers = [*((value_title(each, fact.title), each) for each in values), *LAST]
        # None while it is hidden.
        begins = next((at for at, (_, each) in enumerate(answers) if each == row.value), None)
        question = Choice(f"Your value of: {fact.title}", answers, begins, find=True)
        picked = await self.review.push_screen_wait(question)
        if picked is None:
            return
        some = {"set": {fact.kind: picked}} if picked else {"unset": [fact.kind]}
        change = partial(state.ProfileChange, **some)
        text = "" if picked else f"Remove your value of: {fact.title}? Whoever knows it keeps it. "
        planned: state.Changed = await self.ask("change_profile", change(dry_run=True))
        text += removes(planned.gone, masked=self.review.masked)
        if text and not await self.review.push_screen_wait(confirm(text.strip(), "remove it")):
            return
        changed: state.Changed = await self.ask("change_profile", change())
        done = f"{fact.title}: {'set' if picked else 'not set any more'}. u reverts that."
        if not changed.changes:
            done = f"{fact.title}: nothing changed."
        more = also(changed.implied, masked=self.review.masked)
        self.review.tell("\n".join((done, *more, *outdated(changed, {fact.name: fact.title}))))

    @for_item
    async def action_disclose(self, row: FactRow) -> None:
        """Choose whether it may be sent."""
        fact = row.attribute
        if fact.disclose == "guarded":
            self.review.tell(f"{fact.title} is kept secret, so never sent. g stops that.")
            return
        text = f"May it be sent: {fact.title}? Decide for what it is, not for your value."
        now = {fact.disclose: " (current)"}
        answers = [
            (f"{RULINGS[each]}: it {RULED[each]}{now.get(each, '')}", each) for each in LEFT_TO
        ]
        question = Choice(text, answers, LEFT_TO.index(fact.disclose))
        picked = await self.review.push_screen_wait(question)
        if picked not in (None, fact.disclose):
            await self._edit(row, {"disclose": picked}, f"{fact.title}: it {RULED[picked]}")

    @for_item
    async def action_price(self, row: FactRow) -> None:
        """Choose how much it must help beyond what it costs."""
        fact, now = row.attribute, row.attribute.sensitivity_bits
        steps = sorted({*STEPS, now})
        answers = [(f"{price(each)}{' (current)' * (each == now)}", each) for each in steps]
        question = f"What is the price of: {fact.title}? {BITS}"
        picked = await self.review.push_screen_wait(Choice(question, answers, steps.index(now)))
        if picked not in (None, now):
            await self._edit(row, {"sensitivity": picked}, f"{fact.title}: {price(picked)}")

    @for_item
    async def action_guard(self, row: FactRow) -> None:
        """Guard it, or guard it no more: then the file has no line about it again."""
        title = row.attribute.title
        if not row.attribute.guard:
            await self._edit(row, {"guard": 1}, f"{title}: it {RULED['guarded']}")
            return
        done = f"{title}: not kept secret any more"
        try:
            await self._edit(row, {}, done, "guard")
        except UsageError:  # another rule than its own guards it
            await self._edit(row, {"guard": 0}, done)

    async def _edit(self, row: FactRow, settings: dict[str, Value], done: str, *unset: str) -> None:
        edit = PolicyEdit(attribute=plain_name(row.attribute), set=settings, unset=[*unset])
        await write_rule(self, edit, done)
