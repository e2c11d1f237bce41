"""The clients that people have, through the proxy: `openai` and `llm`."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI, OpenAI, Stream
from openai.types.chat import ChatCompletionChunk

from agent.wire.routes import CONTROL
from tests.assistants.asking import WEEKEND
from tests.assistants.upstream import (
    KEY,
    WHOM,
    WORDS,
    Proxied,
    Service,
    chunk,
    streamed,
)
from tests.worlds.daemons import PATIENCE, Live, environment

MANY = 200
SUM = "what is 17 × 23"
TEXT = "".join(WORDS)
MODEL: Any = "m"


@pytest.fixture
def client(proxy: Proxied) -> Iterator[OpenAI]:
    """Return a client with the base URL that the proxy shows."""
    with OpenAI(base_url=proxy.base, api_key=KEY, max_retries=0) as made:
        yield made


def user(content: Any) -> Any:  # noqa: ANN401  (as the client takes it)
    """Return a message of the user's."""
    return {"role": "user", "content": content}


def test_a_question_and_a_sum(live: Live, service: Service, client: OpenAI) -> None:
    """The one carries facts, the other none; the key passes, and models are listed."""
    for text in ("job site", SUM):
        found = client.chat.completions.create(model=MODEL, messages=[user(text)])
        assert found.choices[0].message.content == TEXT
    assert [bool(each.line) for each in service.asked] == [True, False]
    assert all(("Authorization", f"Bearer {KEY}") in each.headers for each in service.asked)
    assert [each.id for each in client.models.list()] == [MODEL]
    assert client.embeddings.create(model=MODEL, input="job site").data[0].embedding == [0.5]
    with live.client(CONTROL) as control:
        assert control.call("ledger", recipient=WHOM)[0].query == "job site"


def test_a_stream(service: Service, client: OpenAI) -> None:
    """Word by word; and one that the client leaves ends at the service too."""
    words = client.chat.completions.create(model=MODEL, messages=[user("job site")], stream=True)
    assert [each.choices[0].delta.content for each in words] == [*WORDS]
    assert service.asked[0].line is not None
    ended = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def endless(request: web.BaseRequest, _body: bytes) -> web.StreamResponse:
        loops.append(asyncio.get_running_loop())
        response = await streamed(request)
        try:
            while True:
                await response.write(chunk("more"))
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    service.answer = endless
    left: Stream[ChatCompletionChunk] = client.chat.completions.create(
        model=MODEL, messages=[user("job site")], stream=True
    )
    with left:
        assert next(iter(left)).choices[0].delta.content == "more"
    waiting = asyncio.run_coroutine_threadsafe(ended.wait(), loops[0])
    assert waiting.result(PATIENCE)


def test_two_hundred_at_once(service: Service, proxy: Proxied) -> None:
    """All are at the service before it answers one, and each stream is whole."""
    there = 0
    all_there = asyncio.Event()

    async def answer(request: web.BaseRequest, _body: bytes) -> web.StreamResponse:
        nonlocal there
        there += 1
        if there == MANY:
            all_there.set()
        await all_there.wait()
        response = await streamed(request)
        for word in WORDS:
            await response.write(chunk(word))
        await response.write(b"data: [DONE]\n\n")
        return response

    service.answer = answer

    async def one(client: AsyncOpenAI, number: int) -> str:
        asked = [user(f"number {number}"), {"role": "assistant", "content": "4"}, user("job site")]
        stream = await client.chat.completions.create(model=MODEL, messages=asked, stream=True)
        return "".join([each.choices[0].delta.content or "" async for each in stream])

    async def run() -> list[str]:
        async with AsyncOpenAI(
            base_url=proxy.base, api_key=KEY, max_retries=0, timeout=5 * PATIENCE
        ) as client:
            return await asyncio.gather(*[one(client, number) for number in range(MANY)])

    assert asyncio.run(run()) == [TEXT] * MANY
    assert all(each.line for each in service.asked)
    asked = {each.messages[-3]["content"] for each in service.asked}
    assert asked == {f"number {number}" for number in range(MANY)}


@pytest.mark.soak
def test_the_command_llm(live: Live, service: Service, proxy: Proxied, tmp_path: Path) -> None:
    """A question, what follows in its conversation, and a sum, streamed or not."""
    model = f"- model_id: m\n  model_name: m\n  api_base: {proxy.base}\n"
    (tmp_path / "extra-openai-models.yaml").write_text(f"{model}  api_key_name: mine\n")
    told = {**environment(live.paths), "LLM_USER_PATH": str(tmp_path)}
    begin = [str(Path(sys.executable).with_name("llm")), "prompt", "-m", "m", "--key", KEY]
    for more in ([WEEKEND], ["-c", "and on Sunday?"], ["--no-stream", SUM]):
        done = subprocess.run([*begin, *more], env=told, capture_output=True, check=True, text=True)
        assert done.stdout.strip() == TEXT
    assert all(("Authorization", f"Bearer {KEY}") in each.headers for each in service.asked)
    weekend, sunday, number = service.asked
    assert [each["content"] for each in sunday.messages] == [WEEKEND, TEXT, "and on Sunday?"]
    assert number.line is None
    assert weekend.messages[-1]["content"] == WEEKEND
