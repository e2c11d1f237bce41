"""How well the model everyday tells which facts help, and what is sent by that.

Five invented people, whose facts in own words were judged request by request. The model learnt from
them what each sign is worth; so ranks are by what it would have learnt from the other four.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve

import agent
from agent.build.kinds import lines_of, read_file
from agent.build.relevance import Sheet, by_others, pairs_of
from agent.decision.engine import Engine, load_model
from agent.model.relevance import OWN, Floats, vectors_of
from policy.read import preset, read
from policy.rules import Policy
from tests.house.tree import ROOT

DATA = ROOT / "examples/data/everyday"
PRECISION = 0.6  # of the facts that count as helpful
QUESTIONS, SEED = 70, 7
WHOM = "chat.example"
FEWEST = 700  # people left, in balanced
OPEN = ("answered", "unknown query")  # codes of decisions that may send something new


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    profiles = read_file(DATA / "profiles.jsonl.gz", partial(lines_of, kind=Sheet))
    yield from _ranked(profiles)
    engine, policy = agent.open(), read('preset = "balanced"\n', "balanced", preset)
    yield _kinds(engine, policy)
    yield _conversations(engine, profiles, policy)


def _ranked(profiles: Sequence[Sheet]) -> Iterator[str]:
    """Yield how well cosines in each encoder, and the model, tell what helps with each request."""
    model = load_model("everyday")
    relevance, levels = model.tables.relevance, np.concatenate([e.levels() for e in profiles])
    assert relevance is not None
    places = [
        (
            vectors_of([one.text for one in each.questions], question=True),
            vectors_of(each.facts, question=False),
        )
        for each in profiles
    ]
    for name, half in (("topics", slice(OWN, None)), ("relevance", slice(OWN))):
        cosines = np.concatenate([one[:, half] @ other[:, half].T for one, other in places])
        yield f"cosine, encoder of {name}: {_ranking(levels, cosines, cosines)}"
    chances = by_others([pairs_of(model, relevance, each) for each in profiles])
    yield f"the model: {_ranking(levels, *np.moveaxis(np.concatenate(chances), 2, 0))}"


def _ranking(levels: NDArray[np.intp], helps: Floats, decisive: Floats) -> str:
    """Describe scores for helping and for being decisive; all are of shape (requests, facts)."""
    precisions = list[float]()
    for least, scores in ((1, decisive), (0, helps)):
        rows = [*zip(levels > least, scores, strict=True)]
        precisions.append(average_precision_score(levels.ravel() > least, scores.ravel()))
        precisions.append(np.mean([average_precision_score(*row) for row in rows if row[0].any()]))
    precision, _, points = precision_recall_curve(levels.ravel() > 0, helps.ravel())
    over = helps >= points[np.argmax(precision >= PRECISION)]
    first = np.take_along_axis(levels, decisive.argmax(axis=1)[:, None], axis=1) > 1
    pooled, each, pooled_helps, each_helps = precisions
    return (
        f"average precision of decisive facts {pooled:.2f} (bar: 0.40), of all that help "
        f"{pooled_helps:.2f} (0.55), by request {each:.2f} and {each_helps:.2f}; at precision "
        f"{PRECISION} recall of decisive facts {over[levels > 1].mean():.2f} (0.60), a fact where "
        f"none helps {over[~levels.any(axis=1)].any(axis=1).mean():.2f} (at most 0.12); first fact "
        f"decisive, where one is, {first[(levels > 1).any(axis=1)].mean():.2f} (0.60)"
    )


def _kinds(engine: Engine, policy: Policy) -> str:
    """Describe which kinds strangers are sent with requests of somebody who has set them all."""
    counts = Counter[str]()
    with (DATA / "requests.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            decisive, better = ({*row[each].split()} for each in ("decisive", "better"))
            sent = {*engine.decide(row["request"], WHOM, policy=policy).disclosed}
            if decisive | better:
                counts += Counter(sent=len(sent), helps=len(sent & (decisive | better)))
                counts += Counter(decisive=len(decisive), served=len(sent & decisive))
            else:
                counts += Counter(idle=1, carrying=bool(sent))
    return (
        f"kinds sent with single requests that help: {_share(counts, 'helps', 'sent')}; decisive "
        f"kinds sent: {_share(counts, 'served', 'decisive')}; look-ups that carry any: "
        f"{_share(counts, 'carrying', 'idle')}"
    )


def _conversations(engine: Engine, profiles: Sequence[Sheet], policy: Policy) -> str:
    """Describe what one assistant is sent with requests of each person, one after the other.

    Beside it, how many decisive facts the limit on people leaves room for: the commonest first.
    """
    counts, room = Counter[str](), np.log2(engine.models[0].population.people / FEWEST)
    for profile in profiles:
        facts, knows, decisive = agent.Facts.of(profile.facts), dict[str, str](), Counter[str]()
        count = min(QUESTIONS, len(profile.questions))
        for request in Random(SEED).sample(profile.questions, count):  # noqa: S311
            decision = engine.decide(request.text, WHOM, knows=knows, facts=facts, policy=policy)
            levels = {facts[at].id: level for at, level in request.helps.items()}
            sent = {*decision.share}
            counts += Counter(sent=len(sent), helps=len(sent & levels.keys()), requests=1)
            counts += Counter(new=len(sent - knows.keys()), open=decision.code in OPEN)
            decisive.update({each: each in sent for each in levels if levels[each] > 1})
            knows |= dict.fromkeys(sent, "")
        shares = [e.terms.share for e in facts if e.id in decisive and e.terms and e.terms.share]
        counts += Counter(decisive=len(decisive), served=sum(map(bool, decisive.values())))
        counts += Counter(fit=int((np.cumsum(np.sort(-np.log2(shares))) <= room).sum()))
    return (
        f"to one assistant, in balanced: of what is sent {_share(counts, 'helps', 'sent')} help "
        f"(bar: 0.65), {counts['new']} new to it; of decisive facts "
        f"{_share(counts, 'served', 'decisive')} are sent at least once (0.60; with {FEWEST} "
        f"people left {_share(counts, 'fit', 'decisive')} at most); requests with which something "
        f"new might be: {_share(counts, 'open', 'requests')}"
    )


def _share(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part] / counts[whole]:.2f} ({counts[part]} of {counts[whole]})"
