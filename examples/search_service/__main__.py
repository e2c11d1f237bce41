"""Run the search service on 127.0.0.1, until Ctrl-C.

.venv/bin/python -m examples.search_service [--port 8710] [--log FILE] [--model M]
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import logging
import os
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from aiohttp import web

from agent.decision.engine import load_model
from agent.errors import ReticentError, UsageError, reason
from examples.search_service.journal import Journal
from examples.search_service.service import Service, application

ADDRESS, PORT = "127.0.0.1", 8710
MOST = 65535


class _Types(logging.Filter):
    """Lets the server's own log say what kind of error there was: its text quotes the request."""

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.exc_info[0] if record.exc_info else None
        record.msg, record.args = f"a request failed: {kind.__name__ if kind else 'no HTTP'}", ()
        record.exc_info = record.exc_text = None
        return True


_TYPES = _Types()  # one: a second would find nothing left to say


async def serve(service: Service, port: int) -> None:
    """Answer requests until this is cancelled; ``port``: 0 for any that is free.

    UsageError where the port cannot be had.
    """
    runner = runner_of(application(service))
    async with AsyncExitStack() as ending:
        ending.push_async_callback(runner.cleanup)
        await runner.setup()
        try:
            await web.TCPSite(runner, ADDRESS, port).start()
        except OSError as error:
            what = "is in use" if error.errno == errno.EADDRINUSE else f"is no use: {reason(error)}"
            raise UsageError(f"port {port} {what}", "choose another with --port") from error
        host, at, *_ = runner.addresses[0]
        print(f"http://{host}:{at}/ until Ctrl-C. {service.asks}", flush=True)
        await asyncio.Event().wait()


def runner_of(made: web.Application) -> web.AppRunner:
    """Make what runs an application: nothing that it is asked reaches a log."""
    server = logging.getLogger("search_service.http")
    server.addFilter(_TYPES)
    return web.AppRunner(made, access_log=None, logger=server)


def main(arguments: list[str]) -> int:
    """Run the service, and return the exit code."""
    asked = _parser().parse_args(arguments)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        with suppress(KeyboardInterrupt):
            _run(asked)
    except ReticentError as error:
        print(f"search_service: error: {error}", file=sys.stderr)
        print(f"search_service: hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


def _run(asked: argparse.Namespace) -> None:
    model = load_model(asked.model or "so2017")
    if asked.log is None:
        asyncio.run(serve(Service.of(model, Journal()), asked.port))
        return
    try:
        file = os.fdopen(os.open(asked.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a")
    except OSError as error:
        what = f"cannot be written: {reason(error)}"
        raise UsageError(what, "choose another file with --log", str(asked.log)) from error
    with file:
        asyncio.run(serve(Service.of(model, Journal(file)), asked.port))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.search_service",
        description="A small search service that ranks by what it is told about who asks.",
    )
    parser.add_argument("--port", type=_port, default=PORT, help=f"by default {PORT}; 0 for any")
    parser.add_argument("--log", type=Path, help="file for a line of JSON per chosen result")
    parser.add_argument("--model", type=Path, help="by default so2017, software")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= MOST):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give a number from 0 to {MOST}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
