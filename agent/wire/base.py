"""What all messages have in common: strict JSON, and limits on what one may hold.

Every object refuses unknown keys. Times are RFC 3339 with a zone. Values of the profile stand
in `Answer`, `Draft`, `Told`, `Entry`, `Recipient`, `ProfileFacts`, `ProfileChange` and the messages
of facts in own words alone, and in the `RelayAnswer` that has one in it; their `repr` masks them.
"""

from typing import Annotated, Any, ClassVar, TypeVar

from msgspec import Meta, Struct

LONGEST_QUERY = 4096  # characters
LONGEST_HOST = 2048
LONGEST_NAME = 200
LONGEST_SEARCH = 2000
LONGEST_SECRET = 1024
LONGEST_FACT = 300  # in own words
MOST_NAMES = 1024
MOST_TEXTS = 256  # of one conversation
MOST_BYTES = 64 * 1024  # of a request's body
MOST_DAYS = 3650  # that a verdict lasts
MOST_ENTRIES = 10_000  # of the ledger in one answer
LATEST_ENTRIES = 100  # if no limit is given
JSON_TYPE = "application/json"
ASKER = "Reticent-Asker"  # a header of the query socket, who asks: user, page, assistant, proxy
UNATTENDED = "Reticent-Unattended"  # a header: the call does not keep the vault from locking

Query = Annotated[str, Meta(min_length=1, max_length=LONGEST_QUERY)]
Host = Annotated[str, Meta(min_length=1, max_length=LONGEST_HOST)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Names = Annotated[list[Name], Meta(max_length=MOST_NAMES)]
Texts = Annotated[list[str], Meta(max_length=MOST_TEXTS)]
Words = Annotated[str, Meta(min_length=1, max_length=LONGEST_FACT)]
Search = Annotated[str, Meta(min_length=1, max_length=LONGEST_SEARCH)]
Values = Annotated[dict[Name, Name], Meta(max_length=MOST_NAMES)]
Made = TypeVar("Made", bound=Struct)


class Message(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all messages are: immutable, and strict about their keys."""


class Private(Message, frozen=True, kw_only=True):
    """A message with something private: its `repr` shows the fields ``shown``, and no other."""

    shown: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name)!r}" for name in self.shown]
        return f"{type(self).__name__}({', '.join([*fields, '***'])})"


class Fault(Message, frozen=True, kw_only=True):
    """What went wrong, in one sentence, and how to mend it; ``code``: the kind, for programs."""

    code: str
    what: str
    hint: str
    where: str | None = None


class Done(Message, frozen=True, kw_only=True):
    """It was done."""

    done: bool = True


class BackupContents(Done, frozen=True, kw_only=True):
    """What a backup holds beside the vault.

    ``policy``: whether it has one; ``models``: that were added, by name; ``connected``: programs by
    the names that `reticent connect` has, each with the recipient, "" where it has none.
    """

    policy: bool
    models: list[str]
    connected: dict[str, str]


class Undone(Private, frozen=True, kw_only=True):
    """What was undone, in a sentence; data already sent cannot be recalled."""

    what: str


class RecipientName(Message, frozen=True, kw_only=True):
    """A recipient, or a group of them, to block, to unblock, or to mark as having forgotten."""

    recipient: Host


def from_fields(kind: type[Made], /, *sources: object, **own: Any) -> Made:  # noqa: ANN401  (of the fields)
    """Make a message with these fields, and with those that a source calls by the same name.

    ``sources``: values of other rooms; the first of them that has a field counts.
    """
    names = kind.__struct_fields__
    for source in sources:
        own = {name: getattr(source, name) for name in names if hasattr(source, name)} | own
    return kind(**own)
