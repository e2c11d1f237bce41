"""The policy: its problems, its rules and its defaults."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult, SuspendNotSupported
from textual.content import Content
from textual.widgets import Static

from agent.errors import UsageError
from agent.tui.page import SentencesPage, background
from agent.tui.plain import fitted, plain, plain_lines
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.policy import RuleRemark, RulesStatus, RuleStatus
from agent.wire.state import EventKind
from agent.words.titles import write_policy

REMARK, EXPIRED, WRONG = "!", "×", "✗"
LEGEND = f"{REMARK} see below   {EXPIRED} expired"
MADE = f"{write_policy('it')}: e opens the editor."
NAME = 45  # of a hundred columns, for what stands before the last part of a line


class PolicyItem(NamedTuple):
    """What stands in the list.

    ``key``: by which it is recognised, wherever it moves; ``cells``: its signs, then
    one or two more; ``line``: of the file, None for none; ``text``: all that there is to say;
    ``title``: it heads a part, and the cursor passes over it.
    """

    key: Hashable
    cells: tuple[Part, ...]
    line: int | None = None
    text: str = ""
    title: bool = False


def items_of(rules: RulesStatus) -> list[PolicyItem]:
    """List the mistakes, each rule, and the defaults."""
    counts: Counter[Hashable] = Counter()  # two rules may have one name
    items = []
    for each in _items(rules):
        items.append(each._replace(key=(each.key, counts[each.key])))
        counts[each.key] += 1
    return items


def headline(rules: RulesStatus) -> str:
    """Say whether the rules are in use; mistakes in the file come first."""
    if not rules.in_use:
        why = "has mistakes" if rules.problems else f"does not exist; {MADE}"
        return f"{WRONG} No rules are in use, so nothing is attached: {rules.path} {why}"
    count = len(rules.problems)
    return f"{WRONG} {count} to mend: the last good rules stay in use." if count else "In use."


def _items(rules: RulesStatus) -> Iterator[PolicyItem]:
    """Yield the mistakes, the rules of the file and of the preset, and the defaults."""
    if rules.problems:
        yield _title(f"WHAT IS WRONG with {rules.path}")
    for each in rules.problems:
        what = _what(each)
        mend = f"{rules.path}, line {each.line}: e opens it there."
        cells = (_lead(WRONG, f"line {each.line}", "bad"), Part(what, "bad"))
        yield PolicyItem(
            ("problem", what), cells, each.line, f"{WRONG} {what}\n{each.hint}\n{mend}"
        )
    source = None
    for rule in sorted(rules.rules, key=lambda each: each.line is None):
        if rule.source != source:
            source = rule.source
            yield _title(f"RULES of {'your file' if rule.line is not None else f'the {source}'}")
        yield PolicyItem(("rule", rule.name), _cells(rule), rule.line, _text(rule))
    if rules.effective:
        yield _title("DEFAULTS: what holds where no rule for some requests says otherwise")
    for setting in rules.effective:
        line = "" if setting.line is None else f", line {setting.line}"
        value = f"{setting.key} = {setting.value}"
        setting_cells = (_lead("", ""), Part(value), Part(setting.rule, "muted"))
        text = f"{value}\nFrom {setting.rule}{line}."
        yield PolicyItem(("setting", setting.key), setting_cells, setting.line, text)


def _cells(rule: RuleStatus) -> tuple[Part, ...]:
    """Draw a rule: its name, and what it sets, or why it never does."""
    sign = EXPIRED if rule.expired else REMARK if rule.remarks else " "
    sets = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
    if rule.remarks and not rule.expired:
        sets = f"{rule.remarks[0].what} ({sets})"
    return (
        _lead(sign, ""),
        Part(rule.name.removeprefix(f"{rule.source}, "), "muted" if rule.expired else "strong"),
        Part(sets, "muted" if rule.expired else "plain"),
    )


def _text(rule: RuleStatus) -> str:
    """Explain a rule, a sentence in each line."""
    whom = "; ".join(f"{key} {text}" for key, text in rule.conditions.items())
    lines = [rule.name, f"{whom or 'every request'}:"]
    lines.append("\n".join(f"  {key} = {value}" for key, value in rule.settings.items()))
    if rule.expires is not None:
        applies = f"{EXPIRED} It applied" if rule.expired else "It applies"
        lines.append(f"{applies} up to and including {rule.expires}.")
    lines += [f"{REMARK} {_what(each)}: {each.hint}." for each in rule.remarks]
    own = rule.line is not None
    lines.append(f"From {rule.source}, line {rule.line}." if own else f"From the {rule.source}.")
    return "\n".join(lines)


def _what(problem: RuleRemark) -> str:
    return f"{problem.key}: {problem.what}" if problem.key else problem.what


def _lead(signs: str, text: str, kind: Kind = "plain") -> Part:
    return Part(f"{signs:>2} {text:<8}", kind)


def _title(text: str) -> PolicyItem:
    return PolicyItem(("title", text), (Part(text, "accent"),), title=True)


def drawn(item: PolicyItem, width: int) -> Line:
    """Draw an item as a line of this width; what has no room is cut, with an ellipsis."""
    *before, last = item.cells
    cells, room = [], width
    for place, each in enumerate(before):
        columns = cell_len(each.text) if place == 0 else room * NAME // 100
        cells.append(Part(f"{fitted(each.text, columns)} ", each.kind))
        room -= columns + 1
    return (*cells, Part(fitted(last.text, room), last.kind))


class PolicyScreen(SentencesPage[PolicyItem], where="policy"):
    """What is wrong with the file, its rules, and the defaults."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy"})
    tooltip_list = (
        "What is wrong with your policy, then its rules, then the defaults. Enter opens the file "
        "in your editor, at the line of what is under the cursor."
    )
    tooltip_detail = "All about what is under the cursor of the list. Up and down scroll it."

    def __init__(self) -> None:
        super().__init__()
        self._rules: RulesStatus | None = None

    def body(self) -> ComposeResult:
        """Lay what the signs mean below the list."""
        yield from super().body()
        yield Static(LEGEND, id="legend")

    def item_look(self) -> Look[PolicyItem]:
        """Say how items are shown."""
        return Look(
            key=lambda item: item.key,
            lines=lambda item, width: (drawn(item, width),),
            rests=lambda item: not item.title,
        )

    def items(self) -> Sequence[PolicyItem]:
        """List the mistakes, the rules, and the defaults."""
        return items_of(self._rules) if self._rules else []

    def explain(self, item: PolicyItem) -> Content:
        """Explain an item."""
        return Content(plain_lines(item.text))

    async def renew(self) -> None:
        """Show the rules, and what is wrong with them."""
        rules: RulesStatus = await self.review.link.call("rules")
        if self.review.reachable:  # else it was locked meanwhile
            self._rules = rules
            self.put_text("#headline", plain(headline(rules)))
            self.draw()

    def clear(self) -> None:
        """Show no rule: they name recipients, and words of queries."""
        self._rules = None
        self.put_text("#headline", "")
        self.draw()

    def action_edit(self) -> None:
        """Have the user change the file, and read it then."""
        if self._rules is None:
            return
        item, failed = self.listing.under, None
        try:
            with self.app.suspend():  # an error must not leave it: it would never resume
                try:
                    line = None if item is None else item.line
                    self.review.environment.edit(self._rules.path, line)
                except UsageError as error:
                    failed = error
        except SuspendNotSupported:
            hint = "use another terminal, or `reticent policy set`"
            failed = UsageError("no editor can be shown in this terminal", hint)
        if failed is None:
            self.action_reload()
        else:
            self.review.say(failed)

    @background
    async def action_reload(self) -> None:
        """Have the daemon read the file."""
        await self.ask("reload")
        await self.renew()
        count = 0 if self._rules is None else len(self._rules.problems)
        rest = f"{count} to mend; the last good rules stay in use"
        self.review.tell(f"Read: {rest}." if count else "Read.")
