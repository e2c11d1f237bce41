"""A chat page, a real daemon that lists it as an assistant, and the popup over it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from agent.wire.decide import Ask
from tests.browser.editors import pages
from tests.browser.world import World
from tests.waiting import until
from tests.worlds.daemons import BALANCED, Live, furnish, started

QUESTION = "version control"
PUT = "const put = document.querySelector('#put'); "
READY = f"{PUT} return Boolean(put?.checkVisibility())"
SHOWN = "return document.querySelector(%r).checkVisibility()"


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
    with live.client() as client:
        client.call("explain", Ask(query=QUESTION, recipient="search.example"))
    until(lambda: live.status().encoder != "loading", "the encoder")


def chat(world: World, host: str, text: str = QUESTION, name: str = "textarea") -> None:
    """Show a chat whose message has the focus, with a text in it."""
    world.recipient.pages.update(pages())
    world.browser.go(world.recipient.url(host, f"/chat/{name}"))
    world.browser.shows(f"chat/{name}")
    world.browser.run(f"box.set({json.dumps(text)})")
    until(lambda: held(world) == text, "the text")


def held(world: World) -> Any:  # noqa: ANN401  (any JSON)
    """Return the text that the editor's own model has."""
    return world.browser.run("return box.text()")


def facts(world: World) -> Sequence[str]:
    """Return the phrases that stand in the line, once it is there."""
    until(lambda: world.browser.tried(SHOWN % "#put"), "a line")
    script = "return [...document.querySelectorAll('.fact')].map((each) => each.textContent)"
    return list(world.browser.run(script))


def puts(world: World) -> None:
    """Confirm in the popup, which closes, or says why it stays."""
    world.browser.run("document.querySelector('#put').click()")
