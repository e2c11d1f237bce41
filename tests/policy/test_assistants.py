"""Where assistants are: a policy lists what it rules, and nothing that the network reads."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import PolicyError
from policy.match import Rulebook
from policy.read import preset, read
from policy.services import in_clear
from tests.policy.naive import claims, decided
from tests.policy.strategies import TODAY, Asked, rendered

HOSTS = ["chat.example", "a.chat.example", "shop.example", "localhost"]
FORMS = ["https://{}/", "https://{}", "http://{}:8710/", "https://{}:8443", "https://{}:443/"]


@st.composite
def documents(draw: st.DrawFn) -> Mapping[str, Any]:
    """Draw a policy of rules that say where some assistants are, and who gets nothing."""
    rules = []
    for _ in range(draw(st.integers(0, 4))):
        host, form = draw(st.sampled_from(HOSTS)), draw(st.sampled_from(FORMS))
        own = draw(st.sampled_from([host, *(each for each in HOSTS if each.endswith(host))]))
        found = st.sampled_from([{}, {"assistant": True, "address": form.format(own)}])
        switch = st.fixed_dictionaries({}, optional={"nothing": st.booleans(), "k": st.just(5)})
        rule = {**draw(found), **draw(switch)} or {"assistant": False}
        ends = {"expires": draw(st.sampled_from([date(2026, 3, 1), TODAY]))}
        rules.append({"recipient": host, **rule, **(ends if draw(st.booleans()) else {})})
    return {"rule": rules}


def origin(address: str) -> str:
    """Return what a browser calls the place of an address here."""
    return address.rstrip("/").removesuffix(":443")


@given(documents())
@example({"rule": [{"recipient": "localhost", "address": "http://localhost", "assistant": True}]})
def test_what_is_listed_is_what_is_ruled(document: Mapping[str, Any]) -> None:
    """Exactly the address that decides about its own host, of each that is let in and gets any."""
    try:
        policy = read(rendered(document), "test", preset)
    except PolicyError:
        assume(False)

    def ruled(host: str, key: str) -> set[Any]:
        found = claims(document, Asked(host, "", TODAY), key, None)
        return {claim.value for claim in decided(found, key)} if found else set()

    expected = {
        (host, origin(address))
        for host in HOSTS
        for address in ruled(host, "address")
        if origin(address).partition("://")[2].partition(":")[0] == host
        if ruled(host, "assistant") == {True} and not any(ruled(host, "nothing"))
    }
    found = {*Rulebook(policy, {}).assistants(TODAY)}
    assert found == expected
    assert not any(in_clear(place) for _, place in found)


@pytest.mark.parametrize(
    ("rule", "key", "what"),
    [
        ("assistant = true", "assistant", "nothing says where the assistant is"),
        ("address = 'https://chat.example/'", "address", "nothing says what is there"),
        ("assistant = true\naddress = 'https://a.example/'", "address", "a.example is not a"),
        ("assistant = true\naddress = 'http://chat.example/'", "address", "is not the https"),
        ("assistant = true\naddress = 'https://chat.example/new'", "address", "of a whole site"),
        ("assistant = true\nquery = 'x'\naddress = 'https://chat.example'", "assistant", "queries"),
    ],
)
def test_a_rule_that_lists_nothing_is_a_mistake(rule: str, key: str, what: str) -> None:
    """With the way out."""
    text = f"[[rule]]\nrecipient = 'chat.example'\n{rule}\n"
    with pytest.raises(PolicyError) as caught:
        read(text, "test", preset)
    found = caught.value.problems[0]
    assert found.key == f"rule[1].{key}"
    assert what in found.what
    assert found.hint


def test_a_rule_for_nobody_has_no_address() -> None:
    """An address belongs to its recipient."""
    with pytest.raises(PolicyError, match="not a recipient of this rule"):
        read("[[rule]]\naddress = 'https://a.example'\nassistant = true\n", "test", preset)


def test_a_port_that_is_none_lists_nothing() -> None:
    """Browsers go nowhere."""
    text = "[[rule]]\nrecipient = 'localhost'\naddress = 'http://localhost:0'\nassistant = true\n"
    assert not [*Rulebook(read(text, "test", preset), {}).assistants(TODAY)]
