"""Many clients of one daemon at once, and what each of them was told."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from agent.wire.decide import Answer, Ask

SIMPLE = ("int_java", "int_python", "dev_web")  # decided in a millisecond, whatever is known
QUERIES = ("editor", "version control", "framework used", "job site", "tabs spaces")
HEAD = "POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
DECIDED = ("answered", "past a limit already")
PATIENCE = 60.0  # seconds
GONE = (ConnectionError, FileNotFoundError, asyncio.IncompleteReadError)


@dataclass(slots=True)
class Crowd:
    """Clients that ask one query after the other, each on a connection of its own.

    ``asked``: what their recipients can use, None for anything; ``told``: the attributes of each
    answer that is in the ledger, by the number there; ``answers``: how many there were, of any
    kind; ``other``: those that were no decision; ``cut``: clients whose daemon ended before all
    that they would ask was answered.
    """

    path: Path
    asked: Sequence[str] | None = None
    told: dict[int, dict[str, str]] = field(default_factory=dict)
    answers: int = 0
    other: list[bytes] = field(default_factory=list)
    cut: int = 0

    async def ask(self, clients: int, each: int, recipient: Callable[[int, int], str]) -> None:
        """Ask so many times in each of so many clients.

        ``recipient``: of a client's request, by the numbers of both; called as it asks.
        """
        async with asyncio.TaskGroup() as group:
            for client in range(clients):
                hosts = map(partial(recipient, client), range(each))
                group.create_task(self._client(client, hosts))

    async def _client(self, client: int, hosts: Iterable[str]) -> None:
        names = None if self.asked is None else [*self.asked]
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = await asyncio.open_unix_connection(self.path)
                with closing(writer):
                    for number, host in enumerate(hosts):
                        query = QUERIES[(client + number) % len(QUERIES)]
                        writer.write(request(Ask(query=query, recipient=host, asked=names)))
                        self._note(await response(reader))
        except GONE:
            self.cut += 1

    def _note(self, said: tuple[int, bytes]) -> None:
        """Note an answer; two of one number would be one entry for two disclosures."""
        status, body = said
        answer = msgspec.json.decode(body, type=Answer) if status == 200 else None
        self.answers += 1
        if answer is None or answer.code not in DECIDED:
            self.other.append(body)
        elif answer.id is not None:
            assert answer.id not in self.told
            self.told[answer.id] = answer.attributes
        else:
            assert not answer.attributes


def request(ask: Ask) -> bytes:
    """Return a request as it is sent."""
    body = msgspec.json.encode(ask)
    return f"{HEAD}{len(body)}\r\n\r\n".encode() + body


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return the status and the body of an answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    [length] = [line for line in lines if line.lower().startswith("content-length:")]
    return int(lines[0].split()[1]), await reader.readexactly(int(length.split(":")[1]))
