"""Policies: how long it takes to load one, and to match a request."""

import time
from collections.abc import Iterator
from datetime import date
from functools import partial
from itertools import product

import numpy as np

from agent.model.file import read as read_model
from agent.model.file import shipped_model
from policy.match import Rulebook
from policy.precedence import known
from policy.read import preset, read
from policy.rules import Policy
from tests.bench.timing import at, timed

RULES, GROUPS, HOSTS = 300, 25, 400
REQUESTS, RUNS = 6000, 5
TODAY = date(2027, 3, 1)
TOPICS = ("python", "flu", "shoes", "travel", "loans", "news", "films", "games", "garden", "visa")
Asked = tuple[str, str]

KINDS = ("how to", "best", "cheap", "symptoms of", "near me", "what is", "2027", "used")


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    names = [each.name for each in read_model(shipped_model("so2017")).attributes]
    text = written(names)
    first = timed(partial(read, text, "written", preset))
    loads = [timed(partial(read, text, "written", preset)) for _ in range(30)]
    yield (
        f"loading a policy of {RULES} rules: p50 {at(loads, 50)} ms, p99 {at(loads, 99)} "
        f"(bar: 20); the first of a process, with the public suffixes: {first:.3g}"
    )
    policy = read(text, "written", preset)
    made = [timed(partial(Rulebook, policy, known(*names))) for _ in range(30)]
    yield f"making it ready to match: p50 {at(made, 50)} ms, once for a policy"
    yield from _matching(policy, names)


def _matching(policy: Policy, names: list[str]) -> Iterator[str]:
    """Time requests whose combination of rules, host or neither was met before.

    Each as the best of a few rulebooks that are asked the same, so that what else runs on the
    machine does not count.
    """
    requests = _requests()
    runs = [[*_answered(Rulebook(policy, known(*names)), requests)] for _ in range(RUNS)]
    times: dict[str, list[float]] = {}
    for same in zip(*runs, strict=True):
        times.setdefault(same[0][0], []).append(min(took for _, took in same))
    for which, each in sorted(times.items()):
        yield (
            f"matching a request, {which} ({len(each)} of them): p50 {at(each, 50)} us, "
            f"p99 {at(each, 99)}, worst {at(each, 100)} (bar: 50)"
        )
    yield from _read_out(policy, names, requests)


def _read_out(policy: Policy, names: list[str], requests: list[Asked]) -> Iterator[str]:
    """Time the same where what is ruled of every attribute is read, too."""

    def everything(rulebook: Rulebook, asked: Asked) -> None:
        for verdicts in rulebook.match(*asked, TODAY).attributes.values():
            assert verdicts

    rulebooks = [Rulebook(policy, known(*names)) for _ in range(RUNS)]
    best = [
        min(1e3 * timed(partial(everything, rulebook, asked)) for rulebook in rulebooks)
        for asked in requests
    ]
    yield (
        f"all of these, with what is ruled of each of {len(names)} attributes: "
        f"p50 {at(best, 50)} us, p99 {at(best, 99)}"
    )


def _requests() -> list[Asked]:
    """Return requests in an order that is always the same, each once."""
    everything = [
        (f"{sub}site{site}.example", f"{kind} {topic}")
        for sub, site, kind, topic in product(("", "www."), range(HOSTS), KINDS, TOPICS)
    ]
    order = np.random.default_rng(0).permutation(len(everything))
    return [everything[place] for place in order[:REQUESTS]]


def _answered(rulebook: Rulebook, requests: list[Asked]) -> Iterator[tuple[str, float]]:
    """Yield what was new to a rulebook in each request, and the microseconds it took."""
    kept, hosts = [], set[str]()  # kept, so that no two have one identity
    combinations = set[int]()
    for asked in requests:
        start = time.perf_counter()
        ruling = rulebook.match(*asked, TODAY)
        took = (time.perf_counter() - start) * 1e6
        if id(ruling.settings) not in combinations:
            yield "a combination of rules never met", took
        elif asked[0] not in hosts:
            yield "a new host, a combination met before", took
        else:
            yield "both met before", took
        kept.append(ruling.settings)
        combinations.add(id(ruling.settings))
        hosts.add(asked[0])


def written(names: list[str]) -> str:
    """Return a policy as somebody with many wishes writes it: as many rules of each kind."""
    lines = ['preset = "balanced"', "lambda = 4.0", "", "[groups]"]
    for group in range(GROUPS):
        members = ", ".join(f'"*.site{site}.example"' for site in range(group, 200, GROUPS))
        lines.append(f"group{group} = [{members}]")
    blocked = [f"{kind} {topic}" for kind, topic in zip(KINDS * 5, TOPICS * 4, strict=True)]
    lines += ["", "[queries]", f"block = {[*blocked[::4], 'pregnan*', 'debt']}", "", "[attributes]"]
    lines += [f'{name} = "{"ask" if at % 3 else "never"}"' for at, name in enumerate(names[::2])]
    lines += ['"dev_*" = { disclose = "auto", sensitivity = 0.1 }']
    for number in range(RULES):
        lines += ["", "[[rule]]", f'name = "wish {number}"', *_wish(number, names)]
    return "\n".join(lines) + "\n"


def _wish(number: int, names: list[str]) -> list[str]:
    """Return the keys of one rule."""
    site = f'recipient = "site{number}.example"'
    topic, name = TOPICS[number // 6 % len(TOPICS)], names[number % len(names)]
    kinds = (
        [site, "lambda = 2.5", "k = 20"],
        [site, f'attribute = ["{name}", "int_*"]', 'disclose = "auto"'],
        [f'query = "{topic} {number % 5}*"', f'attribute = "{name}"', 'disclose = "never"'],
        [f'recipient = "group{number % GROUPS}"', f"attributes_per_request = {number % 9}"],
        [f'recipient = ["*.site{number}.example", "shop{number}.example"]', 'mode = "standing"'],
        [site, 'disclose = "ask"', "expires = 2027-12-31"],
    )
    return kinds[number % len(kinds)]
