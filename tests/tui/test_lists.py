"""A list of any length: what is under the cursor, what is seen, and what is drawn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from unittest.mock import Mock

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agent.tui.plain import CUT, JOINERS, fitted, plain
from agent.tui.virtual_list import MARK, Listing, Look, Part

TITLE = 0  # of the items, on which the cursor does not rest
LOOK: Look[int] = Look(
    key=lambda item: item,
    lines=lambda item, _: (*((Part(f"item {item}"),) for _ in range(item % 2 + 1)),),
    height=lambda item, _: item % 2 + 1,
    rests=lambda item: item != TITLE,
)
ITEMS = st.lists(st.integers(0, 99), unique=True, max_size=40)


class Alone(App[None]):
    moves, chosen = 0, 0

    def compose(self) -> ComposeResult:
        yield Listing[int](LOOK, id="first", tooltip="")

    def on_listing_moved(self) -> None:
        self.moves += 1

    def on_listing_chosen(self) -> None:
        self.chosen += 1


@asynccontextmanager
async def alone() -> AsyncIterator[tuple[Listing[int], Pilot[None]]]:
    """Yield a list on a screen of 20 columns and 10 lines."""
    app = Alone()
    async with app.run_test(size=(20, 10)) as pilot:
        yield app.query_one(Listing), pilot


def lines(listing: Listing[int]) -> list[str]:
    return [listing.render_line(y).text.rstrip() for y in range(listing.size.height)]


@settings(max_examples=25, deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=5), st.lists(st.integers(-3, 3), max_size=5))
def test_the_cursor_stays_on_its_item_or_on_none(shown: list[list[int]], steps: list[int]) -> None:
    """Whatever comes or goes; it rests on no title, and what is drawn is what there is."""

    async def test() -> None:
        async with alone() as (listing, _):
            for items in shown:
                before, fresh = listing.under, not listing.items
                listing.show(items)
                if before is not None:
                    assert listing.under == (before if before in items else None)
                elif fresh:
                    assert listing.under == next((each for each in items if each != TITLE), None)
                for step in steps:
                    listing.action_move(1 if step > 0 else -1)
                    listing.action_leap(step or 1)
                assert listing.under is None or listing.under in items
                assert listing.under != TITLE
                heights = sum(each % 2 + 1 for each in items)
                assert listing.virtual_size.height == heights

    asyncio.run(test())


async def test_what_comes_above_moves_nothing_that_is_seen() -> None:
    """The item under the cursor stays on its line of the screen."""
    async with alone() as (listing, pilot):
        listing.show(range(100, 200))
        for _ in range(30):
            await pilot.press("down")
        before = lines(listing)
        assert f"{MARK}item 130" in before
        listing.show(range(95, 200))
        await pilot.pause()
        assert lines(listing) == before


async def test_a_list_of_thousands_draws_what_is_seen() -> None:
    """And its ends are a key away."""
    async with alone() as (listing, pilot):
        drawn = Mock(return_value=((Part("x"),),))
        listing._draws = LOOK._replace(lines=drawn)  # noqa: SLF001  (it counts)
        listing.show(range(2, 20_002, 2))
        await pilot.press("end")
        assert listing.under == 20_000
        assert drawn.call_count < 100
        await pilot.press("home")
        assert listing.under == 2


async def test_keys_and_the_mouse_move_it_and_choose() -> None:
    """And say so once for each item; a title is neither gone to nor chosen."""
    for keys, under in (("down", 3), ("end", 7), ("pagedown", 7)):
        async with alone() as (listing, pilot):
            listing.show([TITLE, 1, 3, 5, 7])
            await pilot.pause()
            assert listing.under == 1
            await pilot.press(keys)
            assert listing.under == under
            assert cast("Alone", pilot.app).moves == 2
    async with alone() as (listing, pilot):
        listing.show([TITLE, 2, 4, 6])
        for line, chosen in ((2, 0), (2, 1), (0, 1)):
            await pilot.click(Listing, offset=(3, line))
            assert (listing.under, cast("Alone", pilot.app).chosen) == (4, chosen)


TEXT = st.text(st.one_of(st.characters(), st.sampled_from("\x1b\n\r\t\u202e語é =@")))


@given(TEXT)
def test_nothing_in_it_steers_the_terminal(text: str) -> None:
    """Neither escapes nor line ends nor marks that turn the order of the letters round."""
    assert plain(text).isprintable()
    assert len(plain(text)) == sum(each not in JOINERS for each in text)


@given(TEXT, st.integers(0, 12), st.booleans())
def test_it_is_whole_or_cut_in_exactly_so_many_columns(text: str, width: int, right: bool) -> None:
    """Also where letters are two columns wide; what is cut says so."""
    shown, whole = fitted(text, width, right=right), plain(text)
    assert cell_len(shown) == width
    if cell_len(whole) > width:
        assert shown.endswith(CUT) or width == 0
    else:
        assert shown.strip() == whole.strip()
