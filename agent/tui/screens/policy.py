"""The policy: its problems, its rules and its defaults."""

import json
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import ClassVar, NamedTuple

from msgspec.structs import replace
from textual.app import SuspendNotSupported
from textual.content import Content

from agent.errors import UsageError
from agent.tui.dialogs import Choice
from agent.tui.list_page import SentencesPage, for_item
from agent.tui.page import LEFT_TO, background, write_rule
from agent.tui.plain import fitted, plain, plain_lines
from agent.tui.virtual_list import Line, Look, Part
from agent.wire.policy import PolicyEdit, RuleRemark, RulesStatus, RuleStatus
from agent.wire.state import EventKind
from agent.words.figures import listed
from agent.words.titles import HOLDING, NONE, RULED, RULINGS, Titles, titled, write_policy

REMARK, EXPIRED, WRONG = "!", "×", "✗"
ABOUT = {"attribute": "{}", "recipient": "for {}", "query": "with “{}”"}  # of a rule's conditions
AWAY = ""  # in place of what a rule says
ELSEWHERE = ("this cannot be changed here", "e opens the file in your editor")
MADE = f"{write_policy('it')}: e opens the editor."
NAME = 55  # of a hundred columns, for what a line is about


class PolicyItem(NamedTuple):
    """What stands in the list.

    ``key``: by which it is recognised, wherever it moves; ``cells``: what it is about, with its
    sign, and what it says; ``line``: of the file, None for none; ``text``: all there is to say;
    ``title``: it heads a part, and the cursor passes over it.
    """

    key: Hashable
    cells: tuple[Part, ...]
    line: int | None = None
    text: str = ""
    title: bool = False
    rule: RuleStatus | None = None


def items_of(rules: RulesStatus, titles: Titles = NONE) -> list[PolicyItem]:
    """List the mistakes, each rule, and the defaults."""
    counts: Counter[Hashable] = Counter()  # two rules may have one name
    items = []
    for each in _items(rules, titles):
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


def _items(rules: RulesStatus, titles: Titles) -> Iterator[PolicyItem]:
    """Yield the mistakes, the rules of the file and of the preset, and the defaults."""
    if rules.problems:
        yield _title(f"WHAT IS WRONG with {rules.path}")
    for each in rules.problems:
        what, mend = _what(each), f"{rules.path}, line {each.line}: e opens it there."
        cells = (Part(f"{WRONG} line {each.line}: {what}", "bad"),)
        yield PolicyItem(
            ("problem", what), cells, each.line, f"{WRONG} {what}\n{each.hint}\n{mend}"
        )
    source, shipped = None, set[object]()
    for rule in sorted(rules.rules, key=lambda each: each.line is None):
        parts = _cells(rule, titles)
        if rule.line is None and (rule.source, parts) in shipped:  # as another model calls a fact
            continue
        shipped.add((rule.source, parts))
        if rule.source != source:
            source = rule.source
            yield _title(f"RULES of {'your file' if rule.line is not None else f'the {source}'}")
        yield PolicyItem(("rule", rule.name), parts, rule.line, _text(rule), rule=rule)
    if rules.effective:
        yield _title("DEFAULTS: what holds where no rule for some requests says otherwise")
    for setting in rules.effective:
        line = "" if setting.line is None else f", line {setting.line}"
        value = f"{setting.key} = {setting.value}"
        shown = value
        if setting.key in HOLDING:
            shown = HOLDING[setting.key].format(json.loads(setting.value))
        setting_cells = (Part(f"  {shown} ({setting.rule})"),)
        text = f"{value}\nFrom {setting.rule}{line}."
        yield PolicyItem(("setting", setting.key), setting_cells, setting.line, text)


def subject(rule: RuleStatus, titles: Titles) -> str:
    """Say in words what a rule is about: facts, recipients, texts."""
    parts = {key: each for key, each in rule.conditions.items() if key in ABOUT}
    names = parts.get("attribute", "").split(", ")
    parts |= {"attribute": listed(titled(names, titles))} if "attribute" in parts else {}
    return " ".join(ABOUT[key].format(parts[key]) for key in ABOUT if key in parts)


def effect(key: str, value: str) -> str:
    """Say in words what a setting does, as TOML where there are none."""
    if key in ("disclose", "guard"):
        return RULINGS["guarded"] if key == "guard" else RULINGS.get(value.strip('"'), value)
    if key == "price":
        return f"{value} bits more for all of them"
    return "is sent nothing" if (key, value) == ("nothing", "true") else f"{key} = {value}"


def _cells(rule: RuleStatus, titles: Titles) -> tuple[Part, ...]:
    """Draw a rule: what it is about, and what it does, or why it never does."""
    sign = EXPIRED if rule.expired else REMARK if rule.remarks else " "
    sets = ", ".join(effect(key, value) for key, value in rule.settings.items())
    name = subject(rule, titles) or rule.name.removeprefix(f"{rule.source}, ")
    if rule.remarks and not rule.expired:
        sets = f"{rule.remarks[0].what} ({sets})"
    if not rule.conditions and len(rule.settings) > 1:
        sets = f"{len(rule.settings)} settings, which stand below"
    if rule.expired:
        sets = f"expired: {sets}"
    return (
        Part(f"{sign} {name}", "muted" if rule.expired else "strong"),
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
    source = f"{rule.source}, line {rule.line}" if rule.line else f"the {rule.source}"
    return "\n".join([*lines, f"From {source}."])


def _what(problem: RuleRemark) -> str:
    return f"{problem.key}: {problem.what}" if problem.key else problem.what


def _title(text: str) -> PolicyItem:
    return PolicyItem(("title", text), (Part(text, "accent"),), title=True)


def drawn(item: PolicyItem, width: int) -> Line:
    """Draw an item as a line of this width; what has no room is cut, with an ellipsis."""
    *before, last = item.cells
    room = width * NAME // 100
    cells = [Part(f"{fitted(each.text, room - 1)} ", each.kind) for each in before]
    return (*cells, Part(fitted(last.text, width - room * len(before)), last.kind))


class PolicyScreen(SentencesPage[PolicyItem], where="policy"):
    """What is wrong with the file, its rules, and the defaults."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy"})

    def __init__(self) -> None:
        super().__init__()
        self._rules: RulesStatus | None = None

    def item_look(self) -> Look[PolicyItem]:
        """Say how items are shown."""
        return Look(
            key=lambda item: item.key,
            lines=lambda item, width: (drawn(item, width),),
            rests=lambda item: not item.title,
        )

    def explain(self, item: PolicyItem) -> Content:
        """Explain an item."""
        return Content(plain_lines(item.text))

    async def renew(self) -> None:
        """Show the rules, and what is wrong with them."""
        rules: RulesStatus = await self.review.link.call("rules")
        titles = await self.review.titles() if rules.in_use else NONE
        if self.review.reachable:  # else it was locked meanwhile
            self._rules, self._titles, self._all = rules, titles, items_of(rules, titles)
            self.put_text("#headline", plain(headline(rules)))
            self.draw()

    def clear(self) -> None:
        """Show no rule: they name recipients, and words of queries."""
        self._rules = None
        super().clear()

    def action_edit(self) -> None:
        """Have the user change the file, and read it then."""
        if self._rules is None:
            return
        item, failed = self.listing.under, None
        try:
            with self.app.suspend():  # an error must not leave it: it would never resume
                try:
                    self.review.environment.edit(self._rules.path, item and item.line)
                except UsageError as error:
                    failed = error
        except SuspendNotSupported:
            hint = "use another terminal, or `reticent policy set`"
            failed = UsageError("no editor can be shown in this terminal", hint)
        if failed is None:
            self.action_reload()
        else:
            self.review.say(failed)

    @for_item
    async def action_change(self, item: PolicyItem) -> None:
        """Choose what a rule is to say of its facts, or take it away."""
        rule = item.rule
        more = {*rule.conditions} - {*ABOUT, "expires"} if rule else ()
        if rule is None or more or any(", " in each for each in rule.conditions.values()):
            raise UsageError(*ELSEWHERE)
        rulings = LEFT_TO if "disclose" in rule.settings else ()
        answers = [(f"{RULINGS[each]}: it {RULED[each]}", each) for each in rulings]
        answers += [] if rule.line is None else [("take this rule away", AWAY)]
        if not answers:
            raise UsageError(*ELSEWHERE)
        name = subject(rule, self._titles) or rule.name
        picked = await self.review.push_screen_wait(
            Choice(f"What is to hold: {name}?", answers, None)
        )
        if picked is not None:
            parts = {key: each for key, each in rule.conditions.items() if key in ABOUT}
            edit = replace(PolicyEdit(expires=rule.expires, set={"disclose": picked}), **parts)
            if picked == AWAY:
                edit = replace(edit, set={}, unset=[*rule.settings])
            done = f"{name}: {'no rule of your own' if picked == AWAY else RULINGS[picked]}"
            await write_rule(self, edit, done)

    @background
    async def action_reload(self) -> None:
        """Have the daemon read the file."""
        await self.ask("reload")
        await self.renew()
        count = 0 if self._rules is None else len(self._rules.problems)
        rest = f"{count} to mend; the last good rules stay in use"
        self.review.tell(f"Read: {rest}." if count else "Read.")
