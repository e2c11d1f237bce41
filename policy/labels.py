"""The name of a host as the DNS has it, from any script (UTS 46, nontransitional, as browsers).

Not by the codec "idna" (IDNA 2003), to which straße.example is strasse.example, another host.
"""

import re
import unicodedata

from agent.errors import UsageError

NAME_LENGTH, LABEL_LENGTH = 253, 63  # RFC 1035, 2.3.4; the name as text, without its final dot
SHOWN = 80  # characters of a wrong host that an error repeats

_PREFIX = "xn--"
_ALLOWED = re.compile(r"[a-z0-9_-]+")
_KEPT = frozenset("ßς\u200c\u200d")  # the deviations of UTS 46, which IDNA 2003 changes
_IGNORED = re.compile("[\u00ad\u200b\u2060\ufe00-\ufe0f\ufeff]")
_REFUSED = re.compile(
    "(?<![^\x00-\x7f])[\u200c\u200d]"  # a joiner where nothing joins
    "|\ufffd"  # what was once another character
    "|[^a-z0-9_\x80-\U0010ffff-]"
)


def refusal(text: str, why: str) -> UsageError:
    """Return the error for a `text` that is no host, and why."""
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    hint = "write a host such as books.example, 192.0.2.7 or 2001:db8::1"
    return UsageError(f"{shown!r} is no host: {why}", hint)


def ascii_name(name: str) -> str:
    """Return a name in small letters and punycode, without a final dot. Idempotent.

    UsageError where a label or the name is empty or too long, has a character that no host has,
    or is not the punycode of anything. Source: UTS 46; RFC 3492; RFC 1035, 2.3.4.
    """
    own = mapped(name).removesuffix(".")
    if not own:
        raise refusal(name, "it is empty")
    if len(own) > NAME_LENGTH:  # punycode is longer still
        raise refusal(name, f"it has more than {NAME_LENGTH} characters")
    ascii_ = ".".join(_ascii_label(label, name) for label in own.split("."))
    if len(ascii_) > NAME_LENGTH:
        raise refusal(name, f"it has more than {NAME_LENGTH} characters in punycode")
    return ascii_


def mapped(name: str) -> str:
    """Return a name with case folded, in NFKC and with plain dots, all else as it is."""
    if name.isascii():
        return name.lower()
    composed = unicodedata.normalize("NFKC", _IGNORED.sub("", name))
    folded = "".join(map(_folded, composed))  # which can leave what NFKC would compose
    return unicodedata.normalize("NFKC", folded).replace("\u3002", ".")


def _folded(character: str) -> str:
    if character in _KEPT:
        return character
    return "ß" if character == "ẞ" else character.casefold()


def _ascii_label(label: str, name: str) -> str:
    if not label:
        raise refusal(name, "it has an empty label")
    ascii_ = label if label.isascii() else _encoded(label, name)
    if len(ascii_) > LABEL_LENGTH:
        raise refusal(name, f"a label has more than {LABEL_LENGTH} characters")
    if not _ALLOWED.fullmatch(ascii_):
        raise refusal(name, "it has a character that no host has")
    if label.isascii() and label.startswith(_PREFIX) and not _is_punycode(label, name):
        raise refusal(name, f"{label!r} is not the punycode of anything")
    return ascii_


def _encoded(label: str, name: str) -> str:
    """Return the punycode of a label in its own script."""
    if len(label) > LABEL_LENGTH:  # encoding takes the square of the length
        raise refusal(name, f"a label has more than {LABEL_LENGTH} characters")
    if label.startswith(_PREFIX) or not _is_sound(label):
        raise refusal(name, "it has a character that no host has")
    return _PREFIX + label.encode("punycode").decode("ascii")


def _is_punycode(label: str, name: str) -> bool:
    """Say whether a label is what its own decoding is encoded to."""
    try:
        own = label.removeprefix(_PREFIX).encode("ascii").decode("punycode")
    except ValueError:
        return False
    return not own.isascii() and _is_sound(own) and _encoded(own, name) == label


def _is_sound(own: str) -> bool:
    """Say whether a label in its own script is mapped, and has nothing invisible in it."""
    if _REFUSED.search(own) or unicodedata.category(own[0])[0] == "M" or mapped(own) != own:
        return False
    categories = {unicodedata.category(each) for each in own if each not in _KEPT}
    return categories.isdisjoint({"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"})
