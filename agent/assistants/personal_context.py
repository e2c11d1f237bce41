"""What an assistant is told, made of the daemon's answer: facts as people read them, and a line.

Titles and values come from model files, and a model may be anybody's: to an assistant they are
text that somebody else wrote. Each is cut, and has nothing in it that steers who reads it.
"""

from collections.abc import Iterable
from math import floor
from typing import Annotated

from pydantic import BaseModel, Field

from agent.decision.values import UNDECIDED, Reading
from agent.errors import UNLOCK, DaemonError, ReticentError
from agent.wire.decide import Answer, Summary
from agent.words.about import LONGEST, plain
from agent.words.figures import listed, of_whom
from agent.words.outcomes import WHY_NOTHING
from agent.words.titles import read_as, titled, value_title

DOCTOR = "`reticent doctor` says how to fix it"
APPROVE = "`reticent requests list --waiting` lists it"


class SharedFact(BaseModel, frozen=True):
    """One fact about the user."""

    title: Annotated[str, Field(description="What the fact is about.")]
    value: Annotated[str, Field(description="What is true of the user.")]

    def __repr__(self) -> str:
        return f"SharedFact({self.title!r}, ***)"


class PersonalContext(BaseModel, frozen=True):
    """The facts that are worth telling for one question."""

    line: Annotated[str, Field(description="All of this in words.", repr=False)]
    facts: Annotated[
        tuple[SharedFact, ...], Field(description="Facts about the user; often none.")
    ] = ()
    understood_as: Annotated[
        str | None, Field(description="The topic that the question was read as; null if none.")
    ] = None
    certainty: Annotated[float, Field(description="How sure that reading is, 0 to 1.")] = 0.0
    people_left: Annotated[
        str | None,
        Field(description="How many people fit all that you have been told of the user so far."),
    ] = None
    waiting: Annotated[
        tuple[str, ...],
        Field(description="What else would help, by title: it waits for the user's approval."),
    ] = ()


class SharedBefore(BaseModel, frozen=True):
    """What one question was answered with."""

    question: Annotated[str, Field(description="The question, as it was asked.", repr=False)]
    facts: Annotated[tuple[SharedFact, ...], Field(description="The facts, as they were told.")]


class SharedSoFar(BaseModel, frozen=True):
    """All that this server has told since it was started."""

    line: Annotated[str, Field(description="All of this in words.", repr=False)]
    told: Annotated[tuple[SharedBefore, ...], Field(description="By question, the oldest first.")]


def nothing(why: str) -> PersonalContext:
    """Return that nothing is told, and why, as the user is told it."""
    return PersonalContext(line=_nothing(why))


def undecided(error: ReticentError) -> PersonalContext:
    """Return the same where the daemon gave no answer; nothing names the user's files."""
    if isinstance(error, DaemonError):
        return nothing(f"{error.what}; {error.hint}")
    return nothing(f"the request was refused; {DOCTOR}")


def personal_context(answer: Answer) -> PersonalContext:
    """Return what an assistant is told of an answer.

    What is set to "unspecified" is no fact: the user prefers not to say it. Without facts it does
    not say how many people are left: that would tell what the recipient held before.
    """
    why, summary = WHY_NOTHING[answer.code], answer.summary
    if summary is None:
        hint = UNLOCK if answer.code == "locked" else DOCTOR
        return nothing(f"{why}; {hint}" if answer.code in UNDECIDED else why)
    titles, reading = summary.titles, summary.read_as
    told = PersonalContext(
        line="",
        facts=tuple(_fact(titles.get(n, n), value) for n, value in answer.attributes.items()),
        understood_as=None if reading is None else plain(reading.title),
        certainty=0.0 if reading is None else floor(100 * reading.probability) / 100,
        people_left=_people_left(summary) if answer.attributes else None,
        waiting=tuple(plain(each) for each in titled(summary.pending, titles)),
    )
    return told.model_copy(update={"line": _line(told, reading, why)})


def already_told(told: Iterable[SharedBefore]) -> SharedSoFar:
    """Return what was told before, as it was told; in the line each fact once, as told last."""
    each = tuple(told)
    latest = {fact.title: fact for one in each for fact in one.facts}
    if not latest:
        return SharedSoFar(line="Nothing about the user has been told so far.", told=each)
    return SharedSoFar(line=f"Told so far: {_listed(latest.values())}.", told=each)


def _fact(title: str, value: str) -> SharedFact:
    return SharedFact(title=plain(title), value=plain(value_title(value, title)))


def _people_left(summary: Summary) -> str:
    about = "about " if summary.among is not None and summary.among.estimated else ""
    return plain(f"{about}{of_whom(summary.people_left, summary.among)}", 2 * LONGEST)


def _listed(facts: Iterable[SharedFact]) -> str:
    return "; ".join(f"{each.title}: {each.value}" for each in facts)


def _nothing(why: str) -> str:
    plainly = "Nothing about the user is shared: answer as you would for anyone."
    return f"{plainly} The reason, as it is told to the user: {why}."


def _line(told: PersonalContext, reading: Reading | None, why: str) -> str:
    """Return an answer as one line, the facts first; ``why`` there are none, for the user."""
    parts = [_nothing("what would help waits for their approval" if told.waiting else why)]
    if told.facts:
        parts = [f"About the user: {_listed(told.facts)}."]
    if reading is not None:
        parts.append(f"Question read as {plain(read_as(reading), 2 * LONGEST)}.")
    if told.facts:
        parts.append(f"People who fit all that you were told: {told.people_left}.")
    if told.waiting:
        parts.append(f"Waiting for the user's approval: {listed(told.waiting)} ({APPROVE}).")
    return " ".join(parts)
