"""A page that wants the agent to answer for another, or to know of it, gets nowhere."""

import json

import pytest

from tests.browser.installed import EXTENSION
from tests.browser.recipient import right
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser

MESSAGES = """
const shapes = [
  {id: 1, call: 'decide', body: {query: 'x', recipient: 'other.localhost', asked: null}},
  {call: 'decide', query: 'x', recipient: 'other.localhost', url: address},
  {type: 'submit', url: address, query: 'x', recipient: 'other.localhost'},
  {kind: 'decide', url: address, tab: 1},
  {kind: 'submit', url: address}, {kind: 'clicked', host: 'other.localhost'},
  {kind: 'refuse', recipient: 'search.localhost'}, {type: 'refuse', recipient: 'search.localhost'},
  {call: 'refuse', body: {recipient: 'search.localhost'}}, {kind: 'popup'}, {type: 'popup'},
  {call: 'offer', body: {recipient: 'other.localhost', names: ['region'], search: null}},
  {kind: 'put', tab: 1, put: {origin: location.origin, text: '', id: 'x', names: ['region']}},
  {kind: 'use', assistant: {recipient: 'other.localhost', address: 'http://other.localhost/'}},
  'decide', null, [], address,
];
const reached = [];
const runtime = globalThis.chrome?.runtime ?? globalThis.browser?.runtime;
for (const each of shapes) {
  postMessage(each, '*');
  document.dispatchEvent(new CustomEvent('reticent', {detail: each}));
  try { runtime.sendMessage(id, each, (answer) => reached.push(answer ?? 'silent')); } catch { }
  try { runtime.connect(id).postMessage(each); } catch { }
}
return [typeof runtime?.sendMessage, reached];
"""
FORMS = """
const form = document.forms[0];
form.querySelector('input').value = 'made up';
form.action = address;
form.addEventListener('submit', (event) => event.preventDefault());
const event = {bubbles: true, cancelable: true, composed: true};
form.dispatchEvent(new SubmitEvent('submit', {...event, submitter: form.querySelector('button')}));
form.dispatchEvent(new Event('submit', event));
const link = document.querySelector('#result');
link.addEventListener('click', (event) => event.preventDefault());
link.dispatchEvent(new MouseEvent('click', event));
"""
FRAMED = """
const frame = Object.assign(document.createElement('iframe'), {src: page});
frame.onload = () => { document.body.dataset.loaded = '1' };
frame.onerror = () => { document.body.dataset.loaded = '1' };
document.body.append(frame);
"""
FETCHED = """
const tried = (each) => fetch(each, {mode: 'no-cors'}).then(() => each, () => '');
return Promise.all(addresses.map(tried));
"""
GATES = ("#%s", "?%s", "#/?%s", "?u=%s", "?url=%s", "#u=%s", "#url=%s", "/%s")


def pages(world: World) -> list[str]:
    """Return the extension's own pages: the popup, and those that a page may go to.

    By the addresses that lead there, which no page is told.
    """
    manifest = "(({action, web_accessible_resources: open}) => [action.default_popup, "
    manifest += "...(open ?? []).flatMap((each) => each.resources)])(api.runtime.getManifest())"
    told = f"{manifest}.filter((each) => each.endsWith('.html'))"
    told += ".map((each) => api.runtime.getURL(each))"
    return [*world.browser.inside(f"Promise.resolve({told})")]


def test_messages_of_a_page_are_nobodys(world: World) -> None:
    """Whichever way it sends them, and from a listed search too."""
    for host in ("evil", "search"):
        world.visit(host)
        address = json.dumps(world.recipient.search("x", "other"))
        origin = json.dumps(world.browser.origin.split("/")[-1])
        script = f"const address = {address}, id = {origin}; {MESSAGES}"
        kind, reached = world.browser.run(script)
        assert (kind, reached) == ("undefined", [])
        assert world.settled() == []


def test_events_that_a_page_makes_up(world: World) -> None:
    """A listed search cannot ask in the name of another site, nor tell of a click."""
    world.daemon.clicks = True
    world.learn()
    world.search("real")
    world.forget()
    address = json.dumps(world.recipient.search("made up", "other"))
    world.browser.run(f"const address = {address}; {FORMS}")
    assert {each.body.recipient for each in world.settled()} <= {"search.localhost"}
    assert {each.host for each in world.recipient.seen()} == {"search"}


def test_a_form_that_is_turned_to_another_site(world: World) -> None:
    """The user sends it, the page has changed where it goes: nobody is asked about, or told."""
    turn = f"action = {json.dumps(world.recipient.url('other', '/search'))}"
    world.visit("search")
    world.browser.run(f"document.forms[0].{turn}")
    world.browser.write("input", "turned", enter=True)
    [came] = world.recipient.arrived("turned")
    world.browser.shows("turned")
    assert (came.host, came.header) == ("other", None)
    assert world.settled() == []
    # while it waits: where it goes at last, only what was decided for that address may go with it
    world.daemon.delay = 0.2
    world.visit("search")
    later = f"setTimeout(() => {{ event.target.{turn} }}, 1)"
    world.browser.run(f"document.forms[0].addEventListener('submit', (event) => {{ {later} }})")
    world.browser.write("input", "later", enter=True)
    [came] = world.recipient.arrived("later")
    world.browser.shows("later")
    assert came.header in ({None} if came.host == "other" else {None, right("later")})


def test_our_pages_cannot_be_framed(world: World) -> None:
    """By nobody: their words would be taken for the page's, and its clicks for the user's."""
    for page in pages(world):
        world.visit("evil")
        world.browser.run(f"const page = {json.dumps(page)}; {FRAMED}")
        until(lambda: world.browser.run("return frames.length") == 1, "a frame")
        assert world.settled() == []


def test_no_page_can_tell_that_it_is_there(world: World) -> None:
    """Whoever has it is somebody: a Chromium's extension has one id with everybody.

    Firefox draws an id for each profile.
    """
    if world.browser.name == "chromium":
        files = (each.relative_to(EXTENSION) for each in EXTENSION.rglob("*.*"))
        addresses = json.dumps([f"{world.browser.origin}/{each.as_posix()}" for each in files])
        for host in ("evil", "search"):
            world.visit(host)
            found = world.browser.run(f"const addresses = {addresses}; {FETCHED}")
            assert {*found} == {""}


@pytest.mark.parametrize("target", ["other", "evil", "script"])
def test_the_gate_leads_nowhere_else(world: World, target: str) -> None:
    """A page that goes to the gate itself gets no request to a site that is not listed."""
    address = {
        "other": world.recipient.search("x", "other"),
        "evil": world.recipient.url("evil", f"/#{world.recipient.search('x')}"),
        "script": "javascript:document.title='run'//" + world.recipient.search("x"),
    }[target]
    gates = [page + form % address for page in pages(world) for form in GATES]
    world.visit("evil")
    world.forget()
    opening = "try { open(each) } catch { }"  # Firefox throws where a page may not go
    world.browser.run(f"for (const each of {json.dumps(gates)}) {opening}")
    evil = world.browser.now()
    for tab in world.browser.tabs():
        world.browser.switch(tab)
        until(lambda: world.browser.tried("return document.readyState === 'complete'"), "a page")
        assert world.browser.run("return document.title") != "run"
    world.browser.switch(evil)
    world.browser.front()
    world.settled()
    assert {recipient for _, recipient in world.decided()} == {"search.localhost"}
    assert {each.host for each in world.recipient.seen()} == {"search"}
