"""What a policy nearly names does not leave: nothing else changes, and nothing opens."""

import pytest
from hypothesis import given

from policy.match import Rulebook, known, may
from policy.read import misspelt, preset, read, with_typo_guard
from policy.rules import Policy
from tests.policy.strategies import NAMES, TODAY, Asked, Document, documents, rendered, requests

CLOSED = {"never", "guarded"}
MODEL = ("gender", "salary")
RULE = '[[rule]]\nrecipient = "a.example"\nattribute = '


def policy_of(text: str) -> Policy:
    """Return a text as a policy."""
    return read(text, "test", preset)


def ruled(text: str, host: str = "a.example") -> dict[str, str]:
    """Return what may happen to each attribute of a model under a policy."""
    book = Rulebook(with_typo_guard(policy_of(text), MODEL), known(*MODEL))
    found = book.match(host, "", TODAY).attributes
    return {name: may(found[name]) for name in MODEL}


@given(documents(), requests())
def test_it_only_ever_closes(document: Document, asked: Asked) -> None:
    """Whatever else a policy says: of requests nothing changes, and no attribute opens."""
    policy = policy_of(rendered(document))
    kept = with_typo_guard(policy, NAMES)
    before, after = (Rulebook(each, known(*NAMES)).match(*asked) for each in (policy, kept))
    assert before.settings == after.settings
    for name in NAMES:
        own, its = may(before.attributes[name]), may(after.attributes[name])
        assert its == own or its in CLOSED


@pytest.mark.parametrize(
    "word",
    ['"never"', '"ask"', "{ guard = 1 }", "{ sensitivity = 0.1 }", '{disclose="auto",guard=2}'],
)
def test_what_is_nearly_named_does_not_leave(word: str) -> None:
    """Where the rule would have closed it, whatever the right name is ruled beside."""
    text = f"[attributes]\nslary = {word}"
    assert ruled(text) == {"gender": "auto", "salary": "never"}
    assert ruled(f"{text}\nsalary = 'always'")["salary"] == "never"
    [remark] = misspelt(policy_of(text), MODEL)
    assert remark.hint == "did you mean 'salary'? until you correct it, it is not sent"


@pytest.mark.parametrize(
    "text",
    [
        "[attributes]\nslary = 'auto'",  # it was to be opened
        "[attributes]\nslary = { guard = 0 }",
        "[attributes]\nsalary = 'auto'\nshoe_size = 'never'",  # which is near to nothing
        "[attributes]\n'slar*' = 'never'",  # a pattern may be for what comes
        "[attributes]\nslary = 'never'\n[[rule]]\nrecipient = 'b.example'\nmodel = 'other'",
        f"{RULE}'slary'\ndisclose = 'never'\nexpires = 2001-01-01",
    ],
)
def test_what_is_no_slip_or_closes_nothing_is_as_before(text: str) -> None:
    """Nor where a name may be that of another model, or the rule is over."""
    assert ruled(text) == {"gender": "auto", "salary": "auto"}


def test_it_holds_for_whom_the_rule_does() -> None:
    """Beside a name that is right, too."""
    text = f"{RULE}['slary', 'gender']\ndisclose = 'never'"
    assert ruled(text)["salary"] == "never"
    assert ruled(text, "b.example")["salary"] == "auto"


def test_one_model_for_every_request_is_one() -> None:
    """Whichever it is."""
    assert ruled("model = 'other'\n[attributes]\nslary = 'never'")["salary"] == "never"


def test_what_is_more_specific_wins_as_ever() -> None:
    """As it would were the name right."""
    text = f"[attributes]\nslary = 'never'\n{RULE}'salary'\ndisclose = 'auto'"
    assert ruled(text)["salary"] == "auto"


def test_the_reason_names_the_slip() -> None:
    """With the place of the rule that has it."""
    book = Rulebook(
        with_typo_guard(policy_of("[attributes]\nslary = 'never'"), MODEL), known(*MODEL)
    )
    rule = book.match("a.example", "", TODAY).attributes["salary"]["disclose"].rule
    assert (rule.name, rule.path) == ("'slary', which nearly names salary", ("attributes", "slary"))
