"""How facts are sent, in a header or as words of a search, and what fits: known beforehand.

Shared-Attributes is a Dictionary of Structured Fields (RFC 9651):

    Shared-Attributes: region="west_europe", int_python

A value of "not specified" is left out. Only the daemon imports this.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote_plus

import http_sf
import msgspec

from agent.decision.context import Context
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Meaning, Model
from agent.vault.profile import SHORT
from policy.match import Ruling
from policy.rules import Words, spoken
from policy.services import LONGEST, SLOT

LARGEST = 1024  # bytes of the header's value
YES, NO = "yes", "no"
SEPARATOR = ", "  # of members (RFC 9651, section 4.1.2)
Attributes = Mapping[str, Collection[str]]


def members_of(attributes: Attributes) -> dict[tuple[str, str], str]:
    """Write the header of each value of each attribute alone; to be joined by SEPARATOR.

    Attributes with exactly the values no and yes travel as Booleans. Names must match
    ``[a-z][a-z0-9_]*``.
    """
    texts: dict[tuple[str, str], str] = {}
    for name, values in attributes.items():
        yes_no = {*values} == {YES, NO}
        for value in values:  # as RFC 9651 has it in sections 3.3.3, 3.3.6 and 3.3.8
            plain = value.isascii() and value.isprintable()
            text = value if plain else http_sf.DisplayString(value)
            texts[name, value] = http_sf.ser({name: value == YES if yes_no else text})
    return texts


def most_bytes(members: Iterable[int]) -> int:
    """Count the most bytes of a header, given those of its longest members, 0 for absent."""
    return max(0, sum(each + len(SEPARATOR) for each in members if each) - len(SEPARATOR))


def _size(value: object) -> int:
    return len(msgspec.json.encode(value))


class Members(NamedTuple):
    """How a model's attributes travel: the most bytes of each, and each value's own header.

    ``longest``: 0 for an attribute without values to send, which is never in the header, and for
    places for facts in own words;
    ``largest``, ``means``: the value of each that takes the most room in an entry of the ledger,
    and the meaning that does, of those of the person.
    """

    longest: dict[str, int]
    texts: dict[tuple[str, str], str]
    largest: dict[str, str]
    means: dict[str, Meaning]

    @classmethod
    def of(cls, model: Model) -> "Members":
        """Work out how a model's attributes travel."""
        values = {
            each.name: [e for e in each.values if e != UNSPECIFIED and at not in model.own]
            for at, each in enumerate(model.attributes)
        }
        largest = {each.name: max(each.values, key=_size) for each in model.attributes}
        means = {
            each.name: max((model.meanings[each.name, value] for value in each.values), key=_size)
            for at, each in enumerate(model.attributes[: model.persons])
            if at not in model.own
        }
        texts = members_of(values)
        longest = {
            name: max((len(texts[name, each]) for each in own), default=0)
            for name, own in values.items()
        }
        return cls(longest, texts, largest, means)


MOST = 300  # characters of all words, as the address has them
MOST_SHORT, MOST_SENTENCES = 4, 8  # facts in own words in a header, or an address; new in a message
MOST_OWN = 3 * SHORT + 60  # bytes of one with its name


class Sent(NamedTuple):
    """What is attached, as an `Answer` has it; ``attributes``: the values that are in it."""

    attributes: dict[str, str]
    header: str
    words: str
    parameters: dict[str, str]


def sent_as(
    ruling: Ruling,
    values: Mapping[str, str],
    query: str,
    model: Model,
    texts: Mapping[tuple[str, str], str],
    own: Mapping[str, str],
    *,
    sentences: bool,
) -> Sent:
    """Write values by name as they leave; those with nothing to send are left out.

    ``texts``: of the header, by attribute and value; ``own``: the words of facts in own words, by
    name: as ``sentences`` they are attached alone, else the short forms stand in header or address.
    """
    if ruling.carry == "parameters":
        engine = ruling.engine
        if engine is None:
            return Sent({}, "", "", {})
        address = engine.address(values)
        names = {name for each in engine.parameters if each.name in address for name in each.of}
        return Sent({n: each for n, each in values.items() if n in names}, "", "", address)
    if ruling.carry == "words":
        worded = {each.name: each.words for each in model.attributes}
        sent = {name: value for name, value in values.items() if value in worded[name]}
        words = words_after(query, sent if sentences else {**sent, **own}, model)
        return Sent({**sent, **own}, "", words, {})
    sent = {name: value for name, value in values.items() if (name, value) in texts}
    members = {name: texts[name, value] for name, value in sent.items()}
    for name, short in own.items() if not sentences else ():
        kind = model.attributes[model.own[model.index(name)]].name
        key = name if kind in members else kind  # no key stands twice
        [members[key]] = members_of({key: [short]}).values()
    return Sent({**sent, **own}, SEPARATOR.join(members.values()), "", {})


def fits(
    names: Collection[str], context: Context, members: Members, ruling: Ruling, *, sentences: bool
) -> bool:
    """Say whether attributes have room in a request, whatever their values are.

    With the words of a search, an address has at most LONGEST characters. ``sentences``: facts in
    own words go as they are, not by their short forms.
    """
    model, query = context.model, context.request.query
    new = {*names} - context.knowledge.names if sentences else names
    own = sum(model.index(each) in model.own for each in new)
    if own > (MOST_SENTENCES if sentences else MOST_SHORT):
        return False
    if ruling.carry != "words":
        longest = most_bytes(members.longest[name] for name in names)
        return longest + (not sentences) * own * MOST_OWN <= LARGEST
    # The ruling has the search, where there is one.
    address = str(ruling.settings["search"].value) if "search" in ruling.settings else SLOT
    taken = len(address) - len(SLOT) + len(quote_plus(query))
    places = [model.index(name) for name in names]
    words = (model.attributes[each].words.values() for each in places)
    longest = sum(1 + max(len(quote_plus(word)) for word in each) for each in words if each)
    longest += (1 + 3 * SHORT) * sum(each in model.own for each in places)
    return not longest or longest <= min(MOST, LONGEST - taken)


def words_after(query: str, values: Mapping[str, str], model: Model) -> str:
    """Choose the words for values by name, to be added to a query after a space.

    In the order of the model, whatever the order chosen; none twice, nor one that the query has.
    """
    query_words, words = spoken(query), list[str]()
    for at, each in enumerate(model.attributes):
        value = values.get(each.name, "")
        word = value if at in model.own else each.words.get(value, "")
        if word and not Words.parse(word).matches(spoken(" ".join((query_words, *words)))):
            words.append(word)
    return " ".join(words)
