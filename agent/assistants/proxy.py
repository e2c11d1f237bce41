"""The proxy for clients of the OpenAI protocol: it passes on what they ask, with a few facts.

A question gets a line that says who asks, made of what the daemon answers; where that fails in any
way, it goes as it is. Nothing is logged but which facts were told, where the user wants to see it;
and nothing is kept but what was said of the user in the conversations so far, in memory until the
vault is found locked.
"""

import asyncio
import hmac
import logging
import re
import signal
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from socket import AI_NUMERICHOST, AddressFamily, socket

import aiohttp
from aiohttp import web
from aiohttp.abc import ResolveResult
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from agent.assistants.conversation import MESSAGES, Conversations, Turn, turn_of
from agent.errors import UNLOCK, RefusedError, ReticentError
from agent.wire.base import MOST_TEXTS
from agent.wire.client import Client
from agent.wire.decide import Answer, Ask, Conversation
from agent.words.figures import counted, listed
from agent.words.titles import WHY_NOTHING, about, phrase, plain

WHO = "The user says:"  # before the line, which speaks as the user does
SECONDS = 1.0  # that a request waits for its facts
LARGEST = 16 << 20  # bytes of a request that is looked into; a larger one is passed on as it comes
ROOM = 40 << 10  # bytes of what the user said, which the daemon is to look at
LONGEST = 32 << 10  # bytes of a header: some keys are long
CONNECTING = 30.0  # seconds; an answer may take as long as it likes
GRACE = 0.5  # seconds for answers to end when the proxy does
METHODS = {"GET", "POST", "DELETE"}
# A part of a path begins with no dot, and has nothing that two readers may read in two ways.
_PART = "(?:/(?:[A-Za-z0-9_~@:+-]|%2F|%3A)(?:[A-Za-z0-9._~@:+-]|%2F|%3A)*)*"
_CALLS = (
    "audio|batches|chat/completions|completions|conversations|embeddings|files|images|models|"
    "moderations|responses|uploads|vector_stores"
)
_PATH = re.compile(f"(?!.*%2F[.])(?:{_CALLS}){_PART}")
# What a message says of its connection alone (RFC 9110, section 7.6.1).
_OF_A_HOP = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
    *("te", "trailer", "transfer-encoding", "upgrade"),
}
_OF_A_REQUEST = ("host", "expect", "content-length")
_NOT_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """From where to where: what the base URL begins with, and what stands in its place.

    ``token``: the first part of the path; ``upstream``: without a slash at its end; ``recipient``:
    who gets the facts; ``daemon``: its query socket.
    """

    token: str = field(repr=False)
    upstream: str
    recipient: str
    daemon: Path

    def base(self, listening: socket) -> str:
        """Write the base URL, for the client."""
        address, port = listening.getsockname()
        return f"http://{address}:{port}/{self.token}/v1"


class Proxy:
    """Answers the clients of one route."""

    def __init__(
        self,
        route: ProxyRoute,
        port: int,
        session: aiohttp.ClientSession,
        note: Callable[[str], None],
        report: Callable[[str], None],
    ) -> None:
        """Begin with no conversation; ``session``: for the requests to the service.

        ``note``: takes sentences about questions that get no facts as long as the vault is locked;
        ``report``: a line about each request.
        """
        self._route, self._report = route, report
        self._host = [f"127.0.0.1:{port}"]  # at another address of localhost anybody may listen
        self._session, self._conversations = session, Conversations()
        self._note, self._bare = note, 0  # questions in a row that the vault was locked for

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request with what the service answers, or with the reason why not."""
        try:
            return await self._passed_on(request, self._admitted(request))
        except RefusedError as error:
            self._report(f"{request.method} refused: {error}")
            wrong = {"message": f"Reticent: {error}; {error.hint}", "type": error.code}
            return web.json_response({"error": wrong}, status=error.status or 403)

    def _admitted(self, request: web.BaseRequest) -> str:
        """Find the path below the base URL; RefusedError for who may not ask, or not this.

        Any program on this machine can connect, and any web page can try.
        """
        if request.headers.getall("Host", []) != self._host:
            what = "the Host header does not name this address"
            raise RefusedError("refused", what, "use the base URL as shown")
        if "Origin" in request.headers:
            raise RefusedError("refused", "a web page may not ask", "ask from a program")
        path, begin = request.raw_path.partition("?")[0], f"/{self._route.token}/v1/"
        given = path[: len(begin)].encode("utf-8", "replace")
        if not hmac.compare_digest(given, begin.encode()):
            hint = "copy the one that `reticent proxy` shows"
            raise RefusedError("refused", "the base URL is wrong", hint, 401)
        call = path[len(begin) :]
        if request.method not in METHODS or not _PATH.fullmatch(call):
            what = "the proxy does not pass on this call"
            raise RefusedError("not found", what, "send it to the service itself", 404)
        return call

    async def _passed_on(self, request: web.BaseRequest, call: str) -> web.StreamResponse:
        """Send a request to the service, and answer with what it answers."""
        headers, told = end_to_end(request.headers, _OF_A_REQUEST), ""
        data: bytes | AsyncIterator[bytes] | None = None
        if request.body_exists:
            data = request.content.iter_any()
            if request.method == "POST" and call in MESSAGES and "Content-Encoding" not in headers:
                data, told = await self._looked_into(request, call)
            if not isinstance(data, bytes) and "Content-Length" in request.headers:
                headers["Content-Length"] = request.headers["Content-Length"]
        _, query, parameters = request.raw_path.partition("?")
        url = URL(f"{self._route.upstream}/{call}{query}{parameters}", encoded=True)
        response = None
        try:
            async with self._session.request(
                request.method, url, headers=headers, data=data, allow_redirects=False
            ) as reply:
                if 300 <= reply.status < 400 and "Location" in reply.headers:  # noqa: PLR2004  (of HTTP)
                    hint = "give --upstream the address that it has moved to"
                    raise RefusedError("upstream", "the service answered by a redirect", hint, 502)
                response = web.StreamResponse(
                    status=reply.status, reason=reply.reason, headers=end_to_end(reply.headers)
                )
                self._report(f"{request.method} {call}: {reply.status}{told and f', {told}'}")
                await response.prepare(request)
                async for chunk in reply.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
        except (aiohttp.ClientError, OSError, ValueError):  # the last for a header that is none
            if response is None:
                hint = "see that --upstream is right, and that the network is there"
                raise RefusedError("upstream", "the service cannot be reached", hint, 502) from None
            if request.transport is not None:  # so that half an answer does not pass for a whole
                request.transport.abort()
        return response

    async def _looked_into(
        self, request: web.BaseRequest, call: str
    ) -> tuple[bytes | AsyncIterator[bytes], str]:
        """Read a body, with facts where it asks for some; one that is too large as it comes.

        Also says what its service is told.
        """
        body = bytearray()
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > LARGEST:
                return _resumed(bytes(body), request.content), "told nothing: it is too large"
        whole = bytes(body)
        turn = turn_of(call, whole)
        if turn is None:
            return whole, "told nothing: no question of the user"
        line, told = await self._line(turn)
        return turn.with_text(line) if line else whole, told

    async def _line(self, turn: Turn) -> tuple[str, str]:
        """Say who asks, as the service is told; empty for nothing, and on any failure.

        Also says which facts these are, by their titles, or why there are none.
        """
        try:
            async with asyncio.timeout(SECONDS):
                answer, usable = await asyncio.to_thread(self._decided, turn)
        except (ReticentError, TimeoutError) as error:
            return "", f"told nothing: {error or 'the daemon took too long'}"
        if answer.code == "locked":
            self._conversations, self._bare = Conversations(), self._bare + 1
            if self._bare == 1:
                self._note(f"the vault is locked, so nothing is told; {UNLOCK}")
        elif self._bare:
            self._note(f"the vault was locked: {counted(self._bare, 'request')} left without facts")
            self._bare = 0
        why = f"told nothing: {WHY_NOTHING[answer.code]}"
        if answer.summary is None or answer.code in ("blocked", "ordered here"):
            return "", why
        titles, own = answer.summary.titles, answer.facts
        facts = {
            own.get(name, name): phrase(titles.get(name, name), value, own=name in own)
            for name, value in answer.attributes.items()
        }
        lacks = self._conversations.facts_in(turn, facts, usable)
        if not lacks:
            return "", "told nothing new" if facts else why
        named = {own.get(each, each): plain(titles.get(each, each)) for each in answer.attributes}
        told = f"told {listed([named.get(each, each) for each in lacks])}"
        return f"{WHO} {about(lacks.values())}", told

    def _decided(self, turn: Turn) -> tuple[Answer, Collection[str]]:
        """Ask the daemon about a question; and which of the facts that it told may be told now.

        Rules look at all that the user said; where the service alone has it, or there is too much
        of it, every rule holds that withholds something for any words.
        """
        whom, texts = self._route.recipient, [*turn.texts]
        fits = len(texts) <= MOST_TEXTS and sum(len(each.encode()) for each in texts) <= ROOM
        earlier = texts if fits and not turn.conversation else None
        with Client(self._route.daemon, SECONDS, attended=False, by="proxy") as client:
            ask = Ask(query=turn.question, recipient=whom, earlier=earlier)
            answer: Answer = client.call("decide", ask)
            again: Answer = client.call("disclosed", Conversation(recipient=whom, earlier=earlier))
            return answer, again.attributes.keys()


async def _resumed(begin: bytes, rest: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield what was read of a body, and then the rest of it."""
    yield begin
    async for chunk in rest.iter_any():
        yield chunk


def end_to_end(headers: CIMultiDictProxy[str], also: Collection[str] = ()) -> CIMultiDict[str]:
    """Keep the headers but those of the connection, and but ``also`` (in small letters)."""
    named = ",".join(headers.getall("Connection", [])).lower().split(",")
    left_out = {*_OF_A_HOP, *also, *(each.strip() for each in named)}
    remaining = [(name, each) for name, each in headers.items() if name.lower() not in left_out]
    return CIMultiDict(remaining)


class _Resolver(aiohttp.ThreadedResolver):
    """Finds names of this machine here: the network is not asked (RFC 6761, section 6.3)."""

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AddressFamily.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve as `getaddrinfo`, but localhost and the names below it to loopback."""
        if host.lower().rstrip(".").rpartition(".")[2] != "localhost":
            return await super().resolve(host, port, family)
        flags = AI_NUMERICHOST
        addresses = ((AddressFamily.AF_INET, "127.0.0.1"), (AddressFamily.AF_INET6, "::1"))
        return [
            ResolveResult(hostname=host, host=at, port=port, family=of, proto=0, flags=flags)
            for of, at in addresses
        ]


async def serve(
    listening: socket,
    route: ProxyRoute,
    announce: Callable[[], None],
    note: Callable[[str], None],
    report: Callable[[str], None],
) -> None:
    """Answer at a listening socket of this machine until Ctrl-C or SIGTERM.

    ``announce``: called once it listens; ``note`` and ``report``: as `Proxy` has them, no value and
    nothing of what is asked. Nothing else is logged: what a library would say quotes what it chokes
    on.
    """
    logging.disable(logging.CRITICAL)
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            loop.add_signal_handler(number, over.set)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, resolver=_Resolver()),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=_NOT_ADDED,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECTING),
        auto_decompress=False,
        max_line_size=LONGEST,
        max_field_size=LONGEST,
    ) as session:
        proxy = Proxy(route, listening.getsockname()[1], session, note, report)
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", proxy.answer)
        runner = web.AppRunner(
            application,
            access_log=None,
            auto_decompress=False,
            handler_cancellation=True,  # a client that goes ends its request to the service
            max_line_size=LONGEST,
            max_field_size=LONGEST,
            shutdown_timeout=GRACE,
        )
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            announce()
            await over.wait()
        finally:
            await runner.cleanup()
