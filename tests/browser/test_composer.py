"""A line is put into the message of a chat, whichever way that is made, and undone at once."""

import json
from typing import Any

import pytest

from tests.browser.editors import NAMES, chat, held, plain
from tests.browser.world import World, in_both
from tests.waiting import until

pytestmark = [pytest.mark.browser, in_both]

LINE = "About me: 35 to 44, two children at home"
LATER = "box.wait(1100)"  # no editor takes what follows for the same typing
TEXTS = {
    "nothing": "",
    "a question": "what could I do this weekend with two kids?",
    "a space at the end": "and so  ",
    "lines": "one\n\nthree\n",
    "an empty line": "\n",
    "Hebrew": "מה אפשר לעשות בסוף השבוע?",
    "Arabic in lines": "مرحبا\nبالعالم 123 (abc)",
    "signs": "👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽\ne\u0301\u0323 n\u0303 가\n"
    "<b>&amp;</b> $& \\n {query}\na\u200bb\u2060c\n\u202eleft\u202c and \u2067right\u2069",
    "tabs": "a\tb\t",
    "spaces": "  two  and   three ",
}


def composed(
    world: World, before: str | None = None, *, put: bool = False, host: str = "chat"
) -> Any:  # noqa: ANN401  (any JSON)
    """Return what the extension finds in the tab in front, and have it put a line in."""
    given = json.dumps([world.recipient.url(host)[:-1], before, LINE, put])
    call = f"func: (...given) => composed(...given), args: {given}"
    there = "target: {tabId: tab.id}"
    return world.browser.inside(
        "api.tabs.query({active: true, lastFocusedWindow: true}).then(([tab]) => "
        f"api.scripting.executeScript({{{there}, files: ['/content/composer.js']}})"
        f".then(() => api.scripting.executeScript({{{there}, {call}}})))"
        ".then(([each]) => each.result)"
    )


def added(name: str, text: str) -> str:
    """Return a text with the line behind it."""
    apart = "\n\n" if name in {"textarea", "react"} else " "
    return text + ("" if text[-1:].strip() == "" else apart) + LINE


@pytest.mark.parametrize("name", NAMES)
def test_what_was_there_stays(world: World, name: str) -> None:
    """Letter by letter, also where it is written from the right; the editor knows of the line."""
    chat(world, "chat", name=name)
    for what, text in TEXTS.items():
        here = plain(name, text)
        world.browser.run(f"box.set({json.dumps(text)})")
        assert composed(world, here) == {"text": here}, what
        assert held(world) == here, what
        assert composed(world, here, put=True) == {"text": added(name, here)}, what
        assert held(world) == added(name, here), what
    assert world.browser.run("return box.sent") == []


@pytest.mark.parametrize("name", NAMES)
def test_one_undo_takes_it_out(world: World, name: str) -> None:
    """And leaves what was typed before it, and redoes nothing else."""
    chat(world, "chat", name=name)
    world.browser.types("weekend with עברית")
    until(lambda: held(world) == "weekend with עברית", "what was typed")
    world.browser.run(LATER)
    composed(world, "weekend with עברית", put=True)
    assert held(world) == added(name, "weekend with עברית")
    world.browser.undoes()
    until(lambda: held(world) == "weekend with עברית", "what was typed")
    world.browser.types(" x")
    until(lambda: held(world) == "weekend with עברית x", "the caret at its end")


PLACES = {
    "shadow": "const root = document.body.appendChild(document.createElement('p'))"
    ".attachShadow({mode: 'open'}); root.innerHTML = HTML; root.firstChild.focus()",
    "frame": "const frame = Object.assign(document.createElement('iframe'), {srcdoc: HTML});"
    "frame.onload = () => { frame.contentDocument.body.firstChild.focus() };"
    "document.body.append(frame)",
}
EDITED = {
    "a field": "<textarea>before</textarea>",
    "an element": "<div contenteditable>before</div>",
}


@pytest.mark.parametrize("markup", EDITED.values(), ids=EDITED)
@pytest.mark.parametrize("place", ["shadow", "frame"])
def test_where_else_a_message_stands(world: World, place: str, markup: str) -> None:
    """In an open shadow tree, and in a frame of the chat's own."""
    chat(world, "chat")
    world.browser.run(f"const HTML = {json.dumps(markup)}; {PLACES[place]}")
    until(lambda: composed(world) == {"text": "before"}, "the message")
    apart = "\n\n" if "textarea" in markup else " "
    assert composed(world, "before", put=True) == {"text": f"before{apart}{LINE}"}
    assert composed(world) == {"text": f"before{apart}{LINE}"}
    assert world.browser.run("return box.text()") == ""


MISSED = (
    ("<input type=password value=secret autofocus>", "no message"),
    ("<input value=secret autofocus>", "no message"),
    ("<button>secret</button>", "no message"),
    ("<textarea readonly>secret</textarea>", "closed"),
    ("<div contenteditable>secret<div class=cm-gap contenteditable=false></div></div>", "in part"),
)


def test_what_is_no_message_is_not_read(world: World) -> None:
    """A password, a name, a button, what cannot be added to, and what is not there whole."""
    chat(world, "chat")
    for markup, fault in MISSED:
        world.browser.run(
            f"document.body.innerHTML = {json.dumps(markup)}; document.body.firstChild.focus()"
        )
        for before in (None, "secret"):
            assert composed(world, before, put=True) == {"fault": fault}, markup


def test_a_frame_of_another_site_is_not_read(world: World) -> None:
    """A page shows in it whatever it likes, with the user's own cookies."""
    chat(world, "chat")
    address = world.recipient.url("other", "/chat/textarea")
    world.browser.run(
        "const frame = Object.assign(document.createElement('iframe'), "
        f"{{src: {address!r}}}); frame.onload = () => {{ frame.focus() }};"
        "document.body.append(frame)"
    )
    until(lambda: composed(world, put=True) == {"fault": "other frame"}, "that it has the focus")


def test_a_page_that_came_meanwhile_is_not_read(world: World) -> None:
    """It is of another site than the user has listed."""
    chat(world, "chat", "of this site")
    assert composed(world, host="listed") == {"fault": "elsewhere"}
    assert composed(world, "of this site", put=True, host="listed") == {"fault": "elsewhere"}
    assert held(world) == "of this site"


def test_no_line_stands_behind_another_question(world: World) -> None:
    """Than the one that was read, whoever has changed it, and when; nor where it has no room."""
    chat(world, "chat", "as it is now")
    changed = {"fault": "changed", "text": "as it is now"}
    for put in (False, True):
        assert composed(world, "as it was read", put=put) == changed
    world.browser.run(
        "document.onselectionchange = () => { box.set('as it is now') };"
        "box.set('as it was'); box.node.setSelectionRange(0, 0)"
    )
    until(lambda: held(world) == "as it is now", "that it changes")
    world.browser.run("box.set('as it was'); box.node.setSelectionRange(1, 1)")
    assert composed(world, "as it was", put=True) == changed
    world.browser.run("box.node.maxLength = 40")
    for put in (False, True):
        assert composed(world, "as it is now", put=put)["fault"] == "too long"
    assert held(world) == "as it is now"


SPOILT = {
    "textarea": "box.set('mine')",
    "contenteditable": "box.node.textContent = 'mine'",
    "prosemirror": "setTimeout(() => box.set('mine'))",
}


@pytest.mark.parametrize(("name", "script"), SPOILT.items(), ids=SPOILT)
def test_a_page_that_does_not_take_it(world: World, name: str, script: str) -> None:
    """What was typed before stays, and nothing of the line."""
    chat(world, "chat", "mine", name)
    world.browser.run(f"box.node.addEventListener('input', () => {{ {script} }})")
    assert composed(world, "mine", put=True) == {"fault": "not put in", "text": "mine"}
    assert held(world) == "mine"
