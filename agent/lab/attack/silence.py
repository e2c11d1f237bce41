"""What silence tells of facts in own words: that none is there which would have helped."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.build.kinds import lines_of, read_file
from agent.build.relevance import Sheet
from agent.decision.cache import Cache
from agent.decision.context import Context, Terms, rulebook, terms_under
from agent.decision.decide import decide
from agent.decision.engine import load_model
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import Flags, OwnFacts, chances_of
from agent.decision.values import Fact, Request
from agent.facts.proposals import judging
from agent.lab import TEXTS, Progress
from agent.lab.attack.simulation import FIRST, HOST
from agent.lab.attack.strategies import ANSWERED
from agent.model.model import Model
from agent.model.relevance import LEAST_HELP
from agent.model.world import with_own_facts
from agent.words.layout import numeric, paragraph, table, wide
from policy.families import headings
from policy.read import preset, read

SILENCE_TITLE, ALL = "What silence tells of facts in own words", "all"
HEAD = ("facts", "sent", "bits from silence", "at most", "of")


class Silence(NamedTuple):
    """What silence tells of a fact of some kinds, in bits, to one who knows its kind.

    ``facts``: how many were tried; ``sent``: the share that left with some request; ``bits``: the
    mean over the facts, 0 for one that left; ``error``: its standard error; ``most``: of one that
    stayed, of the kind where this is the most; ``whole``: the entropy of which fact of its kind it
    is.
    """

    facts: int
    sent: float
    bits: float
    error: float
    most: float
    whole: float


def requests_in(folder: Path) -> tuple[str, ...]:
    """The requests of the profiles in a folder; UsageError if they cannot be read."""
    profiles = read_file(folder / "profiles.jsonl.gz", partial(lines_of, kind=Sheet))
    return tuple(each.text for profile in profiles for each in profile.questions)


def silence(texts: Sequence[str], progress: Progress) -> Mapping[str, Silence]:
    """What silence tells by family of kinds, in alphabetical order, and of ALL.

    The facts are the statements by which the shipped model of topics judges. The preset balanced
    decides, and each of its questions is answered yes: so most is sent.
    """
    model = load_model()
    own, by_family = statements(model), defaultdict[str, list[Flags]](list)
    model = with_own_facts(model, dict.fromkeys((each.kind for each in own.facts), 1))
    rules = rulebook(read('preset = "balanced"', "balanced", preset), model, ())
    terms = ANSWERED[1].changed(terms_under(rules.match(HOST, "", FIRST.date()), model))
    stays = staying(own, texts, replace(terms, available=frozenset()), model, progress)
    for each in sorted({*own.attributes}):
        for family in (headings()[model.attributes[each].name], ALL):
            by_family[family].append(stays[np.equal(own.attributes, each)])
    return {family: bits_of(kinds) for family, kinds in sorted(by_family.items())}


def statements(model: Model) -> OwnFacts:
    """The statements by which a model judges, as facts in own words, of the likeliest kind each.

    UsageError for a model that says nothing of own words.
    """
    judge = judging(model)[1]
    vectors = judge.statements.astype(np.float32) - 128
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    both = vectors * np.float32(2**0.5)  # of each encoder a vector of length 1
    topics, kinds = judge.topics(both), judge.kinds(both).argmax(axis=1).tolist()
    topics[topics < LEAST_HELP] = 0
    attributes = tuple(model.index(judge.kind_names[each]) for each in kinds)
    some = [(str(at), model.attributes[each].concept) for at, each in enumerate(attributes)]
    facts = tuple(Fact(id=name, kind=kind, set_at=FIRST) for name, kind in some)
    return OwnFacts(facts, attributes, np.zeros(len(facts), np.bool_), vectors, topics)


def staying(
    own: OwnFacts, texts: Sequence[str], terms: Terms, model: Model, progress: Progress
) -> Flags:
    """Which facts leave with none of the requests, bool, shape (F,), each its owner's only one.

    Before it leaves the recipient holds nothing: a request is decided alike whenever it comes.
    ``model``: with a place for each kind.
    """
    cache, stays = Cache(), np.ones(len(own.facts), np.bool_)
    least = cache.judgements(model).least[[*own.attributes]]
    for done, text in enumerate(texts, 1):
        likely = chances_of(own, text, cache.read(model, text), model, ())[:, 0]
        some = stays & ((likely >= least) | bool(terms.by_kind))  # others are no candidates
        for at in np.flatnonzero(some).tolist():
            one, request = slice(at, at + 1), Request(text, HOST)
            arrays = own.valued[one], own.vectors[one], own.topics[one]
            alone = OwnFacts(own.facts[one], own.attributes[one], *arrays)
            context = Context(request, terms, Knowledge(), model, cache=cache, own=alone)
            stays[at] = not decide(context, brief=True).disclosed
        progress("sending requests", done / len(texts))
    return stays


def bits_of(kinds: Sequence[Flags]) -> Silence:
    """What silence tells of a fact, of whatever kind; ``kinds``: of each, which facts stay.

    Of a fact that stays: log2 of how many facts its kind has over how many of them stay. The mean
    is the mutual information of the fact and all answers, less what the facts say that were sent;
    it is corrected for the small numbers of facts (Miller and Madow 1955).
    """
    sizes = np.array([len(each) for each in kinds])
    shares, weights = np.array([each.mean() for each in kinds]), sizes / sizes.sum()
    sent, logs = 1 - shares, np.log2(np.where(shares > 0, shares, 1))
    bits = -shares * logs + (shares > 0) * sent / (2 * sizes * np.log(2))
    errors = (logs + 1 / np.log(2)) ** 2 * shares * sent / sizes
    return Silence(
        facts=int(sizes.sum()),
        sent=float(weights @ sent),
        bits=float(weights @ bits),
        error=float(np.sqrt(weights**2 @ errors)),
        most=float(0 - logs.min()),
        whole=float(weights @ np.log2(sizes)),
    )


def page_of(families: Mapping[str, Silence]) -> str:
    """A table of the families, and what it means, in 80 columns."""
    every, rows = families[ALL], list[tuple[str, ...]]()
    for name, e in families.items():
        bits = f"{e.bits:.2f} ± {e.error:.2f}"
        rows.append((name, f"{e.facts}", f"{e.sent:.0%}", bits, f"{e.most:.1f}", f"{e.whole:.1f}"))
    never = every.bits / (1 - every.sent or 1)
    means = TEXTS["silence"].format(every=every, never=never)
    return f"{table([wide('family'), *map(numeric, HEAD)], rows)}\n\n{paragraph(means)}"
