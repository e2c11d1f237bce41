"""The table of search engines: what it says is in the form that their makers document."""

import re
from itertools import product
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy import settings
from policy.hosts import host_of, site_of
from policy.read import preset, read
from policy.rules import Pools
from policy.sections import PRESETS
from policy.services import SearchEngine, codes, engine_at, engines

NAMES = ("language", "country")
FORMS = {  # of the values, by the parameter
    "country": "[A-Z]{2}",
    "gl": "[a-z]{2}",
    "hl": "[a-z]{2}|zh-(CN|TW)",
    "kl": "[a-z]{2}-t?[a-z]{2}",
    "language": "[a-z]{2}|zh-(CN|TW)",
    "mkt": "[a-z]{2}-[A-Z]{2}",
    "search_lang": "[a-z]{2}|zh-han[st]",
}
TOLD = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(["unspecified", *codes(name)]) for name in NAMES}
)


@pytest.mark.parametrize("engine", engines().values(), ids=engines())
def test_the_table_is_sound(engine: SearchEngine) -> None:
    """Each parameter once, of what there is, with values in their form; sources on the web."""
    assert engine.source.startswith("https://")
    assert engine.title
    assert all(each == host_of(each) == site_of(each) for each in engine.domains)
    assert len({each.name for each in engine.parameters}) == len(engine.parameters) > 0
    for each in engine.parameters:
        assert 0 < len(each.of) == len({*each.of} & {*NAMES})
        assert not {text.lower() for text in each.same} & each.other.keys()
        assert len({*each.same}) == len(each.same)
        assert len({*each.values.values()}) == len(each.values)
        for key, value in each.values.items():
            assert re.fullmatch(FORMS[each.name], value)
            assert all(
                value in codes(name) for name, value in zip(each.of, key.split("-"), strict=True)
            )


def test_the_codes_are_of_the_lists() -> None:
    """Two letters of ISO 639-1 or 3166-1; Chinese by its script."""
    assert all(re.fullmatch("[a-z]{2}|zh_han[st]", each) for each in codes("language"))
    assert all(re.fullmatch("[a-z]{2}", each) for each in codes("country"))
    assert not {"uk", "el", "ja"} & {*codes("country")}  # of languages, or of no list
    assert not {"gb", "gr", "jp"} & {*codes("language")}


def test_rules_name_these_engines_and_no_preset_uses_one() -> None:
    """All are off until a rule lists one."""
    assert {*get_args(settings.Engine)} == engines().keys()
    for name in PRESETS:
        used = {key for rule in preset(name) for key in rule.settings}
        assert not used & {"search", "engine"}


@given(st.sampled_from([*engines().values()]), TOLD)
def test_a_parameter_is_made_of_what_is_told_alone(
    engine: SearchEngine, told: dict[str, str]
) -> None:
    """It is there only where all that it says is told, and then depends on nothing else."""
    sent = engine.address(told)
    for each in engine.parameters:
        if each.name in sent:
            assert {*each.of} <= engine.needs(told) <= told.keys()
            assert sent[each.name] == engine.address({n: told[n] for n in each.of})[each.name]
    assert engine.address({n: told[n] for n in engine.needs(told)}) == sent


@given(st.sampled_from([*engines().values()]), st.sets(st.sampled_from(NAMES)))
def test_what_is_needed_depends_on_the_names(engine: SearchEngine, names: set[str]) -> None:
    """And some value of it is documented, or there is no use in telling it."""
    needed = engine.needs(names)
    assert needed <= names
    assert needed == engine.needs(needed)
    values = product(*(codes(name) for name in sorted(needed)))
    assert not needed or any(
        engine.address(dict(zip(sorted(needed), each, strict=True))) for each in values
    )


@pytest.mark.parametrize(
    "text",
    [
        "[x]\ntitle = 'X'\ndomains = []\nsource = 'https://x.example'\n",
        "[x]\ntitle = 'X'\ndomains = []\nsource = ''\nparameters = [{ name = 'a' }]",
        "[x]\ntitle = 'X'\ndomains = 'x'\nsource = ''\nparameters = []",
        "[x]\ntitle = 'X'\ndomains = []\nsource = ''\nparameters = []\nmore = 1",
    ],
)
def test_a_table_of_another_form_is_refused(text: str) -> None:
    """Nothing that is missing or unknown is passed over."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.toml.decode(text, type=dict[str, SearchEngine])


def test_the_domains_of_an_engine_are_one_recipient() -> None:
    """Of that engine only, whoever else is called like it."""
    pools = Pools({})
    assert {pools.of(each) for each in engines()["google"].domains} == {"google.com"}
    assert pools.of("www.google.co.uk") == "google.com"
    for other in ("google.example", "google.com.evil.example", "google.github.io", "bing.com"):
        assert pools.of(other) == site_of(other)
    assert engine_at("google.github.io") is None
    assert engine_at("html.duckduckgo.com") == "duckduckgo"


def test_a_group_with_one_domain_of_an_engine_has_all() -> None:
    """But for those that are in another group."""
    text = "[groups]\nads = ['google.de', 'ads.example']\nfrench = ['google.fr']\n"
    pools = Pools(read(text, "test", preset).groups)
    assert pools.of("google.com") == pools.of("www.google.at") == pools.of("ads.example") == "@ads"
    assert pools.of("google.fr") == "@french"
    assert pools.of("duckduckgo.com") == "duckduckgo.com"
