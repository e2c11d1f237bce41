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


def statements_of(text: str) -> tuple[str, ...]:
    """The single facts of a text, in order, each once, of at most LONGEST characters; at most MOST.

    Never raises. What has no encoding becomes a question mark. Idempotent: of facts, a line each,
    these. No word is lost but what joins facts, and headings above whole sentences. An age in a
    dated line keeps its year, as in "my son is 7 (in 2024)".
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
    return (*[*dict.fromkeys(chain.from_iterable(map(_of_line, lines_of(shown))))][:MOST],)


def _of_line(line: MemoryLine) -> Iterator[str]:
    """The facts of one line."""
    text = f"{line.label}: {line.text}" if line.label else line.text
    if english("label").fullmatch(text):
        parts = chain.from_iterable(map(_listed, _PAIRS.split(text)))
    else:
        parts = chain.from_iterable(map(_clauses, _sentences(text)))
    for bare in (part.strip(" ,;:.") for part in parts):
        if any(map(str.isalnum, bare)):
            yield from (with_year(each, line.year) for each in wrap(bare, LONGEST))


def _listed(pair: str) -> Iterator[str]:
    """The items behind a label, each with it, where they are a list of few words each."""
    label, _, text = pair.partition(": ")
    items = [text] if english("place").search(label) else text.split(", ")
    several = all(len(each.split()) <= SHORT for each in items)
    yield from (f"{label}: {each}" for each in (items if several else [text]))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text; one that refers to the one before stays with it."""
    start, sentence = 0, ""
    for end in (*(each.end() for each in _ENDS.finditer(text)), len(text)):
        if end < len(text) and english("abbreviation").search(text[max(start, end - 12) : end]):
            continue
        part, start = text[start:end].strip(), end
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
    together = english("whole").match(sentence)
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
    small = english("small").match(f"{before} {part}")
    plain = few and english("short").fullmatch(before) and not small
    roles = comma and english("role").match(part) and english("role").match(before)
    after_state = comma and english("state").fullmatch(before) and not english("more").match(part)
    alone = state or plain or roles or after_state
    unclosed = before.count("(") > before.count(")") or before.count('"') % 2
    belongs = english("pronoun").search(part) or (aged and english("with").search(before))
    if not (subject or verb or counted or aged or alone) or unclosed or belongs:
        return False
    if subject or not own:  # but not in "my wife and I"
        return bool(subject) and (own or comma or len(before.split()) > SHORT + 2)
    if english("wish").search(before):
        return False
    taste = english("taste").search(before) or re.search(r"\bwith\b", before)
    if verb:
        return bool(comma or not taste or english("sure_verb").match(part))
    return bool(state or after_state or not taste)
