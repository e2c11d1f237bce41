"""Who the extension is, and what the relay is called: fixed, so that a manifest can name them.

A Chromium takes an unpacked extension's id from the public key in its manifest: the first 16 bytes
of the SHA-256 of its DER form, each half of a byte as a letter from a to p. There is nothing that
the private half would open, and nobody has it. Firefox takes the id that the extension names.
Source: Chrome's documents on the manifest's `key`; Mozilla's on `browser_specific_settings`.
"""

import hashlib
from base64 import b64decode

HOST = "reticent.relay"  # of letters, digits, _ and dots, as all browsers take it
FIREFOX_ID = "reticent@local"
KEY = (
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuGJeOp0lfVOFtAvm4eNoIXe/hLTxtO4eGPeFP5rN530P+6"
    "ziW/gfeuYxt4J4dtJE+o2+W5qXeQkiK0k6/BNvl39hJ8RA3TnOIhj5hInFlj8amGutt5XZu9pZnPunJTck/xxJaQZ1"
    "OpivtG9hXhOwVlHDocVXsa5sQ2kKVkE538UdxPU5JZoMF+HRQhKVMPAqbagSL//nFT8ZV07N0ToiD7XnVjkXoGkRr1"
    "bZRX2idGlTJ27J9uSNyexJyMP5xrFmv7ODww0vSSsztl6EPbW0Pm/eDGrhdyLsTmNdX8wddlk/USggQFpUuPEsW920"
    "NEblf2czHGjgSHLS08qJ8N5EdwIDAQAB"
)
_LETTERS = "abcdefghijklmnop"
_BYTES = 16


def chromium_id(key: str) -> str:
    """Return the id of the extension whose manifest has this key: DER in base64."""
    digest = hashlib.sha256(b64decode(key, validate=True)).digest()[:_BYTES]
    return "".join(_LETTERS[byte >> 4] + _LETTERS[byte & 15] for byte in digest)
