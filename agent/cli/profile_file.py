"""The file that a profile is exported to and imported from: lines of NAME = VALUE, in TOML.

Facts in own words are tables [[own]], as `OwnFact` has them, or a list of texts.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agent.cli.printing import texts
from agent.cli.questions import understood
from agent.decision.values import Fact, FactTerms
from agent.errors import UsageError
from agent.model.model import Concepts, Meaning, Model
from agent.vault.profile import named_values, values_of
from agent.wire.base import Words, from_fields
from agent.wire.state import FactEdit
from policy.read import MOST_PARTS, deep_line

OWN = "own"  # facts in own words
_VALUES = re.compile(r"\s*(\[{1,2}[\"a-z][\w.\"-]*\]{1,2}\s*$|[\w.\"-]+\s*=)")

LARGEST = 1 << 20  # bytes


class OwnFact(FactEdit, frozen=True, kw_only=True, omit_defaults=True):
    """A fact in own words, by these, and what else is to be true of it."""

    id: str = ""
    words: Words


def edit_of(fact: Fact) -> FactEdit:
    """Say of a fact in own words all that may be changed of it."""
    return from_fields(FactEdit, fact.terms or FactTerms(), fact, short=fact.short or "")


def profile_toml(facts: Sequence[Fact], concepts: Concepts) -> str:
    """Facts as a file that says what it is."""
    import tomlkit

    document = tomlkit.document()
    for line in texts("profile_file")["comment"].splitlines():
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    for kind, value in values_of(facts).items():
        document.add(*concepts.label(Meaning(kind, value)))
    own = [from_fields(OwnFact, edit_of(e), id="", words=e.words) for e in facts if e.words]
    if own:
        document.add(OWN, tomlkit.item(msgspec.to_builtins(own)))
    return tomlkit.dumps(document)


def read_profile(text: bytes, models: Sequence[Model]) -> tuple[dict[str, str], list[OwnFact]]:
    """The values in a file, by kind, and the facts in own words.

    A line is FACT = VALUE; below a line [MODEL], the names are that model's. A city, a state or a
    country may have any of its names. Raises UsageError as `understood` and `named_values`, and for
    what is not TOML.
    """
    try:
        written = text.decode("utf-8-sig")
        document = {} if (line := deep_line(written)) else tomllib.loads(written)
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        raise UsageError("not valid TOML", 'write lines such as education = "bachelor"') from None
    if line:
        what = f"a name in line {line} has more than {MOST_PARTS} parts"
        raise UsageError(what, "no name of a fact is that long")
    try:
        some = msgspec.convert(document.pop(OWN, []), list[str | OwnFact])
    except msgspec.ValidationError:
        raise UsageError("own is not a list of facts", f'write {OWN} = ["I have a cat"]') from None
    own = [OwnFact(words=each) if isinstance(each, str) else each for each in some]
    return named_values(understood(_flat(document)), models), own


def is_values(text: bytes) -> bool:
    """Whether a file seems to be one of values, and not a text about somebody."""
    lines = (each.strip() for each in text.decode("utf-8-sig", "replace").splitlines())
    first = next((each for each in lines if each and not each.startswith("#")), "x =")
    return bool(_VALUES.match(first)) or "\N{REPLACEMENT CHARACTER}" in first[:1]


def _flat(document: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield every name, dotted, with its value; UsageError for a value that is not text."""
    tables = [("", document)]
    while tables:
        prefix, table = tables.pop()
        for key, value in table.items():
            name = prefix + key
            if isinstance(value, dict):
                tables.append((f"{name}.", value))
            elif isinstance(value, str):
                yield name, value
            else:
                hint = f'write it in quotes, as in {name} = "yes"'
                raise UsageError(f"the value of {name} is not text", hint)
