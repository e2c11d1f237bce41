"""How long the shipped models take to read a text, and how well they tell which facts help.

By five invented people, whose facts in own words were judged request by request. The model learnt
from them what each sign is worth; so ranks are by what it would have learnt from the other four.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

import agent
from agent.build.kinds import lines_of, read_file
from agent.build.relevance import Sheet, by_others, pairs_of
from agent.decision.cache import Cache
from agent.decision.engine import load_model
from agent.decision.own_facts import OwnFacts, chances_of
from policy.read import preset, read
from tests.bench import row, timed, timing
from tests.house.tree import ROOT

DATA = ROOT / "examples/data/everyday"
PROFILES = partial(read_file, DATA / "profiles.jsonl.gz", partial(lines_of, kind=Sheet))
PRECISION, QUESTIONS, SEED = 0.6, 70, 7
WHOM = "chat.example"
FEWEST = 700  # people left, in balanced
BALANCED = 'preset = "balanced"\n'


def reading() -> Iterator[str]:
    """Yield how long a text takes."""
    model, cache, (one, two, *_) = load_model("everyday"), Cache(), PROFILES()
    own, reads = OwnFacts.of(agent.Facts.of(one.facts), model), partial(cache.read, model)
    for what, bar, way, some in (
        ("reading a text: topics", 2, reads, one),
        ("a text read before", 0.1, reads, one),
        ("with relevance of own words", 8, lambda e: chances_of(own, e, reads(e), model, ()), two),
    ):
        yield timing(what, (bar,), [timed(partial(way, each.text)) for each in some.questions])


def relevance() -> Iterator[str]:
    """Yield how well the model everyday ranks facts, and what is sent by that."""
    model, profiles = load_model("everyday"), PROFILES()
    levels = np.concatenate([e.levels() for e in profiles])
    assert model.tables.relevance is not None
    pairs = [pairs_of(model, model.tables.relevance, each) for each in profiles]
    helps, decisive = np.moveaxis(np.concatenate(by_others(pairs)), 2, 0)
    for what, bar, least, scores in (("decides", 0.4, 1, decisive), ("helps", 0.55, 0, helps)):
        rows = [one for one in zip(levels > least, scores, strict=True) if one[0].any()]
        found = average_precision_score(levels.ravel() > least, scores.ravel())
        more = f"of each request {np.mean([average_precision_score(*one) for one in rows]):.2f}"
        yield row(f"average precision of what {what}", (bar,), (found,), "", more)
    precision, _, points = precision_recall_curve(levels.ravel() > 0, helps.ravel())
    over = helps >= points[np.argmax(precision >= PRECISION)]
    first = np.take_along_axis(levels, decisive.argmax(axis=1)[:, None], axis=1) > 1
    idle, some = ~levels.any(axis=1), (levels > 1).any(axis=1)
    yield row(f"decisive facts, at precision {PRECISION}", (0.6,), (over[levels > 1].mean(),), "")
    yield row("first fact decisive, where one is", (0.6,), (first[some].mean(),), "")
    yield row("a fact where none helps", (0.12,), (over[idle].any(axis=1).mean(),), "of requests")
    yield from _sent(profiles)


def _sent(profiles: Sequence[Sheet]) -> Iterator[str]:
    """Describe which kinds strangers are sent with requests of somebody who has set them all.

    Then what one assistant is sent by each person, who has room for the commonest facts first.
    """
    counts, engine, policy = Counter[str](), agent.open(), read(BALANCED, "balanced", preset)
    with (DATA / "requests.csv").open(encoding="utf-8", newline="") as file:
        for each in csv.DictReader(file):
            decisive, better = ({*each[level].split()} for level in ("decisive", "better"))
            sent = {*engine.decide(each["request"], WHOM, policy=policy).disclosed}
            if decisive | better:
                counts += Counter(sent=len(sent), helps=len(sent & (decisive | better)))
                counts += Counter(decisive=len(decisive), served=len(sent & decisive))
            else:
                counts += Counter(idle=1, carrying=bool(sent))
    helps, served = _share(counts, "helps", "sent"), _share(counts, "served", "decisive")
    idle = _share(counts, "carrying", "idle")
    yield f"kinds sent that help: {helps}; decisive ones sent: {served}; where none helps: {idle}"
    counts, room = Counter(), np.log2(engine.models[0].population.people / FEWEST)
    for profile in profiles:
        facts, knows, needed = agent.Facts.of(profile.facts), dict[str, str](), Counter[str]()
        count = min(QUESTIONS, len(profile.questions))
        for request in Random(SEED).sample(profile.questions, count):  # noqa: S311
            decision = engine.decide(request.text, WHOM, knows=knows, facts=facts, policy=policy)
            levels = {facts[at].id: level for at, level in request.helps.items()}
            sent = {*decision.share}
            counts += Counter(sent=len(sent), helps=len(sent & levels.keys()))
            needed.update({each: each in sent for each in levels if levels[each] > 1})
            knows |= dict.fromkeys(sent, "")
        shares = [e.terms.share for e in facts if e.id in needed and e.terms and e.terms.share]
        counts += Counter(decisive=len(needed), served=sum(map(bool, needed.values())))
        counts += Counter(fit=int((np.cumsum(np.sort(-np.log2(shares))) <= room).sum()))
    yield (
        f"to one assistant: of what is sent {_share(counts, 'helps', 'sent')} help (bar: 0.65); "
        f"of decisive facts {_share(counts, 'served', 'decisive')} are sent (0.60; with {FEWEST} "
        f"people left {_share(counts, 'fit', 'decisive')} at most)"
    )


def _share(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part] / counts[whole]:.2f} ({counts[part]} of {counts[whole]})"
