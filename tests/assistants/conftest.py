"""A service and the proxy before it, which the tests of a module share."""

from collections.abc import Iterator

import pytest

from tests.assistants.upstream import Proxied, Service, proxied, serving, usual
from tests.worlds.daemons import BALANCED, Live, living

POLICY = f"page_requests_per_minute = 1000\n{BALANCED}"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with living(POLICY) as running:
        yield running


@pytest.fixture(scope="module")
def whole(live: Live) -> Iterator[tuple[Service, Proxied]]:
    """Return a service, and a proxy before it that obeys no other."""
    dead = "http://127.0.0.1:9"
    told = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"), dead)
    with serving() as service, proxied(live.paths, service.port, told) as proxy:
        yield service, proxy


@pytest.fixture
def service(whole: tuple[Service, Proxied]) -> Service:
    """Return the service, which has heard nothing yet."""
    whole[0].asked.clear()
    whole[0].answer = usual
    return whole[0]


@pytest.fixture
def proxy(whole: tuple[Service, Proxied]) -> Proxied:
    return whole[1]
