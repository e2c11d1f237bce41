"""The proxy between a client and a service: what it tells, passes on, and refuses."""

import asyncio
import gzip
import http.client
import json
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from threading import Event
from typing import Any

import pytest
from aiohttp import web

from agent.assistants.proxy import LARGEST, SECONDS, _Resolver
from tests.assistants.test_server import WEEKEND
from tests.assistants.upstream import (
    KEY,
    NO_MORE,
    WHOM,
    WORDS,
    Answering,
    Proxied,
    Service,
    chunk,
    proxied,
    serving,
    streamed,
)
from tests.worlds.daemons import BALANCED, PATIENCE, Live, living
from tests.worlds.doors import short_home

CHAT = "chat/completions"
ASKED = "job site"
SUM = "what is 17 × 23"
JSON = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
MOST_MEMORY = 160  # MiB, while 300 pass


def ask(
    proxy: Proxied,
    call: str,
    body: object = None,
    headers: Mapping[str, str] = NO_MORE,
    method: str = "POST",
) -> tuple[int, Mapping[str, str], bytes]:
    """Send a request through the proxy, and return the answer; bytes as they are, else JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=PATIENCE)) as opened:
        opened.request(method, f"{proxy.path}/{call}", data, {**JSON, **headers})
        with opened.getresponse() as response:
            return response.status, dict(response.headers), response.read()


def chat(*said: str, **more: object) -> dict[str, object]:
    """Return a request in which the user said this, and was answered in between."""
    messages: list[dict[str, str]] = []
    for each in said:
        messages += [{"role": "user", "content": each}, {"role": "assistant", "content": "Yes."}]
    return {"model": "m", "messages": messages[:-1], **more}


def plainly(**given: Any) -> Answering:  # noqa: ANN401  (of the response)
    """Return what answers with the body that came, unless another is given."""

    async def answer(_request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        return web.Response(**{"body": body, **given})

    return answer


def raw(proxy: Proxied, data: bytes) -> bytes:
    """Send bytes, and return all that comes until the proxy ends it."""
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE) as opened:
        opened.sendall(data)
        return b"".join(iter(lambda: opened.recv(65536), b""))


def test_a_question_gets_its_facts_once(live: Live, service: Service, proxy: Proxied) -> None:
    """The ledger has them; a sum gets none, and what follows has them from memory, each once.

    What is there already of the system stays; once the vault is locked nothing is said any more.
    """
    before = len(live.call("ledger", recipient=WHOM))
    for said in ([SUM], [SUM, ASKED], [SUM, ASKED, SUM], [SUM, ASKED]):
        assert ask(proxy, CHAT, chat(*said))[0] == 200
    none, told, later, again = service.asked
    assert none.messages == chat(SUM)["messages"]
    assert told.line is not None
    assert later.line == again.line == told.line  # the client tries again
    assert told.messages[1:] == chat(SUM, ASKED)["messages"]
    entries = live.call("ledger", recipient=WHOM)
    assert [each.query for each in entries[: len(entries) - before]] == [ASKED] * 2
    assert told.line.count(",") < len(entries[0].disclosed)
    lead = {"role": "system", "content": "Be brief."}
    ask(proxy, CHAT, {"messages": [lead, {"role": "user", "content": ASKED}]})
    merged, *_ = service.asked[-1].messages
    assert merged == {**lead, "content": f"Be brief.\n\n{service.asked[-1].line}"}
    policy = live.paths.policy.read_text()
    for rule, line in (('disclose = "never"\n', None), ("", told.line)):  # ruled out meanwhile
        live.paths.policy.write_text(rule + policy)
        live.call("reload")
        ask(proxy, CHAT, chat(SUM, ASKED, SUM))
        assert service.asked[-1].line == line
    live.call("lock")
    for _ in range(2):
        ask(proxy, CHAT, chat(SUM, ASKED, SUM))
        assert service.asked[-1].line is None
        live.unlock()


def test_a_word_of_an_earlier_turn_keeps_facts_out(
    live: Live, service: Service, proxy: Proxied
) -> None:
    """They would stand in one request with it. Where not all can be looked at, they stay out, too.

    Also those that were told before the word was said.
    """
    policy, word, long = live.paths.policy.read_text(), "am I pregnant?", "x " * 2**15
    ask(proxy, CHAT, chat(word, ASKED))
    told, rule = service.asked[-1].line, '[[rule]]\nquery = "pregnan*"\n'
    for more, kept in (("", False), ("nothing = true\n", True), ('disclose = "never"\n', True)):
        live.paths.policy.write_text(policy + (more and rule + more))
        live.call("reload")
        for said in ([word, ASKED], [ASKED, word, ASKED], [long, ASKED]):
            ask(proxy, CHAT, chat(*said))
            assert service.asked[-1].line == (None if kept else told)
        ask(proxy, "responses", {"input": chat(ASKED)["messages"], "conversation": f"c{more}"})
        assert (service.asked[-1].line is None) == kept
        ask(proxy, CHAT, chat(SUM, ASKED))
        assert service.asked[-1].line == told
    live.paths.policy.write_text(policy)
    live.call("reload")


def test_the_client_that_people_have(live: Live, service: Service, proxy: Proxied) -> None:
    """A question carries facts, a sum none; the key passes, and models are listed."""
    from openai import OpenAI  # which takes a second

    with OpenAI(base_url=proxy.base, api_key=KEY, max_retries=0) as client:
        for text in (ASKED, SUM):
            messages: Any = chat(text)["messages"]
            found = client.chat.completions.create(model="m", messages=messages)
            assert found.choices[0].message.content == "".join(WORDS)
        assert [each.id for each in client.models.list()] == ["m"]
    assert [bool(each.line) for each in service.asked[:2]] == [True, False]
    assert all(("Authorization", f"Bearer {KEY}") in each.headers for each in service.asked)
    assert live.call("ledger", recipient=WHOM)[0].query == ASKED


def test_what_asks_nothing_stays_byte_for_byte(service: Service, proxy: Proxied) -> None:
    """Damaged or not: what is wrong with it, the service says. So does what is packed or large."""
    service.answer = plainly(status=400, headers={"Content-Encoding": "gzip"})
    packed = gzip.compress(json.dumps(chat(ASKED)).encode())
    large = json.dumps(chat(ASKED, user="x" * LARGEST)).encode()
    for body in (
        *(b"", b"{", b'{"messages": 1, "messages": [ ] }', b'{"model":"m"}', packed, large),
        b'{"messages": [ {"role":"user" , "content":"\\ud800"} ]}',
        b'{ "messages" : [{"role":"user","content":"job site"},{"role":"tool","content":"4"}] }',
    ):
        more = {"Content-Encoding": "gzip"} if body is packed else NO_MORE
        status, headers, answered = ask(proxy, CHAT, body, more)
        assert (status, headers["Content-Encoding"], answered) == (400, "gzip", body)
        assert service.asked[-1].body == body


def test_a_stream_passes_as_it_comes(service: Service, proxy: Proxied) -> None:
    """Each part is there before the service sends the next."""
    heard = Event()

    async def answer(request: web.BaseRequest, _body: bytes) -> web.StreamResponse:
        response = await streamed(request)
        for word in WORDS:
            await response.write(chunk(word))
            assert await asyncio.to_thread(heard.wait, PATIENCE)
            heard.clear()
        return response

    service.answer = answer
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=PATIENCE)) as opened:
        body = json.dumps(chat(ASKED, stream=True)).encode()
        opened.request("POST", f"{proxy.path}/{CHAT}", body, JSON)
        response = opened.getresponse()
        for word in WORDS:
            assert response.read1() == chunk(word)
            heard.set()
        assert response.read() == b""


def test_a_client_that_goes_ends_the_request(service: Service, proxy: Proxied) -> None:
    """Before the answer, and in the midst of it."""
    ended, begun = Event(), Event()
    for early in (True, False):

        async def answer(
            request: web.BaseRequest, _body: bytes, *, early: bool = early
        ) -> web.StreamResponse:
            response = web.StreamResponse() if early else await streamed(request)
            if not early:
                await response.write(chunk("Hello"))
            begun.set()
            try:
                await asyncio.sleep(PATIENCE)
            finally:
                ended.set()
            return response

        service.answer = answer
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE) as opened:
            body = json.dumps(chat(SUM)).encode()
            head = f"POST {proxy.path}/{CHAT} HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n"
            opened.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert begun.wait(PATIENCE)
            assert early or opened.recv(1)
        assert ended.wait(PATIENCE)
        begun.clear()
        ended.clear()


def test_half_an_answer_is_no_whole_one(service: Service, proxy: Proxied) -> None:
    """The client sees that the service broke off."""

    async def answer(request: web.BaseRequest, _body: bytes) -> web.StreamResponse:
        response = await streamed(request)
        await response.write(chunk("Hello"))
        assert request.transport is not None
        request.transport.abort()
        return response

    service.answer = answer
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        ask(proxy, CHAT, chat(SUM, stream=True))


def test_headers_of_a_connection_stay_there(service: Service, proxy: Proxied) -> None:
    """Both ways; all others pass, the key among them, and no cookie is kept."""
    own = {"Set-Cookie": "a=b", "X-Own": "1", "Connection": "X-Hop", "X-Hop": "2"}
    service.answer = plainly(body=b"{}", headers=own, status=429, reason="Slow down")
    sent = {"Connection": "x-nominated, Close", "X-Nominated": "1", "TE": "trailers"}
    more = {"OpenAI-Organization": "o", "Proxy-Authorization": "Basic eA==", "Cookie": "c=d"}
    for _ in range(2):
        status, headers, body = ask(proxy, CHAT, chat(SUM), {**sent, **more})
        assert (status, body, headers["X-Own"]) == (429, b"{}", "1")
        assert headers["Set-Cookie"] == "a=b"
        assert "X-Hop" not in headers
    for each in service.asked:
        found = {name.lower(): value for name, value in each.headers}
        assert found.pop("host") == f"127.0.0.1:{service.port}"
        assert found.pop("content-length") == str(len(each.body))
        assert found.pop("accept-encoding") == "identity"  # of http.client
        assert found == {
            "authorization": f"Bearer {KEY}",
            "content-type": "application/json",
            "cookie": "c=d",
            "openai-organization": "o",
        }


def test_where_the_service_sends_elsewhere_nobody_follows(service: Service, proxy: Proxied) -> None:
    """What was told would go along."""
    service.answer = plainly(body=b"", status=307, headers={"Location": "/v1/elsewhere"})
    status, headers, body = ask(proxy, CHAT, chat(SUM))
    assert (status, "Location" in headers) == (502, False)
    assert b"answered by a redirect; give --upstream the address" in body
    assert len(service.asked) == 1


def test_other_calls_pass_as_they_are_and_unknown_ones_are_refused(
    service: Service, proxy: Proxied
) -> None:
    """Without facts, whatever they hold; refused in one sentence, which clients show."""
    service.answer = plainly()
    for call in ("models", "models/a:b", "models/a%2Fb.1?x=%20y", "embeddings"):
        body = None if call.startswith("models") else json.dumps(chat(ASKED)).encode()
        method = "POST" if body else "GET"
        assert ask(proxy, call, body, method=method)[::2] == (200, body or b"")
        found = service.asked.pop()
        assert (found.method, found.target, found.body) == (method, f"/v1/{call}", body or b"")
    sentence = "Reticent: the proxy does not pass on this call; send it to the service itself"
    for call in (
        *("", "organization/users", "realtime", "chat", "chat/completionsx", "models/../x"),
        *("models/.", "models//x", "models/%2e%2e/x", "models/%2E%2E", "models/a%00", "models/a;b"),
        *("models/%2F..%2F..%2Fadmin", "models/a%2F..%2Fadmin", "models/%2F.x"),
        *("Models", "models%2Fx", "models/é", "models/a\\b", "models/"),
    ):
        line = f"GET {proxy.path}/{call} HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n"
        said = raw(proxy, f"{line}Connection: close\r\n\r\n".encode())
        head, _, body = said.partition(b"\r\n\r\n")
        assert head.split(maxsplit=2)[1] == (b"404" if call.isascii() else b"400"), call
        assert not call.isascii() or json.loads(body)["error"]["message"] == sentence
    assert service.asked == []


CHANGES: list[tuple[Callable[[str], str], int]] = [
    (lambda head: head.replace("Host: 127.0.0.1", "Host: evil.example"), 403),
    (lambda head: head.replace("Host: 127.0.0.1", "Host: 127.0.0.1.evil.example"), 403),
    (lambda head: head.replace("Host: 127.0.0.1", "Host: localhost"), 403),
    (lambda head: head.replace("Host:", "X:"), 400),
    (lambda head: head + "Host: evil.example\r\n", 400),
    (lambda head: head + "Origin: https://evil.example\r\n", 403),
    (lambda head: head + "Origin: null\r\n", 403),
    (lambda head: head.replace("POST ", "OPTIONS ") + "Origin: https://evil.example\r\n", 403),
    (lambda head: head.replace("POST /", "POST /x"), 401),
    (lambda head: head.replace("/v1/", "/v2/"), 401),
    (lambda head: head.replace("POST /", "POST http://evil.example/"), 401),
    (lambda head: head.replace("POST /", "POST /é"), 400),
    (lambda head: head.replace("POST ", "PUT "), 404),
    (lambda head: head.replace("POST ", "TRACE "), 404),
    (lambda head: head + "Transfer-Encoding: chunked\r\n", 400),
    (lambda head: head + "Content-Length: 3\r\n", 400),
    (lambda head: head + "Transfer-Encoding: chunked, identity\r\n", 400),
    (lambda head: head + "X-A: b\r\n c: d\r\n", 400),
    (lambda head: head + "X A: b\r\n", 400),
    (lambda head: head + "X-A: b\0c\r\n", 400),
    (lambda head: head + f"X-A: {'b' * 40_000}\r\n", 400),
    (lambda head: head + "X-A: b\r\n" * 200, 400),
    (lambda head: head.replace("/v1/", f"/v1/{'a' * 40_000}"), 400),
]


def test_who_may_not_ask_reaches_nobody(service: Service, proxy: Proxied) -> None:
    """Web pages, other names of this machine, wrong tokens, and requests with two readings."""
    body = json.dumps(chat(ASKED)).encode()
    head = f"POST {proxy.path}/{CHAT} HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n"
    head = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n"
    for number, (change, status) in enumerate(CHANGES):
        answer = raw(proxy, f"{change(head)}\r\n".encode() + body)
        assert answer.split(maxsplit=2)[1] == b"%d" % status, number
        assert answer.count(b"Content-Type: ") == 1
        assert b"Access-Control-Allow" not in answer
    assert service.asked == []


def test_an_upload_is_never_held_whole(live: Live) -> None:
    """In memory: it passes piece by piece."""
    piece, count = b"x" * 2**20, 300
    with serving(2**30) as service, proxied(live.paths, service.port) as proxy:
        service.answer = plainly(body=b"taken")
        with closing(http.client.HTTPConnection("127.0.0.1", proxy.port)) as opened:
            size = {"Content-Length": str(len(piece) * count)}
            opened.request("POST", f"{proxy.path}/files", (piece for _ in range(count)), size)
            assert opened.getresponse().read() == b"taken"
        assert Live(proxy.process, live.paths).resident("VmHWM") < MOST_MEMORY
        assert len(service.asked[0].body) == len(piece) * count


def test_whatever_becomes_of_the_daemon_the_request_goes() -> None:
    """As it is: locked, asked too often in a minute, or killed."""
    body = json.dumps(chat(ASKED)).encode()
    with (
        living(f"page_requests_per_minute = 1\n{BALANCED}", locked=True) as running,
        serving() as service,
        proxied(running.paths, service.port) as proxy,
    ):
        assert ask(proxy, CHAT, body)[0] == 200
        running.unlock()
        assert [ask(proxy, CHAT, body)[0] for _ in range(2)] == [200, 200]
        running.kill()
        assert ask(proxy, CHAT, body)[0] == 200
        assert [each.body == body for each in service.asked] == [True, False, True, True]
    assert [each.rpartition("note: ")[2] for each in proxy.noted if "note: " in each][1:] == [
        "the vault is locked, so nothing is told; unlock it with `reticent unlock`",
        "the vault was locked: 1 request left without facts",
    ]


def test_names_of_this_machine_are_found_here() -> None:
    """Whatever the network says of them, which is not asked: it would get the key and the facts."""

    async def found(host: str) -> list[str]:
        return [each["host"] for each in await _Resolver().resolve(host, 80)]

    for host in ("localhost", "searx.localhost", "A.B.LOCALHOST."):
        assert asyncio.run(found(host)) == ["127.0.0.1", "::1"]
    assert asyncio.run(found("192.0.2.1")) == ["192.0.2.1"]


def test_a_daemon_that_never_answers_holds_up_nothing() -> None:
    """For longer than a second."""
    body = json.dumps(chat(ASKED)).encode()
    with short_home() as places, ExitStack() as ends, serving() as service:
        places.query.parent.mkdir(mode=0o700, exist_ok=True)
        silent = ends.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        silent.bind(str(places.query))
        silent.listen()
        proxy = ends.enter_context(proxied(places, service.port, patience=SECONDS))
        begin = time.monotonic()
        assert ask(proxy, CHAT, body)[0] == 200
        assert time.monotonic() - begin < 10
        assert SECONDS == 1
        assert service.asked[0].body == body


def test_a_service_that_is_not_there_is_said(live: Live) -> None:
    """In one sentence."""
    with proxied(live.paths, 9) as proxy:
        status, _, body = ask(proxy, CHAT, chat(SUM))
    found: dict[str, Any] = json.loads(body)
    assert status == 502
    assert found["error"]["message"] == (
        "Reticent: the service cannot be reached; see that --upstream is right, and that the "
        "network is there"
    )


def test_nothing_of_a_request_is_kept(live: Live, service: Service, proxy: Proxied) -> None:
    """Neither the key, nor what was said: no file of ours has it. The token has its own file."""
    ask(proxy, CHAT, chat("a text that nobody understands", WEEKEND))
    ask(proxy, CHAT, b"\xff not JSON")
    raw(proxy, b"not HTTP \xff " + KEY.encode() + b"\r\n\r\n")
    assert len(service.asked) == 2
    token = proxy.path.split("/")[1].encode()
    home = live.paths.config.parent
    files = [each for each in home.rglob("*") if each.is_file()]
    assert [each.name for each in files if KEY.encode() in each.read_bytes()] == []
    assert [each.name for each in files if token in each.read_bytes()] == ["proxy.token"]
    assert [each.stat().st_mode & 0o777 for each in files if each.name == "proxy.token"] == [0o600]
