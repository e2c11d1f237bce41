"""The extension's id follows from its key, and the names are such as browsers take."""

import hashlib
import re
from base64 import b64decode, b64encode

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.browsers import FIREFOX_ID, HOST, KEY, chromium_id


def test_the_key_is_a_public_one() -> None:
    """As Chromium wants it in a manifest."""
    key = load_der_public_key(b64decode(KEY))
    assert isinstance(key, RSAPublicKey)
    assert key.key_size == 2048


@given(key=st.binary(min_size=1, max_size=300))
def test_an_id_is_a_digest_in_letters(key: bytes) -> None:
    """32 of them, each for a digit of the digest in base 16."""
    found = chromium_id(b64encode(key).decode())
    assert re.fullmatch("[a-p]{32}", found)
    digits = found.translate(str.maketrans("abcdefghijklmnop", "0123456789abcdef"))
    assert hashlib.sha256(key).hexdigest().startswith(digits)


def test_an_id_that_is_known() -> None:
    """Of an empty key: e3b0c442... is the digest of nothing."""
    assert chromium_id("") == "odlameecjipmbmbejkplpemijjgpljce"


def test_names_are_such_as_browsers_take() -> None:
    """Chromium and Firefox have a pattern each for both."""
    assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", HOST)
    assert re.fullmatch(r"\w+(\.\w+)*", HOST)
    assert re.fullmatch(r"[a-zA-Z0-9._-]*@[a-zA-Z0-9._-]+", FIREFOX_ID)
