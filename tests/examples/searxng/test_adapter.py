"""What a search becomes by what it was told, whatever that is."""

import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.file import read, shipped_model
from examples.search_service.attributes import asked_of as helpful
from examples.searxng import __main__
from examples.searxng.__main__ import PYTHON, SHARE, main, prepared
from examples.searxng.adapter import INTERESTS, asked_of, categories_for, language_for
from tests.examples.searxng.serving import answers, free, started
from tests.house.tree import ran
from tests.waiting import PATIENCE

KNOWN = frozenset(
    ["de", "de-AT", "de-DE", "en", "en-GB", "en-IN", "en-US", "es-MX", "pt-BR", "sv-SE", "zh"]
)
ASKED = asked_of(KNOWN)
USUAL = ("all", "auto", "de", "en", "en-GB", "en-US", "es", "fr-CA", "sv-SE")
facts = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(may) for name, may in ASKED.items()}
)
usuals = st.sampled_from(USUAL)


def tongue(code: str) -> str:
    """Return a code without its region."""
    return code.partition("-")[0]


@given(facts, usuals)
def test_the_language_is_one_that_the_engine_knows(told: dict[str, str], usual: str) -> None:
    """Or the one that the search had."""
    assert language_for(told, usual, KNOWN) in {*KNOWN, usual}


@given(facts, usuals)
def test_a_region_narrows_a_language_and_never_changes_it(told: dict[str, str], usual: str) -> None:
    """Nobody in Mexico who searches in English is sent to Spanish pages."""
    found = language_for(told, usual, KNOWN)
    assert tongue(found) == tongue(told.get("language", usual))


@given(facts, usuals)
def test_the_language_told_decides(told: dict[str, str], usual: str) -> None:
    """With the region that it names; else with the country, if the engine has that."""
    language, country = told.get("language", usual), told.get("country")
    found = language_for(told, usual, KNOWN)
    if "language" in told and "-" in language:
        assert found == language
    elif country is not None and f"{tongue(language)}-{country}" in KNOWN:
        assert found == f"{tongue(language)}-{country}"


@given(facts.filter(lambda told: not told.keys() & {"language", "country", "region"}), usuals)
def test_without_a_place_nothing_changes(told: dict[str, str], usual: str) -> None:
    """Nor for the facts that say something else."""
    assert language_for(told, usual, KNOWN) == usual


@given(facts)
def test_a_category_needs_its_fact(told: dict[str, str]) -> None:
    """A no says nothing, and each comes once."""
    found = categories_for(told)
    assert ("it" in found) == any(told.get(each) == "yes" for each in INTERESTS)
    assert ("science" in found) == (told.get("student") in {"yes", "full_time", "part_time"})
    assert set(found) <= {"it", "science"}
    assert len({*found}) == len(found)


@pytest.mark.parametrize(
    ("told", "usual", "language"),
    [
        ({"region": "uk_ireland_anz"}, "en-US", "en-GB"),
        ({"region": "midwest"}, "en", "en-US"),
        ({"region": "latin_america"}, "es", "es-MX"),
        ({"region": "latin_america"}, "en-US", "en-US"),
        ({"region": "south_asia", "country": "AT"}, "en-US", "en-US"),
        ({"language": "de", "region": "south_asia"}, "en-US", "de"),
        ({"language": "de", "country": "AT"}, "en-US", "de-AT"),
        ({"language": "de-DE", "country": "AT"}, "en-US", "de-DE"),
        ({"language": "sv"}, "en-US", "sv-SE"),
        ({"region": "usa_canada"}, "all", "all"),
    ],
)
def test_as_the_table_of_the_readme_says(told: dict[str, str], usual: str, language: str) -> None:
    """One line for each case."""
    assert language_for(told, usual, KNOWN) == language


def test_what_is_asked_for_helps_some_query() -> None:
    """By one of the shipped models; each value that may come is read."""
    models = [read(shipped_model(name)) for name in ("atus", "so2017")]
    usable = {each.name: each for model in models for each in helpful(model)}
    assert {*ASKED} - {"language", "country"} <= {*usable}
    for each in (each for model in models for each in model.attributes if each.name in ASKED):
        assert {*each.values[1:]} <= {*ASKED[each.name]}


def test_without_the_package_it_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And how to get it."""
    monkeypatch.setattr(__main__, "SHARE", tmp_path / "nothing")
    assert main([]) == 1
    error, hint = capsys.readouterr().err.splitlines()
    assert error == "searxng: error: the package searx is not installed"
    assert "apt install" in hint


@pytest.mark.parametrize("port", ["0", "65536", "x"])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is written."""
    with pytest.raises(SystemExit, match="2"):
        main([f"--port={port}"])
    assert "--port" in capsys.readouterr().err


def test_its_settings_are_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a secret of their own each time, wherever the folder lies; Debian's are not touched."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    secrets = set()
    for name in ("a", 'b "quoted" $name: #'):
        folder = tmp_path / name
        folder.mkdir()
        environment = prepared(folder, 8711)
        assert "PYTHONHOME" not in environment
        settings = Path(environment["SEARX_SETTINGS_PATH"])
        assert settings.stat().st_mode & 0o777 == 0o600
        script = "import searx; s = searx.settings; print(s['server']['secret_key'], s['ui'])"
        said = ran(PYTHON, "-c", script, cwd=folder, env=environment).stdout
        secrets.add(said.split()[0])
        assert repr(str(folder / "static")) in said
    assert len(secrets) == 2
    assert min(map(len, secrets)) == 64
    assert not (SHARE / "static/plugins/external_plugins").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_whole(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine too, which a terminal's Ctrl-C may not reach, and nothing of it is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    port = free()
    with started(port) as program:
        assert [*tmp_path.iterdir()] != []
        program.send_signal(number)
        assert program.wait(PATIENCE) == 0
    assert [*tmp_path.iterdir()] == []
    assert not answers(port)
