"""Where the user lives decides whose people are counted, and which people everything names."""

from collections.abc import Iterator

import msgspec
import pytest

import agent as reticent
from agent.daemon.agent import Agent
from agent.daemon.api import status
from agent.daemon.drafts import draft
from agent.daemon.handle import handle
from agent.daemon.locale import LOCALE
from agent.daemon.model_registry import ModelRegistry
from agent.daemon.profile import change_profile
from agent.daemon.records import recipients
from agent.daemon.what_if import explain
from agent.decision.context import Limits, limits_in
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.values import Fact, country_of
from agent.model.file import SHIPPED, read, shipped_model
from agent.model.world import people_of
from agent.wire.decide import Ask
from agent.wire.state import ProfileChange
from agent.words.notices import knows_of, sent_to, who_know
from policy.services import codes
from tests.worlds.people import MONDAY, NOWHERE, SECOND, FixedRules, MemoryVault, agent_of

pytestmark = pytest.mark.usefixtures("read_once")

CHAT = "chat.example"
RULES = f'preset = "balanced"\n[[rule]]\nrecipient = "{CHAT}"\nassistant = true\n'
RULES += f'address = "https://{CHAT}/"\n'
FACTS = {"age": "35-44", "diet": "vegetarian", "pets": "dog", "household": "lives alone"}
FACTS |= {"int_python": "yes", "sex": "female", "education": "master's degree"}
ASKS = [Ask(query=query, recipient=CHAT) for query in ("dinner_tonight", "pet_food_care", "editor")]
SUPPOSED = ("as common there as in the US", "'as_in': 'the US'")


class Shipped(ModelRegistry):
    """The shipped models alone: no folder is looked into."""

    def names(self) -> list[str]:
        return [*SHIPPED]


def living_in(country: str, **more: str) -> Agent:
    """Return the unlocked agent of somebody with these facts who lives in a country."""
    agent, vault = agent_of(FixedRules(RULES), None, None), MemoryVault({}, LOCALE)
    agent.registry, agent.vault = Shipped(NOWHERE), vault
    agent.opened(vault, MONDAY)
    values = FACTS | more | ({"country": country} if country else {})
    change_profile(ProfileChange(set=values), MONDAY, agent)
    return agent


def texts_of(agent: Agent) -> Iterator[str]:
    """Yield all that is said of some requests, as messages and in words."""
    for number, ask in enumerate(ASKS):
        now = MONDAY + number * SECOND
        answer = handle(ask, now, agent)
        for each in (draft(ask, now, agent), answer, explain(ask, now, agent)):
            yield str(msgspec.to_builtins(each))
        assert answer.summary is not None
        left, among = answer.summary.people_left, answer.summary.among
        yield sent_to(CHAT, [*answer.attributes], left=left, among=among)
    known = recipients(MONDAY, agent, recipient=CHAT)
    yield from (who_know(known), *map(knows_of, known), str(msgspec.to_builtins(known)))


@pytest.mark.parametrize("country", ["de", "is", "us", ""])
def test_everything_names_the_people_of_the_users_country(country: str) -> None:
    """Nothing those of the US where that is another, and each such text says what it supposes."""
    texts, elsewhere = [*texts_of(living_in(country))], country in ("de", "is")
    people = f"people in {people_of(country)[0]}" if elsewhere else "people of the US"
    named = [each for each in texts if people in each]
    assert len(named) > len(ASKS)
    assert any("of the US" in each for each in texts) != elsewhere
    for each in named if elsewhere else texts:
        assert any(text in each for text in SUPPOSED) == elsewhere


@pytest.mark.parametrize("home", ["us", "de"])
def test_the_country_is_not_counted(home: str) -> None:
    """The network address tells it: with it as many look alike as without."""
    [world] = living_in(home).usable_models(MONDAY)
    known = Knowledge().with_facts({"age": 4, "diet": 2})
    assert people_left(known.with_facts({"country": 1}), world) == people_left(known, world)


def test_the_people_change_with_the_country() -> None:
    """At once, and back again where it is unset; a locked vault says no country."""
    agent = living_in("de")
    for new, people in (({"country": "fr"}, "people in France"), ({}, "people of the US")):
        gone = [] if new else ["country"]
        change_profile(ProfileChange(set=new, unset=gone), MONDAY, agent)
        assert agent.model_for("news.example", MONDAY).stands_for.startswith(people)
        least = "at least 1,400 real" if new else "at least 700 real"
        assert least in agent.rules.status(MONDAY.date()).limits
    change_profile(ProfileChange(set={"country": "de"}), MONDAY, agent)
    assert agent.registry.country == "de"
    agent.lock()
    assert agent.registry.country == ""


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "fr_FR", "xx_ZZ", "C.UTF-8"])
def test_the_locale_says_where_no_fact_does(locale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a vault from before, and again once the country is unset; and the status says so."""
    monkeypatch.setenv("LC_ALL", locale)
    by_locale = {"de_DE.UTF-8": "de", "fr_FR": "fr"}.get(locale, "")
    people = people_of(by_locale)[0] if by_locale else "the US"
    agent = living_in("")
    for facts in ({}, {"place": "Ohio"}, {"country": "is"}):
        assert agent.registry.country == by_locale
        change_profile(ProfileChange(set=facts), MONDAY, agent)
        assert agent.registry.country == facts.get("country", "" if facts else by_locale)
        change_profile(ProfileChange(unset=[*facts]), MONDAY, agent)
        assert agent.registry.country == by_locale
        assert people in str(status(MONDAY, agent).people)
    agent.lock()
    assert status(MONDAY, agent).people is None


def test_what_two_people_do_not_tell_changes_nothing() -> None:
    """The country is an open term: of two people there who differ in the rest, answers agree."""
    one, other = (living_in("de", income=e) for e in ("under 20,000", "85,000-150,000"))
    for ask in ASKS:
        answers = [handle(ask, MONDAY, each) for each in (one, other)]
        assert answers[0] == answers[1]


def test_facts_name_a_country_or_none() -> None:
    """By a code that is known; what may stand there otherwise is none."""
    for value, country in (("de", "de"), ("unspecified", ""), ("everyday:other", "")):
        for kind in ("country", "language"):
            fact = Fact(id="1", kind=kind, value=value, set_at=MONDAY)
            assert country_of([fact]) == (country if kind == "country" else "")
    for each in LOCALE.attributes:  # all that search engines have a parameter for, and more
        assert {*codes(each.name)} <= {*each.values}


def test_a_program_says_where_its_user_lives() -> None:
    """Whose limits then count double, since nobody knows how far the figures are off."""
    engine, limits = reticent.open("everyday", country="de"), Limits(k=1000, risk=0.01)
    among = engine.decide("dinner_tonight", at_least=1000).among
    assert among is not None
    assert (among.people, among.as_in) == ("people in Germany", "the US")
    assert limits_in(engine.models[0], limits) == Limits(k=2000, risk=0.005)
    assert limits_in(read(shipped_model()), limits) == limits
