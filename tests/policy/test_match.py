"""Which rule decides: as FORMAT.md says, whatever the order of the file; and why others lost."""

import re
from ast import literal_eval
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from operator import ge
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.match import GUARDED, Known, Rulebook, Ruling, Verdict, known, losses, may
from policy.read import preset, read
from policy.rules import EXACT, NamePattern, Rule, Words, spoken
from policy.settings import SETTINGS
from tests.policy import naive, strategies
from tests.policy.naive import PER_ATTRIBUTE, claims, decided
from tests.policy.strategies import NAMES, TODAY, Asked, Document, documents, rendered, requests

WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
REQUESTS = st.lists(requests(), min_size=1, max_size=6)


def _lost_to(verdict: Verdict) -> list[Rule]:
    return [claim.rule for claim in verdict.claims if claim.rule is not verdict.rule]


def verdicts(ruling: Ruling) -> Mapping[tuple[str, str | None], Verdict]:
    """Return every verdict of a ruling by its setting, and its attribute where it has one."""
    found: dict[tuple[str, str | None], Verdict] = {
        (k, None): v for k, v in ruling.settings.items()
    }
    for name, each in ruling.attributes.items():
        found |= {(key, name): verdict for key, verdict in each.items()}
    return found


def values(ruling: Ruling) -> dict[tuple[str, str | None], Any]:
    return {place: verdict.value for place, verdict in verdicts(ruling).items()}


@given(documents(), REQUESTS)
def test_it_is_as_the_document_says(document: Document, asked: list[Asked]) -> None:
    """Value, deciding rule and losers are those of a comparison of all rules with all."""
    rulebook = Rulebook(read(rendered(document), "test", preset), known(*NAMES))
    for each in asked:
        found = verdicts(rulebook.match(*each))
        for key, name in [*product(WHOLE, [None]), *product(PER_ATTRIBUTE, NAMES)]:
            expected = claims(document, each, key, name)
            verdict = found.get((key, name))
            assert (verdict is None) == (not expected)
            if verdict is not None:
                _assert_is(verdict, expected, key)


@given(documents(), requests(), st.lists(requests(), max_size=3))
def test_what_withholds_looks_at_all_that_is_said(
    document: Document, asked: Asked, before: list[Asked]
) -> None:
    """As if it were one text; all else at the question alone. Of texts unseen it fears the worst.

    Else facts stood in one request with the word that was to keep them out.
    """
    policy, earlier = read(rendered(document), "test", preset), {e.query: e.topics for e in before}
    every = [asked.topics, *earlier.values()]
    topics = {e: max(each.get(e, 0.0) for each in every) for each in every for e in each}
    as_one = asked._replace(query=" of it ".join((asked.query, *earlier)), topics=topics)
    worst = asked._replace(query=" of it ".join(strategies.SAMPLES))
    for withholds, other in ((True, as_one), (True, worst), (False, asked)):
        rules = [e for e in policy.rules if e.withholds == withholds or not (e.queries or e.topics)]
        rules = [e for e in rules if other is not worst or not e.topics]
        rulebook = Rulebook(replace(policy, rules=tuple(rules)), known(*NAMES))
        found = rulebook.match(*asked, earlier=None if other is worst else earlier)
        assert values(found) == values(rulebook.match(*other))


TELLS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.sets(st.sampled_from(NAMES), max_size=2)))


@given(documents(), REQUESTS, TELLS)
def test_what_tells_a_fact_is_ruled_no_laxer(
    document: Document, asked: list[Asked], tells: dict[str, set[str]]
) -> None:
    """The strictest of both, a guard as never; "ask" is met by a rule of the file on the name.

    What is in the recipient's own context goes, though it tells what is in none.
    """
    document = {key: each for key, each in document.items() if key != "contexts"}
    every, policy = known(*NAMES), read(rendered(document), "test", preset)
    facts = {n: every[n]._replace(tells={t: every[t].names for t in tells[n]}) for n in NAMES}
    rulebook, plain = Rulebook(policy, facts), Rulebook(policy, every)
    for each in asked:
        own, found = plain.match(*each).attributes, rulebook.match(*each).attributes
        words = {name: may(own[name]).replace(GUARDED, "never") for name in NAMES}
        for name in NAMES:
            verdict, strictest = own[name]["disclose"], {words[name]}
            opening = [e for e in verdict.claims if e.rule.is_own and e.value == verdict.value]
            for told in tells[name]:
                least = EXACT if own[told]["disclose"].rule.attributes else 1
                opened = any(each.reach.attribute >= least for each in opening)
                strictest |= {words[told]} & ({"never"} if opened else {"ask", "never"})
            strict = max(strictest, key=SETTINGS["disclose"].strictness)
            assert strict == may(found[name]).replace(GUARDED, "never")


def test_a_rule_on_one_fact_is_more_specific_than_those_on_its_kind() -> None:
    """It is on that fact alone; one on the kind holds for all facts of that."""
    text = 'attributes = { "#7" = "auto", diet = "never", "*" = "ask" }'
    facts = {each: Known(frozenset({each}), frozenset({each, "diet"})) for each in ("#7", "#8")}
    policy = read(text, "test", preset)
    ruling = Rulebook(policy, facts | known("pets")).match("shop.example", "", TODAY)
    ruled = {name: each["disclose"].value for name, each in ruling.attributes.items()}
    assert ruled == {"#7": "auto", "#8": "never", "pets": "ask"}


def _assert_is(verdict: Verdict, expected: list[naive.Claim], key: str) -> None:
    best = decided(expected, key)
    assert verdict.value == best[0].value
    assert type(verdict.value) in (type(best[0].value), float)
    own = (int(verdict.rule.layer), verdict.rule.path)
    assert own in [(claim.entry.layer, claim.entry.path) for claim in best]
    others = {(claim.entry.layer, claim.entry.path) for claim in expected} - {own}
    assert {(int(rule.layer), rule.path) for rule in _lost_to(verdict)} == others
    assert len(_lost_to(verdict)) == len(others)


@pytest.mark.parametrize("first", ["gender", "sex"])
@pytest.mark.parametrize("asked", ["gender", "sex"])
def test_of_equals_the_rule_decides_that_has_the_name_asked_about(first: str, asked: str) -> None:
    """Where models call one fact by several; the order of the rules is no matter."""
    second = "sex" if first == "gender" else "gender"
    text = f'[attributes]\n{first} = "never"\n{second} = "never"\n'
    one = Known(frozenset({"gender"}), frozenset({"gender", "sex"}))
    ruling = Rulebook(read(text, "test", preset), {"gender": one, "sex": one}).match(
        "a.test", "", TODAY
    )
    assert ruling.attributes[asked]["disclose"].rule.name == f"attributes.{asked}"


@given(documents(), requests())
def test_every_loss_has_a_reason_that_holds(document: Document, asked: Asked) -> None:
    """Of what has two values, at the place where one of them decided."""
    ruling = Rulebook(read(rendered(document), "test", preset), known(*NAMES)).match(*asked)
    found = [*ruling.settings.items()]
    found += [pair for verdicts in ruling.attributes.values() for pair in verdicts.items()]
    for key, verdict in found:
        reaches = {claim.rule: claim.reach for claim in verdict.claims}
        lost = [*losses(key, verdict)]
        assert (
            {loss.rule for loss in lost} == {*_lost_to(verdict)} == reaches.keys() - {verdict.rule}
        )
        for loss in lost:
            assert loss.value == loss.rule.settings[key]
            own, its = reaches[loss.winner], reaches[loss.rule]
            match loss.why:
                case "block":
                    assert verdict.rule.blocks
                case "more specific":
                    assert own != its
                    assert all(map(ge, own, its))
                case "later layer":
                    assert loss.winner.layer > loss.rule.layer
                    assert own == its or not all(map(ge, its, own))
                case "stricter":
                    setting = SETTINGS[key]
                    assert setting.strictness(verdict.value) > setting.strictness(loss.value)
                case "later":
                    assert not SETTINGS[key].order
                    assert verdict.rule.layer >= loss.rule.layer
                case "the same":
                    assert loss.value == verdict.value


ASCII = st.text("ab1_ +-.*", max_size=10)
MIXED = st.text("ab_ +*é\u0301\u093f\u094dहन漢字กิテ\u0340ß", max_size=10)
ANY_TEXT = st.text(max_size=20)
STAR = st.sampled_from(["", "*"])
UNSPACED = re.compile("[漢ก\u0e34テ]")


@st.composite
def words(draw: st.DrawFn) -> Words:
    """Draw a pattern of one to three words, each with or without ``*``, and punctuation."""
    letters = draw(st.sampled_from(["ab1", "abé\u0301\u093f\u094dह漢กิテß"]))
    word = st.builds(
        "{}{}{}".format,
        st.sampled_from([each for each in letters if each.isalnum()]),
        st.text(letters, max_size=2),
        STAR,
    )
    text = draw(st.sampled_from(["", "+", "."])) + draw(word)
    for _ in range(draw(st.integers(0, 2))):
        text += draw(st.sampled_from([" ", "+", ". "])) + draw(word)
    return Words.parse(text + draw(st.sampled_from(["", "+", " ."])))


QUERIES = (ASCII | MIXED | ANY_TEXT).map(spoken)


@given(ANY_TEXT | MIXED)
@example("-a_\u2010 b")
def test_how_words_are_written_does_not_matter(text: str) -> None:
    """Punctuation is white space, as is what breaks a word unseen; twice changes nothing."""
    said = spoken(text)
    assert spoken(said) == said
    assert not set(said) & set("_-\u2010\u2019.,;/?!*'\u200b")
    for each in ("_", "-", ", ", ". ", "/", " (", "; ", " & ", "*", "\u200b", "\u2011", "\u2014"):
        assert spoken(text.replace(" ", each)) == said


@given(words(), QUERIES)
@example(Words.parse("a*"), "ab")
@example(Words.parse("a* b"), "ab b")
@example(Words.parse("+a"), "b+a")
def test_matching_is_as_a_regular_expression_says(pattern: Words, query: str) -> None:
    """In ASCII, where it is easily said."""
    assume(pattern.text.isascii() and query.isascii())
    pieces = map(re.escape, pattern.text.split("*"))
    edge, rest = r"(?:(?<!\w)|(?!\w))", r"\w*(?!\w)"
    assert pattern.matches(query) == bool(re.search(edge + rest.join(pieces) + edge, query))


@given(words(), QUERIES, QUERIES, st.sampled_from(["", "b", "1b", "\u0301"]))
def test_words_are_found_wherever_they_stand_whole(
    pattern: Words, before: str, after: str, rest: str
) -> None:
    """Between other words, and with any rest where it may differ."""
    assume(not (rest and UNSPACED.search(pattern.text)))  # there a letter is no rest of a word
    standing = pattern.text.replace("*", rest)
    assert pattern.matches(standing)
    assert pattern.matches(f"{before} {standing} {after}")
    assert pattern.matches(f"+{standing}.")


@given(words(), st.sampled_from(["b", "1", "\u0301", "हि"]))
def test_a_word_that_goes_on_is_another(pattern: Words, more: str) -> None:
    """Unless ``*`` allows it, or its script has no spaces."""
    first, last = pattern.text[0], pattern.text[-1]
    assume("*" not in pattern.text)
    if re.match(r"[ab1é]", last):
        assert not pattern.matches(pattern.text + more)
        with suppress(UsageError):
            assert Words.parse(f"{pattern.text}*").matches(pattern.text + more)
    if re.match(r"[ab1é]", first) and more not in pattern.text:
        assert not pattern.matches(more + pattern.text)


@given(st.text() | MIXED)
def test_every_text_is_a_pattern_or_a_usage_error(text: str) -> None:
    """Nothing else is raised."""
    with suppress(UsageError):
        pattern = Words.parse(text)
        assert pattern.matches(pattern.text.replace("*", ""))


def test_examples_of_words(pytestconfig: pytest.Config) -> None:
    """Languages with and without spaces, names of programming languages; parts of words."""
    shown, lines = Path(__file__).with_name("words.txt"), []
    for line in shown.read_text(encoding="utf-8").splitlines():
        text, _, rest = re.split(r" (matches|misses|is refused:) ", line)
        try:
            matches = Words.parse(literal_eval(text)).matches(spoken(literal_eval(rest)))
            lines.append(f"{text} {'matches' if matches else 'misses'} {rest}\n")
        except UsageError as error:
            lines.append(f"{text} is refused: {error.what}\n")
    if pytestconfig.getoption("accept"):
        shown.write_text("".join(lines), encoding="utf-8")
    assert "".join(lines) == shown.read_text(encoding="utf-8"), "look at it, then accept it"


def test_no_pattern_takes_long() -> None:
    """Not on the text that fits it best, and longer than any query: nothing is tried again."""
    began = process_time()
    for text in ("a* " * 60 + "b", "a a " * 49 + "b", ".a*" * 60 + ".b"):
        assert not Words.parse(text).matches(spoken((text[:-1] * 20).replace("*", "aa")))
    assert process_time() - began < 10
    pattern = NamePattern.parse("*a" * 40 + "*b")
    assert not pattern.matches("a" * 4000)
    assert pattern.matches("a" * 4000 + "b")
