"""SOURCES.md says what the modules compute, and stated.py what the paper has."""

import re
from collections.abc import Iterator
from importlib.resources import files

from agent.build.log.schema import BY_LABEL
from agent.lab.questions.defaults import (
    prices,
    rankings,
    rated_prices,
    rates,
    totals,
    unwilling,
    within_outcomes,
)
from agent.lab.questions.ratings import MAPPED
from agent.lab.questions.survey import (
    BELIEVE_STORED,
    BELIEVED,
    LOCATION,
    ORDERS,
    OUTCOMES,
    QUESTIONS,
    STORAGE,
    WILLING,
    WOULD_SHARE,
)

TEXT = (files("agent.lab.questions") / "SOURCES.md").read_text()


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
            f"{each.outcome.cost:.2f}",
            f"{each.bits:.2f} ({each.priced} of {len(each.outcome.labels)})"
            if each.priced
            else f"none of {len(each.outcome.labels)} has one",
        )
        for each in totals()
    ]
    assert f"contradicted is {within_outcomes():.2f} " in TEXT.replace("\n", " ")


def test_the_page_has_every_disagreement() -> None:
    """Shares and orders, with their figures."""
    told = " ".join(cell for row in rows("the paper") for cell in row)
    for label, (paper, adults) in rates().items():
        assert percent(paper) in told
        assert percent(round(adults, 3 if label == "DMTL" else 2)) in told
    for share in {*unwilling().values()}:
        assert percent(round(share, 2)) in told
    for each in rankings():
        assert f"{abs(each.difference):.2f} ± {each.half_width:.2f}" in told
        for part in (each.higher, each.lower):
            assert percent(round(part, 2)) in told


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


def test_every_number_is_of_a_question_that_was_asked() -> None:
    """Of a thing, as a share."""
    for question, shares in ((WILLING, WOULD_SHARE), (BELIEVED, BELIEVE_STORED)):
        assert question.scale == "yes"
        for thing, share in shares.items():
            question.check(thing)
            assert 0 < share < 1
    for order in ORDERS:
        for question, thing in order:
            question.check(thing)
    assert all({*each.labels} <= {*BY_LABEL} for each in OUTCOMES)


def test_the_questions_of_figures_1_to_5() -> None:
    """Each has a figure, and no thing twice."""
    assert {each.place.partition("Fig. ")[2][0] for each in QUESTIONS} == {*"12345"}
    assert all(len({*each.things}) == len(each.things) for each in QUESTIONS)
    assert LOCATION.things[0] == "region"
    assert "topics" in STORAGE.things
