"""The file that a profile is exported to and imported from: lines of NAME = VALUE, in TOML."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.cli.questions import understood
from agent.decision.values import Fact
from agent.errors import UsageError
from agent.model.model import Concepts, Meaning, Model
from agent.vault.profile import named_values, values_of

LARGEST = 1 << 20  # bytes
COMMENT = """\
Your profile, written by `reticent profile export`. It is plain text: whoever can read this file
knows what it says. Delete it once it has served its purpose.
`reticent profile import` reads it."""


def profile_toml(facts: Iterable[Fact], concepts: Concepts) -> str:
    """Facts as a file that says what it is: lines of NAME = VALUE."""
    import tomlkit

    document = tomlkit.document()
    for line in COMMENT.splitlines():
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    for kind, value in values_of(facts).items():
        document.add(*concepts.label(Meaning(kind, value)))
    return tomlkit.dumps(document)


def read_profile(text: bytes, models: Sequence[Model]) -> dict[str, str]:
    """The values in a file, by kind.

    A line is NAME = VALUE; below a line [MODEL], the names are that model's. A city, a state or a
    country may have any of its names. Raises UsageError as `understood` and `named_values`, and for
    what is not TOML.
    """
    try:
        document = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        hint = 'write lines such as education = "bachelor"'
        raise UsageError("not valid TOML", hint) from None
    return named_values(understood(_flat(document)), models)


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
