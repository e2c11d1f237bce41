"""Single facts of free text, or of what an assistant remembers of its user. Text in, text out."""

import re
from collections.abc import Iterator
from itertools import chain
from textwrap import wrap
from unicodedata import category

from agent.facts.memory import SHORT, MemoryLine, lines_of
from agent.facts.values import english, with_year

LONGEST = 300  # characters of a fact
MOST = 2_000  # facts
PASSES = 12  # a fact inside several wrappings needs one for each

_PAIRS = re.compile(r",\s+(?=\w+:\s)")  # of labels and texts
_ENDS = re.compile(r"[.!?]+[\"'”’)\]]*\s+")
_POSSESSIVES = {"She": "Her", "He": "His", "They": "Their"}


def statements_of(text: str) -> tuple[str, ...]:
    """The single facts of a text, in order, each once, of at most LONGEST characters; at most MOST.

    Never raises. What has no encoding becomes a question mark. Idempotent: of facts, a line each,
    these. No word is lost but what joins facts, headings above whole sentences, and what a text
    about one person calls them: that becomes "User". An age in a dated line keeps its year, as in
    "my son is 7 (in 2024)".
    """
    facts = _facts_of(text.encode(errors="replace").decode())
    for _ in range(PASSES):
        before, facts = facts, _facts_of("\n".join(facts))
        if facts == before:
            break
    return facts


def _facts_of(text: str) -> tuple[str, ...]:
    """The facts of a text, less one layer of what wraps them."""
    visible = text if text.isascii() else "".join(e for e in text if category(e) != "Cf")
    shown = "".join(e if e == "\n" or e.isprintable() else " " for e in visible)
    lines = [*lines_of(shown)]
    person = _person_of("\n".join(each.text for each in lines))
    facts = chain.from_iterable(_of_line(each, person) for each in lines)
    return (*[*dict.fromkeys(facts)][:MOST],)


def _person_of(text: str) -> re.Pattern[str] | None:
    """What begins the sentences about one person, called by name, and by a pronoun from then on.

    None where the text is not about such a person.
    """
    named, pronoun = english("named").match(text), english("pronoun_of_one").search(text)
    if not named or not pronoun or english("first_person").search(text):
        return None
    name, whose = rf"{named['first']}(?: [A-Z]\w+)?", _POSSESSIVES[pronoun[1]]
    return re.compile(rf"(?:{name}(?P<aged>,(?= \d\d,))?|{pronoun[1]}|(?P<whose>{whose}))(?!\w)")


def _of_line(line: MemoryLine, person: re.Pattern[str] | None) -> Iterator[str]:
    """The facts of one line; ``person``: what it calls the user, None without a name."""
    text = f"{line.label}: {line.text}" if line.label else line.text
    if english("label").fullmatch(text):
        parts = chain.from_iterable(map(_listed, _PAIRS.split(text)))
    else:
        parts = chain.from_iterable(map(_clauses, _sentences(text, person)))
    for bare in (part.strip(" ,;:.") for part in parts):
        if any(map(str.isalnum, bare)):
            yield from (with_year(each, line.year) for each in wrap(bare, LONGEST))


def _listed(pair: str) -> Iterator[str]:
    """The items behind a label, each with it, where they are a list of few words each."""
    label, _, text = pair.partition(": ")
    items = [text] if english("place").search(label) else text.split(", ")
    several = all(len(each.split()) <= SHORT for each in items)
    yield from (f"{label}: {each}" for each in (items if several else [text]))


def _sentences(text: str, person: re.Pattern[str] | None) -> Iterator[str]:
    """The sentences of a text; one that refers to the one before stays with it."""
    start, sentence, part = 0, "", ""
    for end in (*(each.end() for each in _ENDS.finditer(text)), len(text)):
        if end < len(text) and english("abbreviation").search(text[max(start, end - 12) : end]):
            continue
        before, part, start = part, text[start:end].strip(), end
        called = person.match(part) if person and not english("relative").search(before) else None
        if called:
            user = {"whose": "User's", "aged": "User is"}.get(called.lastgroup or "", "User")
            part = user + part[called.end() :]
        stays = english("refers_back").match(part) and len(sentence) + len(part) < LONGEST
        if sentence and not stays:
            yield sentence
            sentence = part
        else:
            sentence = f"{sentence} {part}".strip()
    yield sentence


def _clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence that are facts of their own."""
    first, *rest = english("joint").split(sentence.rstrip(" ."))
    clauses, own = [first], not english("others").match(sentence)
    together = english("whole").match(sentence) and not english("state").fullmatch(first)
    for joint, part in zip(rest[::2], rest[1::2], strict=True):
        long = len(clauses[-1]) > LONGEST
        if long or (not together and _begins(part, clauses[-1], joint, own=own)):
            clauses.append(part)
        else:
            clauses[-1] += joint + part
    yield from chain.from_iterable(map(_shared_out, clauses))


def _shared_out(clause: str) -> Iterator[str]:
    """A clause for each thing of which its beginning is true, as of "I speak Thai and Lao"."""
    if parts := english("by_time").fullmatch(clause):
        things = [parts[2], parts[3]]
    elif parts := english("each_of").fullmatch(clause):
        things = english("joint").split(parts[2])[::2]
    else:
        things = [clause]
    few = all(len(each.split()) <= SHORT for each in things[:-1])
    wrong = (english(e).match(each) for each in things for e in ("verb", "state", "small"))
    every = bool(parts and few and (parts.re == english("by_time") or not any(wrong)))
    yield from (f"{parts[1]} {each}" for each in things) if parts and every else (clause,)


def _begins(part: str, before: str, joint: str, *, own: bool) -> bool:
    """Whether a part of a sentence is a fact of its own, behind what is before it.

    ``own``: the sentence is about the user, who need not be named again.
    """
    comma, names = joint.lstrip()[:1] in {",", ";"}, ("subject", "verb", "counted", "aged", "state")
    subject, verb, counted, aged, state = (english(each).match(part) for each in names)
    few = comma and len(part.split()) < SHORT and re.sub("[ -]", "", part).isalpha()
    short = few and english("short").fullmatch(before)
    plain = short and not english("small").match(f"{before} {part}")
    roles = comma and english("role").match(part) and english("role").match(before)
    after_state = comma and english("state").fullmatch(before) and not english("more").match(part)
    alone = state or plain or roles or after_state
    unclosed = before.count("(") > before.count(")") or before.count('"') % 2
    belongs = english("pronoun").search(part) or (aged and english("with").search(before))
    linked = joint.strip() in {"", "with"} and english("relative").search(before)
    if not (subject or verb or counted or aged or alone) or unclosed or belongs or linked:
        return False
    if subject or not own:  # but not in "my wife and I"
        return bool(subject) and (own or comma or bool(english("subject").match(before)))
    sure = comma or english("sure_verb").match(part) if verb else state or after_state
    return not english("wish").search(before) and bool(sure or not english("taste").search(before))
