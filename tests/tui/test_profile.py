"""The screen of the profile: values, and which of them may be sent."""

from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from textual.widgets import Input, OptionList

from agent.decision.values import Fact, FactTerms, Proposal
from agent.tui.dialogs import MANY, Choice
from agent.tui.plain import HIDDEN
from agent.tui.screens.profile import (
    NOT_SET,
    FactRow,
    ProfileScreen,
    cells,
    columns,
    detail,
    heads,
    line,
    rows_of,
)
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit
from agent.wire.state import (
    Changed,
    FactDraft,
    FactFigures,
    FactTexts,
    ProfileChange,
    ProfileFacts,
    ValueChange,
)
from agent.words.titles import RULINGS, value_title
from tests.tui.double import LARGE, NOTHING, Double, Running
from tests.vault.values import facts_of
from tests.wire.fake import says
from tests.worlds.messages import attribute, recipient
from tests.worlds.people import MONDAY

OWN = "west_europe"  # a value that stands nowhere else on the screen
SHOWN = value_title(OWN)
OWN_REGION = attribute("region", values=["unspecified", OWN, "asia"], disclose="always")


@dataclass
class Own:
    """A daemon's attributes and values, which calls change; ``edits``: of the policy."""

    daemon: Double
    values: dict[str, str] = field(default_factory=lambda: {"region": OWN, "hobby": "a"})
    gone: list[Fact] = field(default_factory=list)
    attributes: list[AttributeStatus] = field(
        default_factory=lambda: [OWN_REGION, *map(attribute, ("race", "hobby", "major"))]
    )

    def __post_init__(self) -> None:
        self.daemon.calls |= {
            "attributes": lambda **_: self.attributes,
            "profile": lambda: ProfileFacts(facts=facts_of(**self.values)),
            "recipients": says([recipient([9], pool="holder.example", held=["region"])]),
            "change_profile": self.change,
            "edit_policy": self.edit,
        }

    def change(self, body: ProfileChange) -> Changed:
        if body.dry_run:
            return Changed(done=False, gone=self.gone)
        before = self.values
        self.values = {n: each for n, each in before.items() if n not in body.unset} | body.set
        names = {*body.unset, *(n for n, each in body.set.items() if each != before.get(n))}
        changes = [ValueChange(name=n, was_set=True, is_set=n in body.set) for n in names]
        return Changed(changes=changes, stale={"region": ["holder.example"]})

    def edit(self, body: PolicyEdit) -> Edited:
        """Write a rule, or try it on three requests."""
        if body.dry_run:
            return Edited(changed=True, wins=[], replayed=3, differ=2)
        price = {"sensitivity": "sensitivity_bits"}
        new = {**body.set, **dict.fromkeys(body.unset, 0)}
        made: dict[str, Any] = {price.get(key, key): value for key, value in new.items()}
        if "guard" in made:
            made["disclose"] = "guarded" if made["guard"] else "auto"
        self.attributes = [
            replace(each, **made) if each.name == body.attribute else each
            for each in self.attributes
        ]
        return Edited(changed=True, wins=[])

    def edits(self) -> list[tuple[str, dict[str, Any]]]:
        asked = self.daemon.asked("edit_policy")
        return [(each.attribute, each.set) for each in asked if not each.dry_run]


@pytest.fixture
def own(daemon: Double) -> Own:
    return Own(daemon)


def page(shown: Running) -> ProfileScreen:
    found = shown.app.page()
    assert isinstance(found, ProfileScreen)
    return found


def row(shown: Running, name: str) -> list[str]:
    listing = page(shown).listing
    found = next(each for each in listing.items if each.attribute.name == name)
    return [cell.strip() for cell in cells(found)]


async def come(shown: Running, name: str) -> None:
    """Go to the screen, and to an attribute."""
    await shown.pilot.press("4")
    await shown.until(lambda: isinstance(shown.app.page(), ProfileScreen))
    await shown.until(lambda: len(page(shown).listing.items) > 1)
    await shown.settled()
    listing = page(shown).listing
    listing.put(name)
    await shown.pilot.pause()
    assert listing.under is not None
    assert listing.under.attribute.name == name


async def sure(shown: Running, *keys: str) -> None:
    await shown.until(lambda: "Of your last 3 requests, 2" in shown.words())
    await shown.pilot.press(*keys)


SLOTS = ("allergies", "allergies_2", "allergies_3")


@pytest.mark.parametrize(
    ("is_set", "rows"), [((), 1), (SLOTS[:1], 2), (SLOTS[:2], 3), (SLOTS, 3), (SLOTS[2:], 2)]
)
def test_one_more_fact_of_a_kind_has_a_row(is_set: tuple[str, ...], rows: int) -> None:
    """Behind those that are set; one that is set always has its own."""
    several = [attribute(each, shared=SLOTS[0]) for each in SLOTS]
    listed = [attribute("region"), *several, attribute("pets", shared="pets")]
    own = ProfileFacts(facts=facts_of(**dict.fromkeys(is_set, "a")))
    found = rows_of(listed, own, {}, masked=True)
    names = [each.attribute.name for each in found]
    assert (names[0], names[-1], len(names)) == ("region", "pets", rows + 2)
    assert {*is_set} <= {*names}
    assert names == [each.name for each in listed if each.name in names]


async def test_a_value_is_set_and_taken_away_after_asking(own: Own) -> None:
    """Nothing of it stands in what is said; who has an older one does."""
    async with own.daemon.shown(LARGE) as shown:
        await come(shown, "region")
        assert "Known to: holder.example" in shown.text()
        await shown.choose("s", "end", "up", "up", "enter")  # the last value: asia
        await shown.until(lambda: "the region: set." in shown.notes())
        assert "holder.example has your older value" in shown.notes()
        assert own.values["region"] == "asia"
        assert "asia" not in shown.notes().casefold()
        await shown.choose("s", "escape")
        own.gone = [Fact(id="7", kind="region", words="I live there", set_at=MONDAY)]
        for at, keys in (("up", []), ("end", []), ("end", ["down"])):
            await shown.choose("s", "end", at, "enter")
            await shown.until(lambda: "in your own words: ***." in shown.text())
            await shown.pilot.press(*keys, "enter")
            await shown.settled()
            assert own.values.get("region") == (None if keys else "asia")
        assert row(shown, "region")[1] == "not set"


async def test_enter_in_the_list_of_values_changes_nothing(own: Own) -> None:
    """It begins on the present value, and on none while that is hidden: it would show it."""
    async with own.daemon.shown() as shown:
        await come(shown, "region")
        await shown.choose("s")
        assert shown.app.screen.query_one(OptionList).highlighted is None
        await shown.pilot.press("enter")
        assert isinstance(shown.app.screen, Choice)
        await shown.pilot.press("escape", "m")
        await shown.until(lambda: row(shown, "region")[1] == SHOWN)
        await shown.choose("s")
        at = shown.app.screen.query_one(OptionList)
        assert at.highlighted_option is not None
        assert str(at.highlighted_option.prompt) == SHOWN
        await shown.pilot.press("enter")
        await shown.until(lambda: "nothing changed" in shown.notes())


async def test_whether_it_may_leave_its_price_and_its_guard_are_chosen(own: Own) -> None:
    """Each after its effect was seen; what is guarded is never sent, until g again."""
    yes = ("down", "enter")
    async with own.daemon.shown() as shown:
        await come(shown, "major")
        await shown.choose("d")
        assert "for what it is, not for" in shown.text()
        await shown.pilot.press("escape")
        for answer in (("enter",), yes):
            assert own.edits() == []
            await shown.choose("d", "home", "enter")
            await sure(shown, *answer)
        await shown.until(lambda: row(shown, "major")[2] == "never")
        await shown.pilot.press("g")
        await sure(shown, *yes)
        await shown.until(lambda: row(shown, "major")[2] == "kept secret")
        await shown.pilot.press("d")
        await shown.until(lambda: "g stops that" in shown.notes())
        await shown.choose("g", *yes)
        await shown.until(lambda: row(shown, "major")[2] == "when worth it")
        await shown.choose("p", "enter")
        await shown.choose("p", *yes)
        await sure(shown, *yes)
        await shown.until(lambda: row(shown, "major")[3] == "anybody")
    wanted = [{"disclose": "never"}, {"guard": 1}, {}, {"sensitivity": 0.02}]
    assert own.edits() == [("major", each) for each in wanted]


async def test_a_text_leaves_only_the_rows_that_have_it(own: Own) -> None:
    """Escape shows all again; all that is shown can be saved, hidden values as such."""
    saved: dict[str, str] = {}
    environment = changed(NOTHING, save=lambda name, text: saved.setdefault(name, text) and name)
    async with own.daemon.shown(LARGE, environment=environment) as shown:
        await come(shown, "race")
        listing = page(shown).listing
        await shown.pilot.press("slash", *"majo", "enter")
        await shown.until(lambda: len(listing.items) == 1 and listing.has_focus)
        await shown.pilot.press("y")
        assert shown.app.clipboard.startswith("the major\t")
        await shown.pilot.press("escape", "w")
        await shown.until(lambda: saved)
        [(name, table)] = saved.items()
        assert name == "reticent-profile-2026-03-02-093000.csv"
        assert len(table.splitlines()) == len(own.attributes) + 1
        assert OWN not in table
        assert f"Saved {len(own.attributes)} rows" in shown.notes()
        await shown.pilot.press("slash", *"hobb", "escape")
        await shown.until(lambda: len(listing.items) == len(own.attributes))
        assert listing.under is not None
        assert not page(shown).query_one(Input).display


async def test_many_values_are_filtered_by_what_is_typed(daemon: Double) -> None:
    """The only one that is left is chosen with Enter; the arrow goes to the list."""
    many = [(f"value {at}", str(at)) for at in range(MANY + 1)]
    async with daemon.shown() as shown:
        found: list[str | None] = []
        for keys in (("1", "1", "enter"), ("1", "enter", "down", "enter"), ("escape",)):
            await shown.until(lambda: len(shown.app.screen_stack) == 1)
            shown.app.push_screen(Choice("Which?", many, find=True), found.append)
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press(*keys)
            await shown.until(lambda: len(shown.app.screen_stack) == 1)
        assert found == ["11", "10", None]


REGION = attribute("region")


@given(st.integers(min_value=58, max_value=200))
def test_the_columns_fill_the_width_and_no_more(width: int) -> None:
    """Two columns between two; the titles stand above what they are of."""
    found = columns(width)
    assert sum(found.values()) + 2 * (len(found) - 1) == width == cell_len(heads(width))
    assert len(cells(FactRow(REGION))) == len(found)
    assert sum(cell_len(each.text) for each in line(FactRow(REGION), width)) == width + 2


def test_a_value_is_hidden_until_it_is_revealed() -> None:
    """Also from whoever prints the row; that one is set is seen."""
    figures = {"region": FactFigures(helps_with=["trips"], share=0.05, share_of="people of the US")}
    own = ProfileFacts(facts=facts_of(region="b", race="a"), figures=figures)
    listed = [REGION, attribute("age")]
    hidden, shown = (rows_of(listed, own, {}, masked=each) for each in (True, False))
    assert [cells(each)[1] for each in hidden] == [HIDDEN, NOT_SET]
    assert [cells(each)[1] for each in shown] == ["b", NOT_SET]
    assert "a secret" not in repr(changed(shown[0], value="a secret"))
    assert "m shows it" in dict(detail(hidden[0]))["the region"]
    assert dict(detail(shown[0]))["the region"] == "b"
    assert dict(detail(shown[0]))["Shared by"] == "1 in 20 of the people of the US"
    assert "Shared by" not in dict(detail(hidden[0]))
    assert dict(detail(hidden[0]))["It helps with"] == "trips"


async def test_a_fact_in_own_words_is_shown_before_it_is_kept(own: Own) -> None:
    """And has a row of its own then, whose words are masked, and which a rule may name."""
    text, kind = "I sing in a choir", own.attributes[2].kind
    fact = Fact(id="7", kind=kind, words=text, set_at=MONDAY, terms=FactTerms(share=0.05))
    proposals = [Proposal(fact=replace(fact, id="1"), helps=("gifts",))]
    own.daemon.calls["propose"] = says(FactDraft(draft="d", proposals=proposals))
    async with own.daemon.shown(LARGE) as shown:
        await come(shown, "hobby")
        await shown.pilot.press("a", *("space" if each == " " else each for each in text), "enter")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        own.daemon.calls["profile"] = says(ProfileFacts(facts=[fact]))
        own.attributes.append(attribute("#7", kind=kind, disclose="ask"))
        await shown.pilot.press("enter")
        await shown.until(lambda: any(each.in_words for each in page(shown).listing.items))
        assert own.daemon.asked("propose") == [FactTexts(texts=[text])]
        [change] = own.daemon.asked("change_profile")
        assert (change.draft, [each.id for each in change.keep]) == ("d", ["1"])
        assert row(shown, "#7")[1:3] == [HIDDEN, RULINGS["ask"]]
        page(shown).listing.put("#7")
        await shown.pilot.pause()
        await shown.choose("d", "home", "enter")
        await sure(shown, "down", "enter")
        await shown.until(lambda: bool(own.edits()))
        assert own.edits() == [("#7", {"disclose": "never"})]
