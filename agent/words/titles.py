"""Words in place of codes: of outcomes, attributes and values, and the phrases of a line."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import floor
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agent.decision.values import Reading
from agent.wire.policy import AttributeStatus

Titles = Mapping[str, str]  # of attributes, by name
NONE: Titles = MappingProxyType({})
UNSPECIFIED = "unspecified"
UNANSWERED = "the last request could not be answered: "  # how a note of the status begins
CONCERNS = {"so2017": "Do you write software, in a job or as a hobby?"}  # by the id of a model
_RANGE = re.compile(r"(?P<under>lt_)?(?P<low>\d+)(?:_(?P<high>\d+|up))?")
_ONE = {"years": "year", "people": "person", "hours": "hour", "days": "day", "children": "child"}
_UNIT = re.compile(r"(?:number of )?(years|people|hours|days|children)\b")
LONGEST = 80  # characters of a title, a value or a phrase
LONGEST_OWN = 300  # of a fact in the user's own words
IN_WORDS = "a fact in your own words"  # whose words are gone, or not for this place
SEPARATOR = ", "
_FURTHER = re.compile(r" \((?:second|third)\)$")  # of a title, where a person holds several
REST = "else"  # the key of what is said for a value that has no phrase of its own
# Markup of prompts and pages, and letters that nobody sees, in which text can be hidden.
_STEERING = re.compile(
    "[<>\\[\\]{}`|\\\\\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"
    "\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)

BY_RULE = frozenset({"always", "waits for you", "never", "guarded"})  # reasons


@cache
def _table(name: str) -> Any:  # noqa: ANN401  (TOML)
    """Read a file beside this one: phrases by code, or titles or phrases of values by attribute."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


class Phrases(Mapping[str, str]):
    """A table of codes.toml; the file is read when the first phrase is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, code: str) -> str:
        return str(_table("codes")[self._name][code])

    def __iter__(self) -> Iterator[str]:
        return iter(_table("codes")[self._name])

    def __len__(self) -> int:
        return len(_table("codes")[self._name])


WHY_NOTHING, WAYS_ON, NOT_TRIED = map(Phrases, ("why_nothing", "ways_on", "not_tried"))
REASONS, SHARED = map(Phrases, ("reasons", "shared"))
RULINGS, RULED, ONCE_FOR_ALL = map(Phrases, ("rulings", "ruled", "once_for_all"))
LIMITS, HOLDING = map(Phrases, ("limits", "holding"))


def why(reason: str, rule: str | None = None, limit: str | None = None, fewest: int = 0) -> str:
    """Say why an attribute is sent or not, with the limit or the rule behind it.

    ``fewest``: how many people at least must look alike.
    """
    text = REASONS.get(reason) or WHY_NOTHING.get(reason, reason)
    if limit:
        return f"would break {the_limit(limit, fewest)}"
    return f"{text} (rule: {rule})" if rule and reason in BY_RULE else text


def the_limit(limit: str, fewest: int = 0) -> str:
    """Name a limit, and say what breaking it means; ``fewest``: as of `why`."""
    if fewest and limit in ("k", "people"):
        return f"the limit {limit}: fewer than {fewest:,} people would look like you"
    return f"the limit {limit}: {LIMITS[limit]}" if limit in LIMITS else limit


def limits_in_force(settings: Mapping[str, Any], *, doubled: bool = False) -> str:
    """Say which limits these settings are, by key, for recipients without rules of their own.

    ``doubled``: as of `PolicyStatus`.
    """
    by = {"people": 2, "k": 2, "risk": 0.5} if doubled else {}
    some = (t.format(settings[e] * by.get(e, 1)) for e, t in HOLDING.items() if e in settings)
    return "; ".join(some) or "none, so a recipient may learn all that helps, and recognise you"


def write_policy(path: object) -> str:
    """Say what to do where there is no policy; ``path``: of the file, or what stands for it."""
    return f'write `preset = "balanced"` into {path}'


def value_title(value: str, attribute: str = "") -> str:
    """Write a value in words; ``attribute``: the title of what it is a value of, for its unit."""
    for each in (titles_of_values(attribute), titles_of_values("any")):
        if value in each:
            return each[value]
    range_ = _RANGE.fullmatch(value)
    if not range_:
        return value.replace("_", " ")
    ends = (range_["low"], range_["high"] or "")
    low, high = (f"{int(end):,}" if end.isdecimal() else end for end in ends)
    text = f"less than {low}" if range_["under"] else f"{low} to {high}" if high else low
    text = f"{low} or more" if high == "up" else text
    unit = _UNIT.match(attribute)
    text = text.replace("less", "fewer") if unit and unit[1] not in ("years", "hours") else text
    if unit and text == "1":
        return f"1 {_ONE[unit[1]]}"
    return f"{text} {unit[1]}" if unit else text


def titles_of_values(attribute: str) -> Titles:
    """The titles of the values that an attribute of a title has, where they have any."""
    return dict(_table("values").get(attribute, NONE))


def concerns(model: str) -> str:
    """Ask whether a model's facts are of any concern to the user."""
    return CONCERNS.get(model, f"Do you have facts for the model {model}?")


def fact(title: str, value: str) -> str:
    """Write an attribute with its value: interested in .NET: no."""
    return f"{title}: {value_title(value, title)}"


def facts(values: Mapping[str, str], titles: Titles = NONE) -> list[str]:
    """Write values by the titles of their attributes, where those are known."""
    return [fact(titles.get(name, name), value) for name, value in values.items()]


def quoted(query: str) -> str:
    """Quote a known query of a model as it is read."""
    return repr(query.replace("_", " "))


def read_as(reading: Reading | None) -> str:
    """Say what a text was read as, how surely where there is a doubt, or that it was not."""
    if reading is None:
        return "nothing that the models know"
    sure = floor(100 * reading.probability)  # never rounded up: none that is estimated is certain
    doubt = "" if reading.probability >= 1 else f" ({sure} % sure)"
    taught = ", as you said" if reading.taught else ""
    taught += " of a similar text" if taught and doubt else ""
    return f"{quoted(reading.title)}{doubt}{taught}"


def titled(names: Iterable[str], titles: Titles = NONE) -> list[str]:
    """List the titles of attributes; the name where a title is not known."""
    # Behind the name of a kind, places and ids say which of its facts in own words is meant.
    kinds = [(e, re.sub(r"_own(_\d+)?$|#\w*$", "", e)) for e in names]
    return [titles.get(e) or titles.get(kind, e if kind else IN_WORDS) for e, kind in kinds]


def titles_of(attributes: Sequence[AttributeStatus]) -> Titles:
    """The titles of facts by all names that models have for them, and by MODEL.NAME."""
    others = [(n, e.title) for e in attributes for n in (*e.also, f"{e.model}.{e.name}")]
    return dict([*others, *((each.name, each.title) for each in attributes)])


def titles_in(model: str, titles: Titles) -> Titles:
    """Key titles by the names that a model has: two models may call different facts alike."""
    start = f"{model}."
    own = {name[len(start) :]: title for name, title in titles.items() if name.startswith(start)}
    return {**titles, **own}


def in_order(values: Iterable[str]) -> list[str]:
    """Sort values from low to high, what is not specified first and what is other last."""
    every = [*values]
    named = [each for each in every if each != UNSPECIFIED and not _other(each)]
    scales: list[list[str]] = _table("values")["scales"]
    scale = next((each for each in scales if {*named} <= {*each}), [])
    ranges = [_RANGE.fullmatch(each) for each in named]
    if scale:
        named.sort(key=scale.index)
    elif all(ranges):
        named.sort(key=_low)
    return [*(each for each in every if each == UNSPECIFIED), *named, *filter(_other, every)]


def _low(value: str) -> float:
    range_ = _RANGE.match(value)
    return -1.0 if range_ is None or range_["under"] else float(range_["low"])


def _other(value: str) -> bool:
    return value in ("other", "multiple_other", "other_none")


def plain(text: str, most: int = LONGEST) -> str:
    """Put a text of a model's maker into one short line: printable, without markup.

    Titles and values come from model files, and a model may be anybody's: to an assistant they are
    text that somebody else wrote. Each is cut, and nothing in it steers who reads it.
    """
    visible = _STEERING.sub(" ", text)
    line = " ".join("".join(each if each.isprintable() else " " for each in visible).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def stated(value: str, title: str, *, own: bool = False) -> str:
    """Write a value, or the user's own words, as one short plain line; ``title``: as `phrase`."""
    return plain(value, LONGEST_OWN) if own else plain(value_title(value, title))


def in_words(words: Mapping[str, str]) -> Titles:
    """Quote the user's own words as the titles of their facts, by name."""
    return {name: f"“{stated(text, '', own=True)}”" for name, text in words.items()}


def phrase(title: str, value: str, *, own: bool = False) -> str:
    """Say what a value says of a person, as a phrase that stands alone: 35 to 44 years old.

    ``title``: of the attribute. One that is not known here is named beside its value. ``own``:
    these are the user's own words, which stay as they are.
    """
    if own:
        return stated(value, title, own=own).rstrip(".")
    phrases: Mapping[str, str] = _table("phrases").get(_FURTHER.sub("", title), NONE)
    text = phrases.get(value, phrases.get(REST))
    if text is None:
        return plain(fact(title, value))
    return plain(text.replace("{value}", value_title(value, title)).replace(SEPARATOR, "; "))


def about(phrases: Iterable[str]) -> str:
    """Make the line of these phrases, each once; empty where there are none.

    About me: 35 to 44 years old, children under 18 at home. Where one of them has a comma, as the
    user's own words may, semicolons stand between them.
    """
    each = [*dict.fromkeys(phrases)]
    line = ("; " if any(SEPARATOR in one for one in each) else SEPARATOR).join(each)
    return line and f"About me: {line}"
