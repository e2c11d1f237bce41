"""The rules in force, ready to be asked: who pools, by which model, and under which terms."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.active_policy import ActivePolicy
from agent.errors import UsageError
from policy.read import preset, read
from tests.daemon.doubles import MONDAY
from tests.daemon.people import MODEL
from tests.decision.made import NAMES, made_model

GOOD = "lambda = 1.0\n"
MANY = """
[groups]
shops = ["shop.example", "books.example"]
[[rule]]
recipient = "shop.example"
query = "python"
model = "other"
[[rule]]
attribute = "regoin"
disclose = "never"
"""


def in_force(text: str) -> ActivePolicy:
    """Return rules in force."""
    return ActivePolicy(read(text, "test", preset))


def test_a_rule_chooses_the_model() -> None:
    """For its requests only; else it is the shipped one."""
    rules, today = in_force(MANY), MONDAY.date()
    assert rules.model("www.shop.example", "python today", today) == "other"
    assert rules.model("shop.example", "weather", today) is None
    assert in_force(GOOD).model("shop.example", "python today", today) is None
    assert ActivePolicy(None).model("shop.example", "python today", today) is None


def test_a_pool_is_named_by_a_host_or_by_its_group() -> None:
    """Anything else is an error that says so."""
    rules = in_force(MANY)
    for recipient in ("https://www.books.example/a", "shop.example:443", "@shops"):
        assert rules.pool(recipient) == "@shops"
    assert rules.pool("a.other.example") == "other.example"
    for recipient in ("@shop", "shops!", "@"):
        with pytest.raises(UsageError):
            rules.pool(recipient)


TEXT = f"{GOOD}[[rule]]\nrecipient = 'shop.example'\nlambda = 2.0\nexpires = 2027-03-20\n"
RULES = in_force(TEXT)


@given(st.sampled_from(["shop.example", "www.shop.example", "books.example"]), st.integers(0, 60))
def test_terms_are_those_of_the_rules_on_the_day(host: str, day: int) -> None:
    """What is remembered for one request is no other's."""
    today = (MONDAY + timedelta(days=day)).date()
    terms = RULES.terms(MODEL, host, "python today", today)
    fresh = in_force(TEXT).terms(MODEL, host, "python today", today)
    assert terms == fresh
    assert terms is not None
    assert terms.ruling is not None
    assert (terms.ruling.host, terms.trade_off) == (
        host,
        2.0 if host != "books.example" and day < 20 else 1.0,
    )


def test_a_misspelt_attribute_is_remarked_on() -> None:
    """By the attributes of the models there are."""
    rules = in_force(MANY)
    [remark] = rules.misspelt([MODEL])
    assert "region" in remark
    assert rules.misspelt([]) == ()


def test_what_a_rule_nearly_names_is_excluded() -> None:
    """In every request that the rule is for, and for nobody else."""
    rules = in_force("[[rule]]\nrecipient = 'a.example'\nattribute = 'reigon'\ndisclose = 'ask'")
    for host, kept in (("a.example", {"region"}), ("b.example", set())):
        terms = rules.terms(MODEL, host, "q", MONDAY.date())
        assert terms is not None
        assert terms.excluded == kept


def test_two_models_have_rules_of_their_own() -> None:
    """And the same model has the same."""
    rules = in_force(GOOD)
    assert rules.book(MODEL) is rules.book(MODEL)
    assert rules.book(MODEL) is not rules.book(made_model(2))
    assert ActivePolicy(None).book(MODEL) is None
    book = rules.book(MODEL)
    assert book is not None
    assert {*NAMES} == {*book.match("a.example", "q", MONDAY.date()).attributes}
