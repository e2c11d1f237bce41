"""The popup says what the last request of the tab carried and why, and takes a refusal."""

import time

import pytest
from msgspec.structs import replace

from agent.wire.decide import Answer, Ask, Because, Clicked
from agent.wire.state import ReadingEdit
from tests.browser.recipient import digest, right
from tests.browser.standin import MARKUP, answered
from tests.browser.world import World, in_both
from tests.waiting import until

pytestmark = pytest.mark.browser

REFUSE = "not on this site"
FIND = "[...document.querySelectorAll('button')].find((each) => %r === "
FIND += "each.textContent.trim().toLowerCase() && !each.hidden && each.offsetParent !== null)"


def text(world: World) -> str:
    return str(world.browser.run("return document.body.innerText"))


def reads(world: World, *wanted: str) -> str:
    """Wait until the popup says all of this, and return its whole text."""
    seen = [""]

    def there() -> bool:
        seen[0] = text(world)
        return all(each in seen[0] for each in wanted)

    until(there, f"{wanted} in {seen}")
    return seen[0]


def chosen(ask: Ask) -> Answer:
    """Return an answer with three attributes, one of them not said."""
    plain = answered(ask)
    assert plain.summary is not None
    because = [
        *plain.summary.because,
        Because(name="int_python", reason="chosen", gain_bits=0.125, cost_bits=0.01),
        Because(name="gender", reason="chosen", gain_bits=0.5, cost_bits=0.02),
    ]
    return replace(
        plain,
        attributes={"int_python": "yes", **plain.attributes},
        unspecified=["gender"],
        summary=replace(plain.summary, because=because, waiting=3),
    )


def test_it_says_what_was_attached_and_why(world: World) -> None:
    """Each attribute with its value and what it brings, and the one that is not said."""
    world.daemon.answer = chosen
    world.search("version control")
    world.browser.says("2")
    with world.browser.popup():
        world.browser.run("document.querySelector('#figures').open = true")
        whole = reads(world, "version control", "search.localhost", digest("version control"))
        for each in ("interested in Python", "yes", "gender", "0.125", "0.5", "1200", "3"):
            assert each in whole.replace(",", ""), each
        assert "Sent 2 facts to search.localhost:" in whole
        assert "shares 1 attribute" not in whole  # an order, with another number
        assert whole.index("interested in Python") > whole.index(digest("version control"))


def test_it_means_something_else(world: World) -> None:
    """The topics of the daemon are offered, and the one that is chosen is proposed."""
    world.search("editor zqxj")
    world.browser.says("1")
    with world.browser.popup():
        reads(world, "It means something else")
        world.browser.run("document.querySelector('#means').open = true")
        [asked] = world.daemon.heard("topics")
        assert asked.body == Ask(query="editor zqxj", recipient="search.localhost")
        listed = "return [...document.querySelectorAll('#topics option')].map((e) => e.value)"
        until(lambda: world.browser.run(listed) == ["planning a trip", MARKUP], "the topics")
        world.browser.run("document.querySelector('#topic').value = ' planning a trip '")
        world.browser.run("document.querySelector('#meaning button').click()")
        [proposed] = world.daemon.heard("means")
        text, host, topic = "editor zqxj", "search.localhost", "planning a trip"
        assert proposed.body == ReadingEdit(query=text, recipient=host, topic=topic)
        reads(world, "It waits for your approval")


def test_not_on_this_site(world: World) -> None:
    """The daemon hears of that site alone, and the next search there has no header."""
    world.listing("refused", "search")
    listed = world.daemon.sites
    world.search("before", "refused")
    world.forget()
    with world.browser.popup():
        until(lambda: world.browser.tried(f"return !!({FIND % REFUSE})"), "a button")
        world.browser.run(f"({FIND % REFUSE}).click()")
        [refused] = world.daemon.heard("refuse")
        assert refused.body.recipient == "refused.localhost"
        gets_nothing(world)
    world.recipient.accepts["refused"] = "region"
    until(lambda: world.search("later", "refused").header is None, "a search without a header")
    world.daemon.heard("offer")
    world.browser.says("")
    with world.browser.popup():
        gets_nothing(world)
    world.forget()
    assert world.search("then", "refused").header is None
    assert world.search("here").header == right("here")
    assert world.decided() == [("here", "search.localhost")]
    world.daemon.sites = listed  # taken back: at once, not when it asks again after half a minute
    began = time.monotonic()
    until(lambda: world.search("again", "refused").header == right("again"), "a header")
    assert time.monotonic() - began < 25


def gets_nothing(world: World) -> None:
    """Wait until the popup says that the user refused the site, and how to take it back."""
    whole = reads(
        world,
        "refused.localhost gets nothing, because you said so",
        "reticent policy block --undo refused",
    )
    assert "before" not in whole
    assert not world.browser.run(f"return !!({FIND % REFUSE})")


def test_what_was_told_is_gone_once_it_is_locked(world: World) -> None:
    """The popup is no way past the lock."""
    world.search("told before")
    world.browser.says("1")
    world.daemon.locked = True
    with world.browser.popup():
        whole = reads(world, "reticent unlock")
        assert digest("told before") not in whole
        assert "told before" not in whole


def test_what_a_page_says_is_text(world: World) -> None:
    """Never markup."""
    world.search(MARKUP)
    with world.browser.popup():
        reads(world, MARKUP)
        inside = "return document.querySelector('img, b') === null && document.title !== 'run'"
        assert world.browser.run(inside)


SYNTHETIC = """
const link = document.querySelector('#result');
link.addEventListener('click', (event) => event.preventDefault());
link.click();
link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, composed: true}));
"""


@in_both
def test_only_a_click_of_the_user_on_a_result_is_told(world: World) -> None:
    """What was searched for, and whose page was visited, where the user wants that.

    A page could make one up; none is told on a site that is not listed, nor where nothing was
    searched for.
    """
    for wanted, host, query, by_script in (
        (True, "search", "editor & more", False),
        (True, "search", "editor", True),
        (False, "search", "editor", False),
        (True, "elsewhere", "editor", False),
        (True, "search", "", False),
    ):
        if world.daemon.clicks != wanted:
            world.daemon.clicks = wanted
            world.learn()
        world.forget()
        if query:
            world.search(query, host)
        else:
            world.visit(host)
        if by_script:
            world.browser.run(SYNTHETIC)
        else:
            world.browser.click("#result")
            world.browser.shows("result/page")
        told = [each.body for each in world.settled() if each.call == "clicked"]
        right_one = query == "editor & more"
        assert told == [Clicked(query=query, host="result.localhost")] * right_one
