"""The policy: its problems, its rules, and which of them decided last."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from agent.errors import UsageError
from agent.tui.page import Page
from agent.tui.plain import fitted, plain
from agent.tui.screens.requests_list import when
from agent.tui.virtual_list import Kind, Line, Listing, Look, Part, Said
from agent.wire.policy import Problem, RulesStatus, RuleStatus
from agent.wire.state import EventKind
from agent.words.outcomes import write_policy

LAST, REMARK, OVER, WRONG = "*", "!", "×", "✗"
NEVER = "–"
LEGEND = f"{LAST} decided last   {NEVER} not yet   {REMARK} see below   {OVER} expired"
MADE = f"{write_policy('it')}: e opens the editor."
NAMED = 3  # rules that the sentence on top names
TOOLTIP = (
    "What is wrong with your policy, then its rules with the time when each last decided something "
    "about a request, then what holds for everything else. Enter opens the file in your editor, at "
    "the line of what is under the cursor."
)
BELOW = "All that is to be said of what is under the cursor of the list. Up and down scroll it."
NAME = 45  # of a hundred columns, for what stands before the last part of a line


class Item(NamedTuple):
    """What stands in the list.

    ``key``: by which it is known again, wherever it goes; ``cells``: its signs and the time, then
    one or two more; ``line``: of the file, None for none; ``said``: of it, whole; ``title``: it
    heads a part, and the cursor passes over it.
    """

    key: Hashable
    cells: tuple[Part, ...]
    line: int | None = None
    said: str = ""
    title: bool = False


def items_of(rules: RulesStatus, now: datetime) -> list[Item]:
    """Return the parts of the list: what is wrong, each rule, what holds for all else."""
    found = [*_problems(rules), *_rules(rules, now), *_effective(rules)]
    return [*_told_apart(found)]


def headline(rules: RulesStatus, now: datetime) -> str:
    """Return which rules decided last, and when; what is wrong with the file goes before it."""
    if not rules.in_use:
        why = "has mistakes" if rules.problems else f"does not exist; {MADE}"
        return f"{WRONG} No rules are in use, so nothing is attached: {rules.path} {why}"
    count = len(rules.problems)
    stay = f"{WRONG} {count} to mend: the last good rules stay in use. " if count else ""
    at, last = last_of(rules)
    if at is None:
        return f"{stay}No rule has decided since {_exactly(rules.since, now)}."
    names = ", ".join(each.name for each in last[:NAMED])
    more = f" and {len(last) - NAMED} more" if len(last) > NAMED else ""
    return f"{stay}Decided last, at {_exactly(at, now)}: {names}{more}"


def last_of(rules: RulesStatus) -> tuple[datetime | None, list[RuleStatus]]:
    """Return when a rule last decided, and which did then, those of the user's own file first."""
    at = max((each.fired_at for each in rules.rules if each.fired_at is not None), default=None)
    last = [each for each in rules.rules if at is not None and each.fired_at == at]
    return at, sorted(last, key=lambda each: each.line is None)


def _problems(rules: RulesStatus) -> Iterator[Item]:
    if rules.problems:
        yield _title(f"WHAT IS WRONG with {rules.path}")
    for each in rules.problems:
        cells = (_lead(WRONG, f"line {each.line}", "bad"), Part(_of(each), "bad"))
        yield Item(("problem", _of(each)), cells, each.line, _mended(each, rules.path))


def _rules(rules: RulesStatus, now: datetime) -> Iterator[Item]:
    """Yield the rules of the file, then those of the preset, each with when it decided."""
    _, last = last_of(rules)
    source = None
    for each in sorted(rules.rules, key=lambda each: each.line is None):
        if each.source != source:
            source = each.source
            yield _title(f"RULES of {'your file' if each.line is not None else f'the {source}'}")
        sign = OVER if each.expired else REMARK if each.remarks else " "
        mark = LAST if each in last else " "
        time = NEVER if each.fired_at is None else when(each.fired_at, now)
        lead = _lead(mark + sign, time, "good" if each in last else "plain")
        kind: Kind = "muted" if each.expired else "plain"
        name = Part(each.name.removeprefix(f"{source}, "), "muted" if each.expired else "strong")
        cells = (lead, name, _does(each, kind))
        yield Item(("rule", each.name), cells, each.line, _told(each, rules, now))


def _effective(rules: RulesStatus) -> Iterator[Item]:
    if rules.effective:
        yield _title("WHAT HOLDS where no rule for some requests says otherwise")
    for each in rules.effective:
        line = "" if each.line is None else f", line {each.line}"
        cells = (_lead("", ""), Part(f"{each.key} = {each.value}"), Part(each.rule, "muted"))
        told = f"{each.key} = {each.value}\nSaid by {each.rule}{line}."
        yield Item(("setting", each.key), cells, each.line, told)


def _told_apart(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items with keys of their own: two rules may have one name."""
    seen: Counter[Hashable] = Counter()
    for each in items:
        yield each._replace(key=(each.key, seen[each.key]))
        seen[each.key] += 1


def _told(rule: RuleStatus, rules: RulesStatus, now: datetime) -> str:
    """Return all that there is to say of a rule, a sentence in each line."""
    whom = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
    sets = "\n".join(f"  {key} = {value}" for key, value in rule.settings.items())
    lines = [rule.name, f"{whom or 'every request'}:", sets]
    if rule.fired_at is not None:
        lines.append(f"It last decided something at {_exactly(rule.fired_at, now)}.")
    elif not rule.expired:
        lines.append(f"It has decided nothing since {_exactly(rules.since, now)}.")
    if rule.expires is not None:
        lines.append(f"{OVER} It held" if rule.expired else "It holds")
        lines[-1] += f" up to and on {rule.expires}."
    lines += [f"{REMARK} {_of(each)}: {each.hint}." for each in rule.remarks]
    own = rule.line is not None
    lines.append(f"From {rule.source}, line {rule.line}." if own else f"From the {rule.source}.")
    return "\n".join(lines)


def _does(rule: RuleStatus, kind: Kind) -> Part:
    """Return what a rule sets; or why it does not, where that is so."""
    sets = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
    if rule.remarks and not rule.expired and rule.fired_at is None:
        return Part(f"{rule.remarks[0].what} ({sets})", kind)
    return Part(sets, kind)


def _mended(problem: Problem, path: str) -> str:
    return f"{WRONG} {_of(problem)}\n{problem.hint}\n{path}, line {problem.line}: e opens it there."


def _of(problem: Problem) -> str:
    return f"{problem.key}: {problem.what}" if problem.key else problem.what


def _exactly(at: datetime, now: datetime) -> str:
    """Return a time with its seconds, and the day where that is not today."""
    here = at.astimezone(now.tzinfo)
    return f"{here:%H:%M:%S}" if here.date() == now.date() else f"{here:%Y-%m-%d %H:%M}"


def _lead(signs: str, text: str, kind: Kind = "plain") -> Part:
    return Part(f"{signs:>2} {text:<8}", kind)


def _title(text: str) -> Item:
    return Item(("title", text), (Part(text, "accent"),), title=True)


def drawn(item: Item, width: int) -> Line:
    """Return an item as a line of so many columns; what has no room is cut, with a sign."""
    *before, last = item.cells
    cells, room = [], width
    for place, each in enumerate(before):
        columns = cell_len(each.text) if place == 0 else room * NAME // 100
        cells.append(Part(f"{fitted(each.text, columns)} ", each.kind))
        room -= columns + 1
    return (*cells, Part(fitted(last.text, room), last.kind))


LOOK: Look[Item] = Look(
    key=lambda item: item.key,
    lines=lambda item, width: (drawn(item, width),),
    height=lambda _item, _width: 1,
    rests=lambda item: not item.title,
)


class PolicyScreen(Page, where="policy"):
    """What is wrong with the file, its rules, and what holds for all else."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "answer", "nothing"})

    def __init__(self) -> None:
        super().__init__()
        self._rules: RulesStatus | None = None

    def body(self) -> ComposeResult:
        """Lay what decided last on top, then the list, and what is said of one item of it."""
        yield Static(id="headline")
        yield Static(LEGEND, id="legend")
        with Container(classes="told"):
            yield Listing(LOOK, id="first", tooltip=TOOLTIP)
            yield Said(tooltip=BELOW)

    async def renew(self) -> None:
        """Show the rules, and what is wrong with them."""
        rules: RulesStatus = await self.review.link.call("rules")
        if not self.review.reachable:
            return  # locked meanwhile
        self._rules = rules
        now = self.review.environment.clock()
        self.query_one("#headline", Static).update(Content(plain(headline(rules, now))))
        self._listing().show(items_of(rules, now))
        self._say()

    def clear(self) -> None:
        """Show no rule: they name recipients, and words of queries."""
        self._rules = None
        self.query_one("#headline", Static).update("")
        self._listing().show([])
        self._say()

    def on_listing_moved(self) -> None:
        """Say more of what is under the cursor."""
        self._say()

    def on_listing_chosen(self) -> None:
        """Say more of what was clicked."""
        self._say()

    def action_edit(self) -> None:
        """Have the user change the file, and read it then."""
        if self._rules is None:
            return
        item = self._listing().under
        try:
            with self.app.suspend():  # an error must not leave it: it would never resume
                failed = self._edited(self._rules.path, None if item is None else item.line)
        except SuspendNotSupported:
            hint = "use another terminal, or `reticent policy set`"
            failed = UsageError("no editor can be shown in this terminal", hint)
        if failed is None:
            self.action_reload()
        else:
            self.review.say(failed)

    def _edited(self, path: str, line: int | None) -> UsageError | None:
        """Have the user change a file; return why that cannot be."""
        try:
            self.review.environment.edit(path, line)
        except UsageError as error:
            return error
        return None

    def action_reload(self) -> None:
        """Have the daemon read the file."""
        self.do(self._reload)

    def action_blocks(self) -> None:
        """Go to the first item of the next part, after the last to that of the first."""
        listing = self._listing()
        items, under = listing.items, listing.under
        at = -1 if under is None else items.index(under)
        firsts = [place + 1 for place, each in enumerate(items[:-1]) if each.title]
        if firsts:
            listing.put(items[next((each for each in firsts if each > at), firsts[0])].key)

    async def _reload(self) -> None:
        await self.review.link.call("reload", attended=True)
        await self.renew()
        count = 0 if self._rules is None else len(self._rules.problems)
        self.review.tell("Read." if not count else f"Read: {count} to mend; the old rules hold.")

    def _listing(self) -> Listing[Item]:
        return self.query_one("#first", Listing)

    def _say(self) -> None:
        item = self._listing().under
        self.query_one(Said).say("" if item is None else item.said)
