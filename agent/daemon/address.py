"""How facts are sent: in a header, or in the address of a search, as words after the query."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote_plus

from agent.daemon.header import SEPARATOR
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model
from policy.match import Ruling
from policy.rules import Words, spoken
from policy.services import LONGEST, SLOT

MOST = 300  # characters of all words, as the address has them


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
) -> Sent:
    """Return how values by name leave; those with nothing to send are left out.

    ``texts``: of the header, by attribute and value.
    """
    if ruling.carry == "parameters":
        engine = ruling.engine
        found = {} if engine is None else engine.address(values)
        made = () if engine is None else (each for each in engine.parameters if each.name in found)
        names = {name for each in made for name in each.of}
        return Sent({n: each for n, each in values.items() if n in names}, "", "", found)
    if ruling.carry == "words":
        worded = {each.name: each.words for each in model.attributes}
        sent = {name: value for name, value in values.items() if value in worded[name]}
        return Sent(sent, "", words_after(query, sent, model), {})
    sent = {name: value for name, value in values.items() if value != UNSPECIFIED}
    return Sent(sent, SEPARATOR.join(texts[pair] for pair in sent.items()), "", {})


def words_fit(names: Iterable[str], query: str, ruling: Ruling, model: Model) -> bool:
    """Return whether an address has room for the words of these attributes, whatever their values.

    ``ruling``: has the search, where there is one. With the query itself it has at most LONGEST
    characters.
    """
    address = str(ruling.settings["search"].value) if "search" in ruling.settings else SLOT
    taken = len(address) - len(SLOT) + len(quote_plus(query))
    words = (model.attributes[model.index(name)].words.values() for name in names)
    longest = sum(1 + max(len(quote_plus(word)) for word in each) for each in words if each)
    return not longest or longest <= min(MOST, LONGEST - taken)


def words_after(query: str, values: Mapping[str, str], model: Model) -> str:
    """Return the words for values by name, to be added to a query after a space.

    In the order of the model, whatever the order chosen; none twice, nor one that the query has.
    """
    asked, found = spoken(query), list[str]()
    for each in model.attributes:
        word = each.words.get(values.get(each.name, ""), "")
        if word and not Words.parse(word).matches(spoken(" ".join((asked, *found)))):
            found.append(word)
    return " ".join(found)
