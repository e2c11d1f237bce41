"""Single facts of free text, or of what an assistant remembers of its user. Text in, text out."""

import re
from collections.abc import Iterator
from itertools import chain
from textwrap import wrap
from unicodedata import category

from agent.facts.memory import SHORT, MemoryLine, lines_of
from agent.facts.values import with_year

LONGEST = 300  # characters of a fact
MOST = 2_000  # facts
PASSES = 12  # a fact inside several wrappings needs one for each

_ENDS = re.compile(r"[.!?]+[\"'”’)\]]*\s+")
_ABBREVIATION = re.compile(
    r"(?i)(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|mt|ft|no|vs|etc|e\.?g|i\.?e|approx|ca|jr|sr|inc|ltd"
    r"|co|[a-z](?:\.[a-z])*)\.\s+$"
)
_REFERS = re.compile(  # to the sentence before
    r"(?i)(?:he|she|they|it|this|that|these|those|his|her|their|its|both|which|so|but|because"
    r"|especially|except|then)\b"
)
_JOINT = re.compile(r"(?i)(\s*[,;]\s+(?:(?:and|also)\s+)*|\s+(?:and|&)\s+(?:also\s+)?)")
_LABEL = re.compile(
    r"(?i)(?!(?:I|my|we|our|there|it|you|the)\b)(\w[\w/&'’-]*(?:\s[\w/&'’-]+){0,2}):\s+(\S.*)"
)
_PLACES = re.compile(r"(?i)place|location|address|city|home|lives?|from|based|born|name")

# How sentences begin of which one part explains another, and those about somebody else.
_PERIOD = re.compile(
    r"(?i)(?:he|she|they|it|this|that|when|if|because|since|although|though|as|while|after|before"
    r"|for|in|on|at|during|whenever|until|unless|due|given|with|without|being|by|once|every|where)"
    r"\s"
)
_OTHERS = re.compile(
    r"(?i:my|our|your|(?:the\s+)?user['’]s|(?:an?|the)\s(?!user\b))\s|(?!I\b|We\b|You\b|User\b|The\b)"
    r"[A-Z][\w-]*(?:['’]s)?\s+(?:is|was|has|works|lives)\s"
)
_SUBJECT = re.compile(
    r"""(?ix)(?:(?:I|we|you|(?:the\s+)?user)(?:['’][a-z]+)?\s+\S|(?:my|our|your|user['’]s)\s
    (?:\S+\s){1,4}?(?:is|are|was|were|has|have|had|can|does|lives?|works?|likes?|loves?|needs?)\s)"""
)
_STRONG = re.compile(r"(?i)(?:am|is|have|has|had|lives?|works?|owns?|rents?|prefers?|hates?)\s")
_VERB = re.compile(
    r"""(?ix)(?:am|is|have|has|can(?:no|['’])?t?|do(?:es)?(?:n['’]t|\s+not)|(?:live|work|own|rent|drive|love|like|prefer|hate|dislike|enjoy|play|speak|study|use|take|eat
    |cook|drink|smoke|ride|run|swim|read|watch|travel|need|want|avoid|suffer|wear|earn|make|teach
    |keep|commute|follow|collect|hope|plan|sleep|weigh|manage|volunteer|write|code|practi[cs]e
    |train|attend|identif[yi]|studi|tr[yi])(?:e?s)?)\s+(?=\S)"""
)
_STATE = re.compile(
    r"""(?ix)(?:an?\s+)?(?:(?:fe)?male|m[ae]n|wom[ae]n|non-?binary|vegetarian|vegan|pescatarian
    |married|single|divorced|widowed|engaged|retired|unemployed|self-employed|freelance\w*|straight
    |gay|lesbian|bisexual|queer|catholic|muslim|jewish|hindu|buddhist|christian|atheist|agnostic
    |diabetic|asthmatic|left-handed|right-handed)$|(?:allergic|intolerant|based|born|raised|fluent
    |interested|diagnosed|pregnant)\b|(?:mum|mom|mother|dad|father|parent|owner)\s(?:of|to)\b"""
)
_COUNTED = re.compile(
    r"""(?ix)(?:(?:an?|\d\d?|no|one|two|three|four|five|six)\s+(?:\w+\s+)?(?:kids?|child(?:ren)?
    |sons?|daughters?|boys?|girls?|siblings?|brothers?|sisters?|dogs?|cats?|pets?)\b
    |(?:1\d|[2-9]\d)(?:\s+years?\s+old|\s*y/?o)?(?:\s\(in\s\d+\))?$)"""
)
_WITH = re.compile(
    r"(?i)\b(?:with|aged?|kids?|child(?:ren)?|sons?|daughters?|boys?|girls?|twins)\b"
)
_WISH = re.compile(
    r"(?i)\b(?:to|can|will|would|should|may|must|never|want|who|which|that|so|because)\b"
)
_TASTE = re.compile(  # behind these, what follows a comma may be one more of the same
    r"(?i)\b(?:like|love|enjoy|prefer|hate|dislike|avoid|speak|eat|use|play|watch|read|include|visit"
    r"|need)(?:s|d|ed|ing)?\b|\b(?:such as|into|allergic)\b"
)
_REFERRING = re.compile(
    r"(?i)\b(?:it|its|them|him|he|she|they|their|these|those|her|his|there|one|both|same)\b"
)
_SHORTLY = re.compile(
    r"(?i)(?:(?:I|you)\s(?:am|are)|I['’]m|(?:the\s+)?user is|is|am)(?:\s\S+){1,2}"
)
_ROLE = re.compile(r"(?i)(?:(?:I am|I['’]m|(?:the\s+)?user is|is|am)\s+)?an?\s")
_SMALL = re.compile(r"(?i).*\b(?:an?|the|my|his|her|very|so|too|from|in|to|of|at|on|with|not)\b")
_BY_TIME = re.compile(
    r"(?i)(.*\bwork(?:s|ing)?)\s+((?:part|full)[- ]?time)\s+((?:as|in|at|for|with)\s.+)"
)


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
    if labelled := _LABEL.fullmatch(text):
        parts = _listed(*labelled.groups())
    else:
        parts = chain.from_iterable(map(_clauses, _sentences(text)))
    for bare in (part.strip(" ,;:.") for part in parts):
        if any(map(str.isalnum, bare)):
            yield from wrap(with_year(bare, line.year), LONGEST)


def _listed(label: str, text: str) -> Iterator[str]:
    """The items below a label, each with it, where they are a list of few words each."""
    items = text.split(", ")
    several = all(len(each.split()) <= SHORT for each in items) and not _PLACES.search(label)
    yield from (f"{label}: {each}" for each in (items if several else [text]))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text; one that refers to the one before stays with it."""
    start, sentence = 0, ""
    for end in (*(each.end() for each in _ENDS.finditer(text)), len(text)):
        if end < len(text) and _ABBREVIATION.search(text[max(start, end - 12) : end]):
            continue
        part, start = text[start:end].strip(), end
        if sentence and not (_REFERS.match(part) and len(sentence) + len(part) < LONGEST):
            yield sentence
            sentence = part
        else:
            sentence = f"{sentence} {part}".strip()
    yield sentence


def _clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence that are facts of their own."""
    first, *rest = _JOINT.split(sentence)
    clauses, own, together = [first], not _OTHERS.match(sentence), _PERIOD.match(sentence)
    for joint, part in zip(rest[::2], rest[1::2], strict=True):
        long = len(clauses[-1]) > LONGEST
        if long or (not together and _begins(part, clauses[-1], joint, own=own)):
            clauses.append(part)
        else:
            clauses[-1] += joint + part
    for each in clauses:
        parts = _BY_TIME.fullmatch(each)
        yield from (f"{parts[1]} {parts[2]}", f"{parts[1]} {parts[3]}") if parts else (each,)


def _begins(part: str, before: str, joint: str, *, own: bool) -> bool:
    """Whether a part of a sentence is a fact of its own, behind what is before it.

    ``own``: the sentence is about the user, who need not be named again.
    """
    comma = joint.lstrip()[:1] in {",", ";"}
    subject, verb, counted = _SUBJECT.match(part), _VERB.match(part), _COUNTED.match(part)
    few = comma and len(part.split()) < SHORT and part.replace(" ", "").isalpha()
    short = few and _SHORTLY.fullmatch(before) and not _SMALL.match(f"{before} {part}")
    state = short or _STATE.match(part) or (comma and _ROLE.match(before) and _ROLE.match(part))
    if not (subject or verb or counted or state) or _REFERRING.search(part):
        return False
    if before.count("(") > before.count(")") or before.count('"') % 2:
        return False
    if subject or not own:  # but not in "my wife and I"
        return bool(subject) and (own or comma or len(before.split()) > SHORT + 2)
    if _WISH.search(before):
        return False
    taste = _TASTE.search(before)
    if verb:
        return bool(comma or not taste or _STRONG.match(part))
    return not taste and bool(state or not _WITH.search(before))
