"""`reticent policy attributes`: what may leave, what it must bring, and the rule that says so."""

import msgspec
import pytest

from agent.errors import UsageError
from agent.wire.policy import AttributeStatus
from tests.cli.conftest import Run
from tests.cli.policing import HOURS, ODD, REGION
from tests.wire.fake import FakeDaemon, says


@pytest.fixture(autouse=True)
def _attributes(fake: FakeDaemon) -> None:
    """A daemon that knows two attributes."""
    fake.handlers["attributes"] = says([REGION, HOURS])


def test_the_table_says_what_each_may_do(run: Run, fake: FakeDaemon) -> None:
    """For one recipient, or for whoever no rule names."""
    ran = run("policy", "attributes", "--recipient", "@adverts")
    assert (ran.code, ran.err) == (0, "")
    assert fake.calls == [("attributes", {"recipient": "@adverts"})]
    said = " ".join(ran.out.split())
    assert said.startswith("What the policy says of the attributes of village, for @adverts.")
    assert "region guarded (2) 0.250 attributes.region, line Region, finer 4 than country" in said
    assert "hours auto 0.000 preset strict Within hours, of the request" in said
    assert max(map(len, ran.out.splitlines())) <= 80
    said = " ".join(run("policy", "attributes").out.split())
    assert "of village, for recipients without rules of their own." in said


def test_the_object_holds_the_messages(run: Run) -> None:
    """As openapi.json describes them."""
    found = run("policy", "attributes", "--json").record["attributes"]
    assert msgspec.convert(found, list[AttributeStatus]) == [REGION, HOURS]


def test_nothing_of_a_model_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """A model without attributes is no defect either."""
    fake.handlers["attributes"] = says([ODD])
    out = run("policy", "attributes").out
    assert "\x1b" not in out
    fake.handlers["attributes"] = says([])
    assert run("policy", "attributes").out == "The model in use has no attributes.\n"


def test_a_recipient_that_is_none_is_an_error(run: Run, fake: FakeDaemon) -> None:
    """In the daemon's words."""

    def unknown(recipient: str) -> None:
        raise UsageError(f"{recipient!r} is not a host name", "name one")

    fake.handlers["attributes"] = unknown
    assert run("policy", "attributes", "--recipient", "?").refusal() == (
        "'?' is not a host name",
        "name one",
    )
