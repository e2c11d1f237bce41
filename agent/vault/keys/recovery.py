"""The recovery code: 20 random bytes to write on paper (FORMAT.md, "Slots")."""

from hashlib import sha256

from agent.errors import WrongSecretError

CODE_BYTES = 20

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)} | {"O": 0, "I": 1, "L": 1}
_LENGTH, _GROUP, _CHECK_BITS = 36, 6, 20


def written(code: bytes) -> str:
    """Return the bytes of a code as text in groups, with its checksum."""
    number = (int.from_bytes(code, "big") << _CHECK_BITS) | _checksum(code)
    digits = "".join(_DIGITS[(number >> 5 * place) & 31] for place in reversed(range(_LENGTH)))
    return "-".join(digits[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def parsed(text: str) -> bytes:
    """Return the bytes of a code as somebody typed it; WrongSecretError if it cannot be one."""
    digits = [digit for digit in text.upper() if digit != "-" and not digit.isspace()]
    if unknown := sorted({digit for digit in digits if digit not in _VALUES}):
        what = f"a recovery code has no {unknown[0]!r}"
        raise WrongSecretError(what, "copy it from the paper again; U is never in it")
    if len(digits) != _LENGTH:
        what = f"this recovery code has {len(digits)} digits instead of {_LENGTH}"
        raise WrongSecretError(what, "copy it from the paper again, six groups of six")
    number = 0
    for digit in digits:
        number = number << 5 | _VALUES[digit]
    code = (number >> _CHECK_BITS).to_bytes(CODE_BYTES, "big")
    if number & (1 << _CHECK_BITS) - 1 != _checksum(code):
        what = "this recovery code is mistyped: its last four digits do not fit the others"
        raise WrongSecretError(what, "compare it with the paper, group by group")
    return code


def _checksum(code: bytes) -> int:
    """Return the bits that a mistake changes."""
    return int.from_bytes(sha256(b"reticent recovery code 1" + code).digest()[:3], "big") >> 4
