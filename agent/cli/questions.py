"""Questions about the user's facts, the most useful first; `init` and `profile` ask them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import click

from agent.cli.printing import facts, printable, say
from agent.cli.prompts import chosen, line
from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.model.model import Concepts, Kind, Model
from agent.words.titles import NONE, UNSPECIFIED, concerns, in_order, value_title

REST, BACK = "-", "<"
KEYS = (
    f"Enter skips a question, and what is not set is never sent. {BACK} goes back one question, "
    f"{REST} skips the rest. 0 lets others learn that you prefer not to say."
)


def concerned(world: Model) -> list[Model]:
    """Ask which models of a world concern the user: the first does, and those agreed to."""
    others = (each for each in world.every[1:] if click.confirm(concerns(each.id), err=True))
    return [*world.every[:1], *others]


def most_useful(world: Model, of: Sequence[Model]) -> list[Kind]:
    """The kinds of facts of the models ``of`` in a world, those first that help most on their own.

    A kind that others follow from comes before them.
    """
    cache, kinds = Cache(), Concepts([world]).kinds.values()

    def gain(kind: Kind) -> float:
        attributes = ((model, model.by_concept.get(kind.concept)) for model in of)
        return sum(
            float(cache.mean_utility(model).value(1 << model.index(each.name)))
            for model, each in attributes
            if each is not None
        )

    kinds_of = [
        kind
        for kind in kinds
        if any(kind.concept in model.by_concept for model in of)
        and not kind.attributes[0][1].further
    ]
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
    that were set. ``before``: values that are set. Enter keeps them, and an answer that one came
    back to.
    """
    implied, given, at = _implied(kinds), dict[str, str](), 0

    def follows(values: Mapping[str, str]) -> set[str]:
        # What only suggests an answer, such as "no job" where work was skipped, spares no question:
        # what is set would tell it. A fact sets all that hangs on it, whatever its value.
        return {name for (k, v), row in implied.items() if values.get(k) == v for name in row}

    while at < len(kinds):
        values, kind = {**before, **given}, kinds[at]
        follow = follows(values)
        places = [index for index, each in enumerate(kinds) if each.name not in follow]
        if at not in places:
            at += 1
            continue
        title = printable(f"{kind.title[:1].upper()}{kind.title[1:]}")
        click.echo(f"\n{places.index(at) + 1} of {len(places)}: {title}", err=True)
        # None that only another answer than that given implies is offered.
        set_ = {name for name, value in values.items() if value != UNSPECIFIED}
        excluded = {row.get(kind.name) for (name, _), row in implied.items() if name in set_}
        offered = in_order(value for value in kind.choices[1:] if value not in excluded)
        slots = _slots(kind)
        answers = _ask_values(kind, offered, len(slots), kept=kind.name in values)
        if REST in answers:
            break
        if BACK in answers:
            at = max((each for each in places if each < at), default=at)
            continue
        if answers:
            named = dict(zip(slots, answers, strict=False))
            given |= {**{name: "" for name in slots if name in values}, **named}
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
    slots = (each.slots for each in model.kinds if each.name == own.shared)
    return (kind.name, *next(slots, ("",))[1:])


def _ask_values(kind: Kind, values: Sequence[str], most: int, *, kept: bool) -> list[str]:
    """Ask for values, REST or BACK, none for Enter; what is typed is not echoed."""
    titles = [value_title(each, kind.title) for each in values]
    numbered = [*enumerate(titles, start=1), (0, "prefer not to say")]
    click.echo(facts((str(number), title) for number, title in numbered), err=True)
    what = "Number" if most == 1 else f"Numbers, up to {most}, with commas between them"
    while True:
        text = line(f"{what}, or Enter to keep your answer" if kept else what)
        if text in {"", REST, BACK}:
            return [text] if text else []
        parts = [text] if most == 1 else [each.strip() for each in text.split(",")]
        for each in ([text], parts):
            answers = [_value_of(part, values, titles) for part in each]
            if None not in answers and len({*answers}) == len(answers) <= most:
                return [*filter(None, answers)]
        say(f"That is not one of the answers: type a number from 0 to {len(values)}, or Enter.")


def _value_of(text: str, values: Sequence[str], titles: Sequence[str]) -> str | None:
    """The value that a text names, by its number or its words; None where it names none."""
    for names in (values, titles):
        with suppress(UsageError):
            return values[names.index(chosen(text, names))]
    return UNSPECIFIED if text in {"0", UNSPECIFIED} else None
