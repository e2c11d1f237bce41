"""A signature says who made a model, and nothing but the true one does."""

import os
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from hypothesis import example, given
from hypothesis import strategies as st

from agent.cli.model import generate_key
from agent.cli.model import sign_file as sign
from agent.errors import ModelError, SignatureError, UsageError
from agent.model import file
from agent.model.content import check_key, is_sound, signer
from agent.model.file import maker, trusted
from tests.model.examples import small_model

FLIPS = (0x01, 0x20, 0x80, 0xFF)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    file.write(small_model(), path)
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.pem"
    generate_key(path)
    return path


def verify(model: Path) -> str:
    """The public key that signed a model."""
    return maker(model, file.read(model, whole=True))


def by_hand(model: Path, key: Path, signed: str, text: str) -> str:
    """A signature's text, made with a library: by what is signed, and the text beside."""
    private = load_pem_private_key(key.read_bytes(), None)
    assert isinstance(private, ed25519.Ed25519PrivateKey)
    digest = file.read(model).digest
    signature = private.sign(f"reticent model signature {signed}\n{digest}".encode()).hex()
    public = private.public_key().public_bytes_raw().hex()
    ends = f'"digest":"{digest}","key":"ed25519:{public}","signature":"{signature}"'
    return f"{{{text},{ends}}}\n"


def test_what_is_signed_is_what_the_format_says(model: Path, key: Path) -> None:
    """Whoever has the page and a library can sign and verify; it lies beside the model."""
    signature, text = sign(model, key), by_hand(model, key, "2\nsmall", '"format":2,"id":"small"')
    assert signature == model.with_suffix(".sig")
    assert signature.read_text() == text
    assert f'"{verify(model)}"' in text


def test_every_flipped_byte_of_a_signature_is_refused(model: Path, key: Path) -> None:
    """And every truncation, except that the last line feed is nobody's."""
    found, good = file.read(model), sign(model, key).read_bytes()
    spoilt = [good + b"x", b"[" * 9999]
    for place in range(len(good) - 1):
        flipped = (bytes([good[place] ^ flip]) for flip in FLIPS)
        spoilt += [good[:place], *(good[:place] + each + good[place + 1 :] for each in flipped)]
    for data in spoilt:
        with pytest.raises(SignatureError):
            signer(found, data)


def test_only_the_key_that_signed_is_trusted(model: Path, key: Path, tmp_path: Path) -> None:
    """Another is refused, though the signature is valid; a slip of the pen is no key at all."""
    sign(model, key)
    public, other = verify(model), generate_key(tmp_path / "other.pem")
    assert trusted(model, [other, public]).id == "small"
    with pytest.raises(SignatureError, match="does not trust its maker"):
        trusted(model, [other])
    for wrong in (public.upper(), public[:-1], f"{public}\n", public[8:], ""):
        with pytest.raises(UsageError, match="not a public key"):
            trusted(model, [public, wrong])


def test_a_signature_is_for_one_id(model: Path, key: Path) -> None:
    """The file is named after it: where it is signed, and wherever it is used."""
    sign(model, key)
    both = (model, model.with_suffix(".sig"))
    renamed = [each.rename(each.with_name(f"other{each.suffix}")) for each in both]
    with pytest.raises(SignatureError, match="signed as 'small' and is named 'other'"):
        verify(renamed[0])
    renamed[1].unlink()
    with pytest.raises(UsageError, match="not named after its model, 'small'"):
        sign(renamed[0], key)


def test_the_id_is_part_of_what_is_signed(model: Path, key: Path, tmp_path: Path) -> None:
    """Another id, key or content beside the same signature is of no model."""
    signed = sign(model, key).read_bytes()
    text, mine = signed.replace(b'"small"', b'"other"'), file.read(model)
    for opened, data, problem in (
        (mine, text, "of another model"),
        (replace(mine, id="other"), text, "not valid for its key"),
        (replace(mine, digest="0" * 64), signed, "of another model"),
    ):
        with pytest.raises(SignatureError, match=problem):
            signer(opened, data)
    public, other = verify(model).encode(), generate_key(tmp_path / "other.pem").encode()
    with pytest.raises(SignatureError, match="not valid for its key"):
        signer(mine, signed.replace(public, other))


def test_an_old_signature_has_to_be_made_again(model: Path, key: Path) -> None:
    """Of a format that did not cover the id; the sentence says what to do."""
    model.with_suffix(".sig").write_text(by_hand(model, key, "1", '"format":1'))
    with pytest.raises(SignatureError, match="format 1, and this version reads 2") as refused:
        verify(model)
    assert refused.value.hint == "have its maker sign the model again"


P = 2**255 - 19
ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
# All points of small order by their y: of order 1, 2, 4 (twice) and 8 (four times).
SMALL = [1, P - 1, 0, ORDER_8, P - ORDER_8]
TWISTS = [y + twice * P for y in SMALL for twice in (0, 1) if y + twice * P < 2**255]


def test_a_key_of_small_order_is_none(model: Path) -> None:
    """In each spelling; anybody could make a signature that fits, which OpenSSL accepts."""
    digest = file.read(model).digest
    for y, odd in product(TWISTS, (0, 1)):
        point = (y | odd << 255).to_bytes(32, "little")
        assert not is_sound(point)
        with pytest.raises(UsageError, match="anybody could sign for it"):
            check_key(f"ed25519:{point.hex()}")
        forged = (
            f'{{"format":2,"id":"small","digest":"{digest}","key":"ed25519:{point.hex()}",'
            f'"signature":"{point.hex()}{"0" * 64}"}}'
        )
        model.with_suffix(".sig").write_text(forged)
        with pytest.raises(SignatureError, match="a key that anybody could sign for"):
            verify(model)


@given(st.integers(0, 2**256 - 1))
@example(P)
@example(2**255 - 1)
@example(2)
def test_what_is_sound_is_a_point_in_its_one_spelling(number: int) -> None:
    """By the root of its square, and by doubling it three times (RFC 8032, 5.1.3 and 5.1.4)."""
    y, d = number & (2**255 - 1), -121665 * pow(121666, -1, P)
    square = (y * y - 1) * pow(d * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    roots = [x for x in (root, root * pow(2, (P - 1) // 4, P)) if (x * x - square) % P == 0]
    small = False
    for x in roots[:1]:
        at = x, y
        for _ in range(3):
            both, wide, high = d * prod(at) ** 2, 2 * prod(at), sum(each * each for each in at)
            at = wide * pow(1 + both, -1, P) % P, high * pow(1 - both, -1, P) % P
        small = at == (0, 1)
    sound = y < P and bool(roots) and not small
    assert is_sound(number.to_bytes(32, "little")) == sound


def test_a_signature_replaces_neither_model_nor_key(model: Path, key: Path) -> None:
    """Whatever they are called; before there is one, the model is not signed."""
    with pytest.raises(SignatureError, match=r"not signed: there is no file .*small\.sig"):
        verify(model)
    there = model.with_suffix(".sig")
    for kind, path in (("model", model), ("key", key)):
        before = path.rename(there).read_bytes()
        with pytest.raises(UsageError, match=f"would replace the {kind}"):
            sign(there if kind == "model" else model, there if kind == "key" else key)
        assert there.rename(path).read_bytes() == before


def test_a_damaged_model_is_neither_signed_nor_verified(model: Path, key: Path) -> None:
    """A signature must not lend its word to what cannot be opened."""
    sign(model, key)
    os.truncate(model, 3000)
    with pytest.raises(ModelError):
        verify(model)
    with pytest.raises(ModelError):
        sign(model, key)


def test_a_file_that_holds_no_usable_key(model: Path, tmp_path: Path) -> None:
    """One sentence, and no signature."""
    key, rest = tmp_path / "key.pem", (Encoding.PEM, PrivateFormat.PKCS8)
    other = rsa.generate_private_key(65537, 2048).private_bytes(*rest, NoEncryption())
    locked = ed25519.Ed25519PrivateKey.generate().private_bytes(
        *rest, BestAvailableEncryption(b"x")
    )
    for content, sentence in (
        (b"", "not a private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "not a private key"),
        (other, "not an Ed25519 key"),
        (locked, "encrypted"),
        (b"x" * 20_000, "the limit is 16384"),
    ):
        key.write_bytes(content)
        with pytest.raises(UsageError, match=sentence):
            sign(model, key)
    assert not model.with_suffix(".sig").exists()
