"""What a browser fetches ahead, because a page says so, is no search of the user."""

import json

import pytest

from tests.browser.world import World

pytestmark = pytest.mark.browser

AHEAD = """
const rules = document.createElement('script');
rules.type = 'speculationrules';
rules.textContent = JSON.stringify({[kind]: [{source: 'list', urls, eagerness: 'immediate'}]});
document.head.append(rules);
const link = document.createElement('link');
link.onload = link.onerror = () => { document.body.dataset.loaded = '1' };
document.head.append(Object.assign(link, {rel: 'prefetch', href: urls[0] + ' too'}));
"""


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
