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


def concerned(models: Sequence[Model]) -> list[Model]:
    """Ask which models concern the user: the first does, and those the user agrees to."""
    others = (each for each in models[1:] if click.confirm(concerns(each.id), err=True))
    return [*models[:1], *others]


def most_useful(models: Sequence[Model], of: Sequence[Model]) -> list[Kind]:
    """The facts of the models ``of``, those first that help most on their own.

    A fact that others follow from comes before them. ``models``: all, by which facts are named.
    """
    cache = Cache()

    def gain(fact: Kind) -> float:
        return sum(
            float(cache.mean_utility(model).value(1 << model.index(each.name)))
            for model, each in fact.attributes
            if model in of
        )

    kinds = Concepts(models).kinds.values()
    kinds_of = [fact for fact in kinds if any(model in of for model, _ in fact.attributes)]
    implied = _implied(kinds_of)
    ordered: dict[str, Kind] = {}
    for fact in sorted(kinds_of, key=gain, reverse=True):
        above = {name for (name, _), row in implied.items() if fact.name in row}
        for each in (*(kind for kind in kinds_of if kind.name in above), fact):
            ordered.setdefault(each.name, each)
    return [*ordered.values()]


def ask_values(kinds: Sequence[Kind], before: Mapping[str, str] = NONE) -> dict[str, str]:
    """Ask for values of facts at the terminal; skipped ones are left out.

    What follows from an answer is not asked, and gives way to it where it was asked before.
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
        answer = _ask_value(kind, offered, kept=kind.name in values)
        if answer == REST:
            break
        if answer == BACK:
            at = max((each for each in places if each < at), default=at)
            continue
        given |= {kind.name: answer} if answer else {}
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


def _ask_value(kind: Kind, values: Sequence[str], *, kept: bool) -> str:
    """Ask for one value, REST, BACK, or nothing for Enter; what is typed is not echoed."""
    titles = [value_title(each, kind.title) for each in values]
    numbered = [*enumerate(titles, start=1), (0, "prefer not to say")]
    click.echo(facts((str(number), title) for number, title in numbered), err=True)
    while True:
        text = line("Number, or Enter to keep your answer" if kept else "Number")
        if text in {"", REST, BACK}:
            return text
        for names in (values, titles):
            with suppress(UsageError):
                return values[names.index(chosen(text, names))]
        if text in {"0", UNSPECIFIED}:
            return UNSPECIFIED
        say(f"That is not one of the answers: type a number from 0 to {len(values)}, or Enter.")
