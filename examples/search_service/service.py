"""The service as HTTP: pages for people, a header for their agents, and what was chosen."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from aiohttp import web

from examples.search_service import page
from examples.search_service.attributes import asked_of, codes_of, values_of
from examples.search_service.engine import Engine
from examples.search_service.journal import Journal, Shown
from examples.shared_attributes import ACCEPT, SHARED, accepting, heard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.model.attributes import Attribute
    from agent.model.model import Model
    from examples.shared_attributes import Heard

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_OWN = re.compile(r"(127\.0\.0\.1|([a-z0-9-]+\.)*localhost)(:[0-9]{1,5})?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,9}")
_SHARED = SHARED.lower().encode()
LONGEST = 200  # characters of a text that is searched for
LARGEST = 1024  # bytes of what a page tells when a result is chosen
STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

log = logging.getLogger("search_service")


@dataclass(frozen=True, slots=True)
class Service:
    """Answers requests; ``asked``: the attributes that it asks for."""

    engine: Engine
    attributes: tuple[Attribute, ...]
    asked: tuple[Attribute, ...]
    journal: Journal

    @classmethod
    def of(cls, model: Model, journal: Journal) -> Service:
        """Make the service over a model."""
        return cls(Engine(model), model.attributes, asked_of(model), journal)

    async def home(self, _request: web.Request) -> web.Response:
        """Say what this is."""
        return _page(page.home(self.engine.questions, self.asks, self.engine.source))

    async def search(self, request: web.Request) -> web.Response:
        """Show what a text finds, ranked for what the header of the request tells."""
        text = request.query.get("q", "").strip()[:LONGEST]
        told = self._heard(request)
        if text:
            answer = _page(self._results(text, told))
        else:
            answer = _page(page.empty(self.engine.questions, self.asks))
        if self.asked:
            answer.headers[ACCEPT] = accepting(each.name for each in self.asked)
        answer.headers["Vary"] = SHARED
        return answer

    async def result(self, request: web.Request) -> web.Response:
        """Show one result; whoever comes from a page of results has chosen it there."""
        number = int(request.match_info["number"])
        found = self.engine.result(number)
        if found is None:
            return _page(page.problem("There is no such result"), 404)
        name = request.query.get("page", "")
        self.journal.chosen(name, number)
        return _page(page.result(*found, self.journal.query(name)))

    async def chosen(self, request: web.Request) -> web.Response:
        """Take which result was chosen; a page that nobody was shown counts for nothing."""
        told = dict(parse_qsl((await request.read()).decode("utf-8", "replace")))
        number = told.get("result", "")
        if not _NUMBER.fullmatch(number):
            return _page(page.problem("A choice has a page and the number of a result"), 400)
        self.journal.chosen(told.get("page", ""), int(number))
        return web.Response(status=204)

    @property
    def asks(self) -> str:
        """What is asked for, and why, as a sentence."""
        return (
            f"Asks for {len(self.asked)} of the {len(self.attributes)} attributes that its model "
            "knows: those that help enough for what they tell about people."
        )

    def _results(self, text: str, told: Heard) -> str:
        found = self.engine.search(text, codes_of(told.values, self.asked))
        ranks = {each.number: (each.rank, each.plain) for each in found.placed}
        name = self.journal.shown(Shown(text, bool(told.values), ranks))
        titles = {each.name: each.title for each in self.asked}
        view = page.View(text, found, name, told.values, titles)
        return page.results(view, self.engine.questions, self.asks)

    def _heard(self, request: web.Request) -> Heard:
        lines = [value for name, value in request.raw_headers if name.lower() == _SHARED]
        told = heard(lines, values_of(self.asked))
        if told.ignored:
            log.warning("ignored of %s: %s", SHARED, "; ".join(told.ignored))
        return told


def application(service: Service) -> web.Application:
    """Make what answers requests for this machine by one of its own names."""
    made = web.Application(middlewares=[_own_names], client_max_size=LARGEST)
    made.router.add_get("/", service.home)
    made.router.add_get("/search", service.search)
    made.router.add_get(f"/result/{{number:{_NUMBER.pattern}}}", service.result, allow_head=False)
    made.router.add_post("/chosen", service.chosen)
    for name, kind in (("style.css", "text/css"), ("chosen.js", "text/javascript")):
        made.router.add_get(f"/{name}", _static((STATIC / name).read_text("utf-8"), kind))
    made.on_response_prepare.append(_headers)
    return made


@web.middleware
async def _own_names(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what a page elsewhere asks by a name of its own for this address (rebinding)."""
    if not _OWN.fullmatch(request.headers.get("Host", "")):
        return _page(page.problem("This service answers as 127.0.0.1 and localhost alone"), 421)
    return await handler(request)


async def _headers(_request: web.Request, answer: web.StreamResponse) -> None:
    answer.headers.popall("Server", None)
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "same-origin"


def _page(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html")


def _static(text: str, kind: str) -> Handler:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=kind)

    return handler
