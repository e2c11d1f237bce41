"""What can go wrong, as one tree.

    ReticentError
    ├── UsageError             an attribute, value, option or file that does not exist
    │   └── UnsafeError        a file or folder that another user could have changed
    ├── ModelError             a model file that must not be used
    │   ├── DamagedModelError  truncated, altered, or impossible
    │   ├── VersionError       in a format that this version does not read
    │   └── SignatureError     not signed, or not with the expected key
    ├── BuildError             tables from which no model can be made
    ├── PolicyError            a policy that must not be used, with all that is wrong with it
    ├── VaultError             a vault that must not or cannot be used
    │   ├── DamagedVaultError  altered, cut off, or of parts that do not belong together
    │   ├── VaultVersionError  in a format that this version does not read
    │   ├── RolledBackError    older than this machine has seen it
    │   ├── ReplacedVaultError replaced, moved, removed or overwritten while it was open
    │   ├── WrongSecretError   no key slot opens with this secret
    │   └── BusyVaultError     open in another process
    ├── DaemonError            the daemon did not answer as it should
    │   ├── AbsentError        it is not running
    │   ├── LockedError        the vault is locked, and this needs what is in it
    │   └── PinentryError      the program with the dialogs cannot be used
    └── RefusedError           a request that the daemon does not look into

An error says what is wrong, where (if anywhere) and how to fix it, each in lower
case and without a full stop. Only the command line shows it, and shows it once.
"""

import json
import re
import shlex
import sys
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

NAME = "reticent"  # of the distribution
FEW = 12  # names that a hint lists
LISTS = {  # what lists the names of a kind
    **dict.fromkeys(("fact", "topic"), "`reticent model info` lists all that models know"),
    "recipient or fact": "`reticent model info` lists facts, `requests recipients` others",
    **dict.fromkeys(("key", "setting"), "policy/FORMAT.md lists them all"),
    "command": "`reticent --help` lists all commands",
}
LOCKED = "the vault is locked"
UNLOCK = "unlock it with `reticent unlock`"
DISK_FULL = "the disk is full", "free some space: nothing of this was written"


class ReticentError(Exception):
    """The root of the tree: `what` went wrong, `where`, and a `hint` how to fix it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, hint: str, where: str | None = None) -> None:
        super().__init__(what, hint, where)
        self.what, self.hint = what, hint
        self.where = where

    def __str__(self) -> str:
        return self.what if self.where is None else f"{self.where}: {self.what}"


class UsageError(ReticentError):
    """The user named something that does not exist or does not fit."""

    exit_code = 2

    @classmethod
    def unknown(cls, kind: str, name: str, names: Iterable[str]) -> Self:
        """Return the error for a `name` that is not among `names`, all of one `kind`.

        The hint is the nearest of these, or else all if they are few, or where all are listed.
        """
        valid = sorted(names)
        near, some = nearest(str(name), valid), ", ".join(valid[:FEW]) or "none"
        hint = f"known: {some}" if len(valid) <= FEW else LISTS.get(kind, f"known: {some}, ...")
        return cls(f"unknown {kind} {name!r}", hint if near is None else f"did you mean {near!r}?")


class UnsafeError(UsageError):
    """Another user could have changed a file or folder, or put another in its place."""


class ModelError(ReticentError):
    """A model file must not be used."""


class DamagedModelError(ModelError):
    """A model file is truncated, altered, or impossible."""


class VersionError(ModelError):
    """A model file is in a format that this version does not read."""


class SignatureError(ModelError):
    """A model file is not signed, or not with the expected key."""


class BuildError(ReticentError):
    """No model can be made from the tables given."""


class VaultError(ReticentError):
    """A vault must not or cannot be used."""


class DamagedVaultError(VaultError):
    """A vault was altered or cut off, or its parts do not belong together."""


class VaultVersionError(VaultError):
    """A vault is in a format that this version does not read."""


class RolledBackError(VaultError):
    """A vault is older than this machine has seen it."""


class ReplacedVaultError(VaultError):
    """The file of an open vault, or its log, is another now, or somebody else has written to it."""


class WrongSecretError(VaultError):
    """No key slot opens with this secret."""


class BusyVaultError(VaultError):
    """A vault is open in another process."""


class DaemonError(ReticentError):
    """The daemon does not run, or did not answer as it should."""


class AbsentError(DaemonError):
    """The daemon does not run."""

    exit_code = 4


class LockedError(DaemonError):
    """The vault is locked, and this needs what is in it."""

    exit_code = 3

    def __init__(self, what: str = LOCKED, hint: str = UNLOCK, where: str | None = None) -> None:
        super().__init__(what, hint, where)


class RefusedError(ReticentError):
    """A request that is refused before anybody looks at what it asks for.

    ``code``: its kind, of agent/wire/routes.py; ``status``: of HTTP, where it is not that kind's.
    To whoever asked it is the error of that kind.
    """

    def __init__(self, code: str, what: str, hint: str, status: int | None = None) -> None:
        super().__init__(what, hint)
        self.code, self.status = code, status


class Problem(NamedTuple):
    """One thing that is wrong with a policy.

    ``line``: from 1; ``key``: dotted, empty where the file as a whole is meant.
    """

    line: int
    key: str
    what: str
    hint: str


class PolicyError(ReticentError):
    """A policy must not be used; ``problems``: all that is wrong, in the order of the file."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source, self.problems = source, tuple(sorted(problems))
        first, more = self.problems[0], len(self.problems) - 1
        what = f"{first.key}: {first.what}" if first.key else first.what
        what += f" (and {more} more)" if more else ""
        super().__init__(what, first.hint, f"{source}:{first.line}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that `name` was probably meant to be, whatever its case."""
    folded = {candidate.casefold(): candidate for candidate in names}
    begun = sorted(each for each in folded if name and each.startswith(name.casefold()))
    matches = begun or get_close_matches(name.casefold(), folded, n=1)
    return folded[matches[0]] if matches else None


_AT = re.compile(r" - at `([^`]*)`| - at `key` in `([^`]*)`")
_MEMBER = re.compile(r"[A-Za-z_]\w*")
_LENGTHS = {"str": "characters", "array": "entries", "object": "entries"}
_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_KIND = re.compile(f"^Expected `({'|'.join(_KINDS)})`")
_MISFITS = (  # of msgspec's messages, and what each means of `{0}`
    (re.compile(r"missing required field `(\w+)`"), "{1} is missing"),
    (re.compile("unknown field `([a-z][a-z_]{0,39})`"), "{0} has an unknown member, {1}"),
    (re.compile("unknown field"), "{0} has an unknown member"),
    (re.compile(r"of length >= 1\b"), "{0} is empty"),
    (re.compile(r"`(\w+)` of length >= (\d+)"), "{0} has fewer than {2} {1}"),
    (re.compile(r"`(\w+)` of length <= (\d+)"), "{0} has over {2} {1}"),
    (re.compile(r"`(?:int|float)` >=? (\S+)"), "{0} is below {1}"),
    (re.compile(r"`(?:int|float)` <=? (\S+)"), "{0} is over {1}"),
    (re.compile("RFC3339|timezone"), "{0} is not a time with a zone"),
    (_KIND, "{0} is not {1}"),
    (re.compile("^Invalid (?:enum )?value"), "{0} is not one of the allowed values"),
    (re.compile("^Expected"), "{0} has the wrong type"),
)


def misfit(error: Exception, whole: str = "it") -> str:
    """Return in our own words what msgspec found wrong with what it read.

    ``whole``: what was read. The sentence names our own types and bounds only, and nothing of what
    was read but the name of a member that we do not know, where it looks like one of ours; a
    message of our own, which begins in lower case, stays.
    """
    text = str(error)
    message, at = _AT.sub("", text), _AT.search(text)
    if isinstance(error, (UnicodeError, RecursionError)):
        return f"{whole} is not valid JSON"
    if message[:1].islower():
        return message
    members = _MEMBER.findall(at[1] or at[2] or "") if at else []
    name = members[-1] if members else whole
    if at and at[2] is not None:
        name = f"a name in {name}"
    elif at and at[1].endswith("]"):
        name = f"an entry of {name}"
    for form, sentence in _MISFITS:
        if match := form.search(message):
            words = _KINDS if form is _KIND else _LENGTHS
            parts = (words.get(each, each) for each in match.groups())
            return sentence.format(name, *(f"{int(e):,}" if e.isdecimal() else e for e in parts))
    broken = message.startswith(("JSON", "Input"))
    return f"{whole} {'is not valid JSON' if broken else 'does not fit the format'}"


def reason(error: OSError) -> str:
    """Return what the system says is wrong, as one sentence."""
    return (error.strerror or type(error).__name__).lower()


def normalise(text: str) -> str:
    """The form in which texts are compared: NFKC, case folded, white space collapsed.

    Control characters count as white space; invisible format characters (category Cf: zero
    width space and joiners, soft hyphen, direction marks) are dropped. Idempotent.
    Source: UAX 15; Unicode 3.13, caseless matching.
    """
    if text.isascii():
        folded = text.lower()
    else:
        visible = "".join(each for each in text if unicodedata.category(each) != "Cf")
        # Folding can leave what NFKC would compose, and NFKC what folding would change.
        for _ in range(2):
            visible = unicodedata.normalize("NFKC", visible).casefold()
        folded = unicodedata.normalize("NFKC", visible)
    if not folded.isprintable():
        controls = (" " if unicodedata.category(each) == "Cc" else each for each in folded)
        folded = "".join(controls)
    return " ".join(folded.split())


def installing(extra: str) -> list[str]:
    """Write the command that installs an extra, the way that this program was installed.

    Each way leaves its mark beside the interpreter (PEP 610 has where the program came from).
    """
    from importlib.metadata import distribution  # slow to import, and hardly ever of use

    own = distribution(NAME)
    named = (each.replace('"', "'").partition(";") for each in own.requires or ())
    needed = [what.strip() for what, _, when in named if f"extra == '{extra}'" in when]
    if Path(sys.prefix, "pipx_metadata.json").exists():
        return ["pipx", "inject", NAME, *needed]
    if Path(sys.prefix, "uv-receipt.toml").exists():
        source = json.loads(own.read_text("direct_url.json") or "{}").get("url", "./WHEEL")
        return ["uv", "tool", "install", f"{NAME}[{extra}] @ {source}"]
    return [sys.executable, "-m", "pip", "install", *needed]


def install_hint(extra: str) -> str:
    """Return how to install an extra here."""
    return f"run {shlex.join(installing(extra))}"
