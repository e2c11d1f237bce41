"""aiohttp's server, and the one place that imports aiohttp."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOWHERE = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}  # as OpenSSL names them


@contextmanager
def without_certificates() -> Iterator[None]:
    """Let OpenSSL find no certificate authorities for as long as this lasts."""
    before = {name: os.environ.get(name) for name in NOWHERE}
    os.environ.update(NOWHERE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


with without_certificates():
    from aiohttp import web
    from aiohttp.http_exceptions import HttpProcessingError
    from aiohttp.typedefs import Handler


__all__ = ["Handler", "HttpProcessingError", "web"]
