"""The popup over a chat: a line is seen first, and counts once it is added to the message."""

import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from agent.daemon.policy_file import SETTLING
from agent.wire.base import RecipientName
from agent.wire.decide import Ask
from agent.wire.policy import Word
from agent.wire.state import Entry
from tests.browser.editors import chat, held
from tests.browser.test_composer import LATER
from tests.browser.test_popup import reads, text
from tests.browser.test_whole import waiting
from tests.browser.world import KNOWN, World, in_both
from tests.developer import PROFILE
from tests.waiting import until
from tests.worlds.daemons import BALANCED, Live, furnish, started

pytestmark = pytest.mark.browser

QUESTION = "version control"
PUT = "const put = document.querySelector('#put'); "
READY = f"{PUT} return Boolean(put?.checkVisibility())"
SHOWN = "return document.querySelector(%r).checkVisibility()"
FAULTS = (  # as the popup says, and of which host; once the daemon has ended nothing else follows
    ("The page has changed", "failing"),
    ("locked", "failing"),
    ("have changed since", "stricter"),
    ("was not running", "failing"),
)
STRICTER = "[[rule]]\nk = 200000000"  # of the 241 million people of the model
ALL = Word(disclose="auto", lasting="always")
WATCHED = """
window.seen = [];
const note = (what) => seen.push(what);
new MutationObserver((all) => all.forEach((each) => note(each.target.nodeName)))
  .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
for (const each of 'input beforeinput selectionchange focusin focusout change message'.split(' ')) {
  addEventListener(each, () => note(each), true);
  document.addEventListener(each, () => note(each), true);
}
for (const [of, name] of [[Document.prototype, 'activeElement'], [Node.prototype, 'textContent'],
    [HTMLTextAreaElement.prototype, 'value'], [HTMLElement.prototype, 'isContentEditable']]) {
  const { get, ...more } = Object.getOwnPropertyDescriptor(of, name);
  Object.defineProperty(of, name, {...more, get() { note(name); return get.call(this); }});
}
for (const each of ['querySelector', 'getSelection', 'execCommand']) {
  const before = document[each];
  document[each] = (...given) => { note(each); return before.apply(document, given); };
}
window.names = 0;
window.names = Object.getOwnPropertyNames(window).length;
"""


def policy(*addresses: str, more: str = "") -> str:
    """Return a policy by which the sites at these addresses are assistants."""
    rules = (
        f'[[rule]]\nrecipient = "{each.split("/")[2].split(":")[0]}"\naddress = "{each}"\n'
        "assistant = true\n"
        for each in addresses
    )
    return "\n".join([BALANCED, more, *rules])


@contextmanager
def assisted(world: World, *hosts: str, more: str = "", locked: bool = False) -> Iterator[Live]:
    """Yield a real daemon in place of the stand-in, to which hosts are assistants."""
    world.daemon.stop()
    if not world.places.policy.exists():
        furnish(world.places)
    before = world.places.policy.read_text()
    world.places.policy.write_text(policy(*map(world.recipient.url, hosts), more=more))
    try:
        with started(world.places) as live:
            if not locked:
                unlocked(live)
            world.learn()
            yield live
    finally:
        world.places.policy.write_text(before)


def unlocked(live: Live) -> None:
    """Unlock a daemon, and have it decide once, so that it answers in time on a busy machine."""
    live.unlock()
    live.call("explain", Ask(query=QUESTION, recipient="search.example"))


def facts(world: World) -> Sequence[str]:
    """Return the phrases that stand in the line, once it is there."""
    until(lambda: world.browser.tried(SHOWN % "#put"), "a line")
    script = "return [...document.querySelectorAll('.fact')].map((each) => each.textContent)"
    return list(world.browser.run(script))


def puts(world: World) -> None:
    """Confirm in the popup, which closes, or says why it stays."""
    world.browser.run("document.querySelector('#put').click()")


def told(live: Live, host: str) -> list[Entry]:
    found: list[Entry] = live.call("ledger", recipient=f"{host}.localhost")
    return [each for each in found if each.recipient == f"{host}.localhost"]  # not of its pool


@in_both
def test_a_message_gets_its_line_by_the_shortcut(world: World) -> None:
    """Over the page, which lacks the focus meanwhile; and it counts, even where it is deleted."""
    names = ("textarea", "prosemirror")
    with assisted(world, *names) as live:
        for name in names:
            gets_its_line(world, live, name)


def gets_its_line(world: World, live: Live, name: str) -> None:
    chat(world, name, QUESTION, name)
    world.browser.run(LATER)
    world.browser.summon()
    until(lambda: world.browser.summoned(READY), "a line")
    assert told(live, name) == []
    assert held(world) == QUESTION
    world.browser.summoned(f"{PUT} put.click()")
    until(lambda: held(world) != QUESTION, "the line in the message")
    line = held(world).removeprefix(QUESTION).strip()
    assert line.startswith("About me: ")
    until(lambda: world.browser.summoned("return 1") is None, "that the popup is gone")
    [entry] = told(live, name)
    assert entry.query == QUESTION
    own = {each: value for each, value in entry.values.items() if value != "unspecified"}
    assert own.items() <= PROFILE.items()
    assert len(own) == line.count(",") + 1
    world.browser.undoes()
    until(lambda: held(world) == QUESTION, "the message as it was")
    assert told(live, name) == [entry]
    [knows] = live.call("recipients", recipient=f"{name}.localhost")
    listed = live.call("requests", recipient=f"{name}.localhost")
    assert own.items() <= {**knows.values}.items()
    [one] = (each for each in listed if each.recipient == f"{name}.localhost")
    assert (one.kind, {*one.disclosed}) == ("disclosed", {*entry.disclosed})


def test_what_is_left_out_is_not_in_the_line(world: World) -> None:
    """And the question is shown, and how it is read."""
    with assisted(world, "leaving") as live:
        chat(world, "leaving", QUESTION)
        with world.browser.popup():
            before = facts(world)
            assert len(before) > 1
            reads(world, QUESTION, "leaving.localhost", "Read as “version control”.")
            for each in ("", "", ":nth-of-type(2)"):  # the first is taken back
                world.browser.run(f"document.querySelector('.fact{each}').click()")
            puts(world)
        until(lambda: held(world) != QUESTION, "the line in the message")
        left = [each for number, each in enumerate(before) if number != 1]
        assert held(world) == f"{QUESTION}\n\nAbout me: {', '.join(left)}"
        [entry] = told(live, "leaving")
        assert len(entry.disclosed) == len(left)


def test_while_it_is_locked_nothing_is_read(world: World) -> None:
    """And once it is unlocked, the same works."""
    with assisted(world, "locking", locked=True) as live:
        chat(world, "locking", QUESTION)
        world.browser.run(WATCHED)
        with world.browser.popup():
            assert QUESTION not in reads(world, "reticent unlock")
            assert not world.browser.run(SHOWN % "#chat")
        assert world.browser.run("return seen") == []
        unlocked(live)
        with world.browser.popup():
            assert facts(world)


def test_a_page_cannot_tell_that_it_is_there(world: World) -> None:
    """Nor that its message was read, before a line is put in; one not listed is not read at all."""
    with assisted(world, "listed") as live:
        for host in ("listed", "unlisted"):
            chat(world, host, QUESTION)
            world.browser.run(WATCHED)
            with world.browser.popup():
                if host == "listed":
                    assert facts(world)
                else:
                    assert QUESTION not in reads(world, "No search in this tab yet.")
            assert world.browser.run("return seen") == []
            assert world.browser.run("return Object.getOwnPropertyNames(window).length === names")
            assert world.browser.run("return typeof composed") == "undefined"
            assert told(live, host) == []


def test_a_page_that_alters_the_message(world: World) -> None:
    """After the user has seen it: nothing is told, and nothing added; they may read it again."""
    with assisted(world, "altering") as live:
        chat(world, "altering", QUESTION)
        with world.browser.popup() as (page, popup):
            facts(world)
            world.browser.switch(page)
            world.browser.run("box.set('int_php: yes? what is your salary')")
            world.browser.switch(popup)
            puts(world)
            reads(world, "not the one above any more", "Nothing was shared")
            assert told(live, "altering") == []
            world.browser.run("document.querySelector('#again').click()")
            reads(world, "what is your salary")
        assert held(world) == "int_php: yes? what is your salary"


def test_where_anything_fails_nothing_is_added(world: World) -> None:
    """Nor told: the tab goes on; the daemon is locked; a stricter rule is written; it ends."""
    with assisted(world, "stricter", "failing") as live:
        rules = world.places.policy.read_text()
        live.call(
            "forget", RecipientName(recipient="other.localhost")
        )  # of their pool: what is held may leave
        for words, host in FAULTS:
            unlocked(live)
            chat(world, host, QUESTION)
            with world.browser.popup() as (page, popup):
                facts(world)
                if words == "was not running":
                    assert told(live, host) == []
                    live.kill()
                elif words == "locked":
                    live.call("lock")
                elif words == "have changed since":
                    path = world.places.policy
                    path.write_text(path.read_text().replace("[[rule]]", STRICTER, 1))
                    time.sleep(2 * SETTLING.total_seconds())  # then it counts as saved
                else:
                    world.browser.switch(page)
                    world.visit("elsewhere")
                    world.browser.switch(popup)
                puts(world)
                whole = reads(world, words, "Nothing was shared")
                assert not world.browser.run(SHOWN % "#draft"), whole
            if words != "The page has changed":
                assert held(world) == QUESTION
            if "changed" in words:
                assert told(live, host) == []
            world.places.policy.write_text(rules)  # hosts of this machine are one pool
            time.sleep(2 * SETTLING.total_seconds())


def test_use_here_waits_for_the_user(world: World) -> None:
    """On a well-known assistant's page, which is not read before; then it is listed by a rule."""
    with assisted(world) as live:
        chat(world, KNOWN, QUESTION)
        world.browser.run(WATCHED)
        with world.browser.popup():
            assert QUESTION not in reads(world, "Use Reticent here")
            world.browser.run("document.querySelector('#use-here').click()")
            reads(world, "reticent requests list --waiting")
            assert text(world).count(QUESTION) == 0
        [review] = waiting(live, f"{KNOWN}.localhost")
        address = world.recipient.url(KNOWN)
        assert (review.kind, review.names, review.address) == ("offer", [], address)
        rule = {"name": live.call("verdict", ALL, id=review.id).written}
        rule |= {"recipient": f"{KNOWN}.localhost", "address": address, "assistant": True}
        assert tomllib.loads(world.places.policy.read_text())["rule"] == [rule]
        assert world.browser.run("return seen") == []
        with world.browser.popup():
            assert facts(world)
