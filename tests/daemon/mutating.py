"""Requests that are almost such: bytes, JSON, paths and headers changed at random, by a seed."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

HEADERS = {"Host": "localhost", "Content-Type": "application/json"}
ODD_TEXT = (
    *("", "\x00", "\ud800", "é", "\u202e", "😀", "'", '"', "\\", "../", "%", "a" * 5000, "\r\n"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 1e308, 0.5, "", "x" * 70_000, [], {}, [[]], {"": None}),
)
METHODS = ("PUT", "PATCH", "OPTIONS", "DELETE", "GET", "POST", "TRACE", "get", "", "G T")
_ODD_HEADERS = {
    "Content-Length": ("0", "-1", "99999999999999999999", "3"),
    "Transfer-Encoding": ("chunked", "gzip"),
    "Content-Encoding": ("gzip",),
    "Content-Type": ("text/plain", "application/json; charset=utf-16"),
    "Expect": ("100-continue", "more"),
    "Connection": ("upgrade",),
    "Upgrade": ("websocket",),
    "Host": ("", "a.example, b.example"),
    "Authorization": ("Bearer x",),
    "Cookie": ("a=" + "b" * 9000,),
    "X" * 9000: ("y",),
    "Range": ("bytes=0-1",),
}
ODD_HEADERS = tuple((name, each) for name, values in _ODD_HEADERS.items() for each in values)
DEEPEST = 3000
LONGEST_SLICE = 40


@dataclass(frozen=True, slots=True)
class Plain:
    """A request as it should be, or, with odd parts, as it should not."""

    method: str
    path: str
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    text: str | None = None  # in place of the body as JSON

    def data(self) -> bytes:
        """Return it as it is sent."""
        body = b""
        if self.text is not None or self.body is not None:
            text = json.dumps(self.body) if self.text is None else self.text
            body = text.encode("utf-8", "surrogatepass")
        given = {name.lower() for name, _ in self.headers}
        usual = [pair for pair in HEADERS.items() if pair[0].lower() not in given]
        if body and "content-length" not in given:
            usual.append(("Content-Length", str(len(body))))
        lines = [f"{self.method} {self.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in (*usual, *self.headers)]
        head = "\r\n".join(lines) + "\r\n\r\n"
        return head.encode("utf-8", "surrogatepass") + body


def mutated(plain: Plain, rng: Random) -> bytes:
    """Return a request with one kind of thing changed in it, once or several times."""
    ways: list[Callable[[Plain, Random], bytes]] = [_bytes, _bytes, _path, _head]
    if plain.body is not None:
        ways += [_json, _json, _json, _text]
    return rng.choice(ways)(plain, rng)


def _bytes(plain: Plain, rng: Random) -> bytes:
    """Flip bits, and cut out, double or put in slices."""
    data = plain.data()
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(data) + 1)
        to = at + rng.randint(1, LONGEST_SLICE)
        way = rng.randrange(5)
        if way == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif way == 1:
            data = data[:at] + data[to:]
        elif way == 2:
            data = data[:to] + data[at:]
        elif way == 3:
            data = data[:at] + rng.randbytes(rng.randint(1, 8)) + data[at:]
        elif way == 4 and at:
            data = data[:at]
    return data or b"\x00"


def _path(plain: Plain, rng: Random) -> bytes:
    """Put something odd into the path, or the query string."""
    path = plain.path
    odd = rng.choice(
        [*ODD_TEXT, "?", "?a=b", "#", "//", "%zz", "%00", "{id}", "&limit=1", "?limit=-1"]
    )
    at = rng.randrange(1, len(path) + 1)
    return replace(plain, path=path[:at] + odd + path[at + rng.randrange(3) :]).data()


def _head(plain: Plain, rng: Random) -> bytes:
    """Use another method, or a header that lies."""
    if rng.randrange(4) == 0:
        return replace(plain, method=rng.choice(METHODS)).data()
    return replace(plain, headers=tuple(rng.sample(ODD_HEADERS, rng.randint(1, 2)))).data()


def _json(plain: Plain, rng: Random) -> bytes:
    """Put something of another type, size or spelling somewhere into the body."""
    return replace(plain, body=_changed(plain.body, rng)).data()


def _changed(value: Any, rng: Random) -> Any:  # noqa: ANN401  (any JSON)
    """Return a value of JSON with one place in it changed."""
    inside = isinstance(value, dict | list) and value and rng.randrange(4)
    if not inside:
        return _odd(value, rng)
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    name = rng.choice([*value])
    rest = {key: each for key, each in value.items() if key != name}
    if rng.randrange(4) == 0:
        return {**rest, name + rng.choice(ODD_TEXT): value[name]}
    return {**rest, name: _changed(value[name], rng)}


def _odd(value: Any, rng: Random) -> Any:  # noqa: ANN401  (any JSON)
    """Return something else in the place of a value."""
    if isinstance(value, str) and rng.randrange(2):
        at = rng.randrange(len(value) + 1)
        return value[:at] + rng.choice(ODD_TEXT) + value[at:]
    if isinstance(value, dict) and rng.randrange(2):
        return {**value, "more": 1}
    return rng.choice([*ODD_VALUES, [value], [value] * 2000, {"": value}])


def _text(plain: Plain, rng: Random) -> bytes:
    """Send what is no JSON, or hardly."""
    text = json.dumps(plain.body)
    depth = rng.randint(1, DEEPEST)
    ways = [
        "[" * depth + text + "]" * depth,
        '{"query":' * depth,
        text[: rng.randrange(len(text))],
        text + text,
        text.replace("}", "," + text[1:], 1),
        "\ufeff" + text,
        text.replace(":", ": NaN, ", 1),
        text.replace('"', "'"),
        " " * (64 * 1024 - len(text)) + text,
        " " * (64 * 1024) + text,
    ]
    return replace(plain, text=rng.choice(ways)).data()
