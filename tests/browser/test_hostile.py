"""Pages that want more get nowhere: what is no search of the user carries nothing of theirs."""

import json
from urllib.parse import quote

import pytest

from agent.wire.decide import Carry
from tests.browser.driver import EXTENSION
from tests.browser.recipient import right
from tests.browser.world import CARRIES, World, in_both, is_plain, led
from tests.waiting import until

pytestmark = [pytest.mark.browser, in_both]

HOSTS = (  # like search.localhost:PORT, whose searches are at /search?q={query}
    "search.localhost:{port}@evil.localhost:{port}",
    "search.localhost:{other}",
    *(f"{each}:{{port}}" for each in ("evil.localhost", "evilsearch.localhost", "127.0.0.1")),
    *(f"search{each}.localhost:{{port}}" for each in (".localhost", ".evil", "xlocalhost")),
)
PAGES = ("searches?q=x", "search/?q=x", "Search?q=x", "search/more?q=x", "search", "?/search?q=x")
QUERIES = ("q=", "Q=x", "qq=x", "a=b;q=x", "p=?q=x")
WHOLE = "http://search.localhost:{port}/search?q=x"
LOOKALIKES = (
    *(f"http://{host}/search?q=x" for host in HOSTS),
    *(f"http://search.localhost:{{port}}/{page}" for page in (*PAGES, "search#q=x")),
    *(f"http://search.localhost:{{port}}/search?{query}" for query in QUERIES),
    *(f"http://evil.localhost:{{port}}/{mark}{WHOLE}" for mark in ("", "?u=", "#")),
)
LOADING = (  # of an address, by a page
    "document.body.append(Object.assign(new Image(), {src: address}))",
    "document.body.append(Object.assign(document.createElement('iframe'), {src: address}))",
    "document.head.append(Object.assign(link, {rel: 'stylesheet', href: address}))",
    "Object.assign(form, {method: 'post', action: address}).submit()",
    "navigator.sendBeacon(address, 'x')",
)
MADE = "const link = document.createElement('link'), form = document.forms[0]"

AHEAD = """
const rules = document.createElement('script');
rules.type = 'speculationrules';
rules.textContent = JSON.stringify({[kind]: [{source: 'list', urls, eagerness: 'immediate'}]});
document.head.append(rules);
const link = document.createElement('link');
link.onload = link.onerror = () => { document.body.dataset.loaded = '1' };
document.head.append(Object.assign(link, {rel: 'prefetch', href: urls[0] + ' too'}));
"""
FETCHES = 20
FETCH = "fetch('/search?q=fetched')"
XHR = "const asked = new XMLHttpRequest(); asked.open('GET', '/search?q=fetched'); asked.send()"


def test_addresses_that_only_look_like_the_search(world: World) -> None:
    """Nothing is attached to them, and nothing is said to anybody."""
    world.adding("words", "search")
    with world.recipient.beside() as other:
        for address in LOOKALIKES:
            world.browser.arrive(address.format(port=world.recipient.port, other=other))
    came = world.recipient.seen()
    assert len(came) >= len(LOOKALIKES)
    assert [each for each in came if each.header] == []
    assert [each for each in came if led("x") in each.query] == []
    assert world.daemon.said() == []


@pytest.mark.parametrize("carry", CARRIES)
def test_what_a_page_loads_by_itself(world: World, carry: Carry) -> None:
    """A frame, an image, a form that is posted, what it fetches: it stays as it is."""
    world.adding(carry, "engine")
    for number, script in enumerate(LOADING):
        query = f"beside {number}"
        world.visit("elsewhere")
        address = json.dumps(world.recipient.search(query, "engine"))
        world.browser.tried(f"const address = {address}; {MADE}; setTimeout(() => {{ {script} }})")
        [came] = world.recipient.heard(lambda each: each.path == "/search", number + 1)[number:]
        assert is_plain(came, query)
        if "submit()" in script:  # else the next page could come between
            world.browser.shows(query)
    assert world.decided() == []
    for script in (FETCH, XHR):
        world.forget()
        world.visit("engine")
        world.browser.run(f"for (let count = 0; count < {FETCHES}; count++) {{ {script} }}")
        every = world.recipient.arrived("fetched", FETCHES)
        assert all(is_plain(each, "fetched") for each in every)
        assert world.settled() == []


@pytest.mark.parametrize("kind", ["prefetch", "prerender"])
def test_what_a_page_has_fetched_ahead(world: World, kind: str) -> None:
    """Nobody is asked about it: else a page could spend what a recipient may be told."""
    urls = [world.recipient.search("ahead"), world.recipient.url("evil", "/last")]
    world.visit("evil")
    world.browser.run(f"const kind = {kind!r}, urls = {json.dumps(urls)}; {AHEAD}")
    if world.browser.name == "chromium":  # one after the other; Firefox knows no such rules
        world.recipient.heard(lambda each: each.path == "/last")
    world.recipient.heard(lambda each: each.query == "ahead too")
    assert world.settled() == []
    assert {each.header for each in world.recipient.seen() if "ahead" in each.query} == {None}


def test_a_tab_behind_another(world: World) -> None:
    """It may search for what it likes: it tells nobody anything."""
    world.visit("search")
    address = json.dumps(world.recipient.search("behind"))
    world.browser.run(f"setTimeout(() => location = {address}, 1000)")
    world.browser.opened()
    [came] = world.recipient.arrived("behind")
    assert came.header is None
    assert world.settled() == []


LANDED = "/search?q=landed"


@pytest.mark.parametrize(
    ("target", "listed"), [("/landed", False), (LANDED, False), (LANDED, True)]
)
def test_who_is_sent_the_search_gets_no_header(world: World, target: str, *, listed: bool) -> None:
    """The header goes to the recipient that was asked about; one that is listed gets its own."""
    world.listing(*["other"] * listed, "search")
    world.forget()
    onward = world.recipient.url("other", target)
    world.browser.go(world.recipient.search("sent on") + "&to=" + quote(onward, safe=""))
    [landed] = world.recipient.heard(lambda each: each.host == "other")
    [came] = world.recipient.searches("sent on")
    own = {right("landed"): ("landed", "other.localhost")} if listed else {}
    assert came.header == right("sent on")
    assert landed.header in {None, *own}
    assert {*world.decided()} - {*own.values()} == {("sent on", "search.localhost")}


# Pages that want the agent to answer for another, or to know of it.

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
    told = ".filter((each) => each.endsWith('.html')).map((each) => api.runtime.getURL(each))"
    return [*world.browser.inside(f"Promise.resolve({manifest}{told})")]


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
        "other": world.recipient.search("x", "never-listed"),
        "evil": world.recipient.url("evil", f"/#{world.recipient.search('x')}"),
        "script": "javascript:document.title='run'//" + world.recipient.search("x"),
    }[target]
    gates = [page + form % address for page in pages(world) for form in GATES]
    world.visit("evil")
    world.forget()
    opening = "try { open(each) } catch { }"  # Firefox throws where a page may not go
    world.browser.run(f"for (const each of {json.dumps(gates)}) {opening}")
    evil = world.browser.present
    for tab in world.browser.tabs():
        world.browser.switch(tab)
        until(lambda: world.browser.tried("return document.readyState === 'complete'"), "a page")
        assert world.browser.run("return document.title") != "run"
    world.browser.switch(evil)
    world.browser.front()
    world.settled()
    assert {recipient for _, recipient in world.decided()} == {"search.localhost"}
    assert {each.host for each in world.recipient.seen()} == {"search"}
