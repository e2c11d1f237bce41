"""SOURCES.md says what the modules compute, and where the two surveys agree or do not."""

import re
from collections.abc import Iterator
from importlib.resources import files
from math import sqrt

import numpy as np

from agent.build.log import BY_LABEL
from agent.lab.paper.survey import (
    DOUBLED_BITS,
    MAPPED,
    OUTCOMES,
    PRICES,
    WOULD_SHARE,
    adults,
    prices,
    rated_prices,
    within_outcomes,
)

TEXT = (files("agent.lab.questions") / "SOURCES.md").read_text()
DOUBLED = PRICES.index(DOUBLED_BITS) + 1  # who rates so or below shares for twice the speed
# What the paper asked beside attributes, and the item of the second survey nearest to it.
ITEMS = {**MAPPED, "city": ("location",), "1 year": ("birthdate",), "topics": ("website",)}
ORDERS = (  # what the paper found less sensitive than what, where both have items (6.1, 6.2)
    *(("TNWS", "THEA"), ("TNWS", "TSOC"), ("ACLK", "ACRY")),
    *(("city", "topics"), ("1 year", "topics")),
)


def rows(heading: str) -> Iterator[list[str]]:
    """Yield the rows of the table below a heading of its first column."""
    _, _, rest = TEXT.partition(f"| {heading} |")
    for line in rest.splitlines()[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def percent(share: float) -> str:
    """Return a share as the page has it, with as many digits as it has."""
    return f"{100 * share:g} %"


def test_the_page_has_every_price() -> None:
    """By name and label, to two digits, and nothing else."""
    told = {
        (name, label): bits
        for names, labels, bits, _ in rows("attribute")
        for name, label in zip(re.findall(r"`(\w+)`", names), labels.split(", "), strict=True)
    }
    assert told == {
        (BY_LABEL[label].name, label): f"{price.bits:.2f}" for label, price in prices().items()
    }


def test_the_page_names_the_source_of_every_price() -> None:
    """And where the paper has it, its share."""
    for _, labels, _, source in rows("attribute"):
        for label in labels.split(", "):
            stated, rated = prices()[label].source, rated_prices().get(label)
            if label in WOULD_SHARE:
                assert source.startswith(f"{stated}, {percent(WOULD_SHARE[label])}")
                assert rated is None or f"{rated.bits:.2f}" in source
            else:
                assert source.startswith("adults_2020, ")


def test_the_page_has_the_sets_of_figure_11() -> None:
    """What each may cost, and what our prices come to."""
    assert [(cap.split()[0], ours) for _, cap, ours in rows("set")] == [
        (
            f"{each.cost:.2f}",
            f"{sum(bits):.2f} ({len(bits)} of {len(each.labels)})"
            if bits
            else f"none of {len(each.labels)} has one",
        )
        for each in OUTCOMES
        for bits in [[prices()[label].bits for label in each.labels if label in prices()]]
    ]
    assert f"contradicted is {within_outcomes():.2f} " in TEXT.replace("\n", " ")


def test_the_page_has_every_disagreement() -> None:
    """Shares and orders, with their figures."""
    told = " ".join(cell for row in rows("the paper") for cell in row)
    shares = {label: adults().share(items, DOUBLED) for label, items in MAPPED.items()}
    assert shares.keys() & WOULD_SHARE.keys() == {"DAGE", "DMTL"}
    for label in ("DAGE", "DMTL"):
        assert percent(WOULD_SHARE[label]) in told
        assert percent(round(shares[label], 3 if label == "DMTL" else 2)) in told
    unwilling = {label for label, share in shares.items() if share <= 1 / 2}
    assert unwilling == {"AZIP", "ACTY", "ACRY", "THEA"}
    assert all(percent(round(shares[label], 2)) in told for label in unwilling)
    against = []
    for less, more in ORDERS:
        steps = adults().of(ITEMS[more]).astype(float) - adults().of(ITEMS[less])
        difference, half = float(steps.mean()), 1.96 * float(steps.std(ddof=1)) / sqrt(len(steps))
        assert f"{abs(difference):.2f} ± {half:.2f}" in told
        for part in (steps > 0, steps < 0):
            assert percent(round(float(np.mean(part)), 2)) in told
        against += [] if difference > half else [(less, more)]
    assert against == [("city", "topics")]


def test_the_page_says_why_an_attribute_has_an_item_or_none() -> None:
    """Each label of Table 1 once: in the table of items, or below it."""
    mapped = {
        label: tuple(re.findall(r"`(\w+)`", items))
        for labels, items, _ in rows("label")
        for label in labels.split(", ")
    }
    assert mapped == {**MAPPED}
    _, _, rest = TEXT.partition("No item fits")
    others = re.findall(r"\b[ADT][A-Z]{3}\b", rest.partition("## ")[0])
    assert sorted(others) == sorted({*BY_LABEL} - {*MAPPED})
