"""`reticent profile`: the user's values, masked, set, unset, and in files."""

import io
import json
import stat
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as of
from msgspec.structs import replace as changed

from agent.cli.profile_file import is_values, profile_toml, read_profile
from agent.daemon.profile import edited, figures_of
from agent.decision.cache import Cache
from agent.decision.values import FactTerms
from agent.errors import UsageError
from agent.model.file import SHIPPED, read, shipped_model, write
from agent.model.model import Concepts
from agent.paths import paths
from agent.wire.state import Changed, ProfileChange, ProfileFacts, ValueChange
from tests.cli.conftest import Run
from tests.cli.daemon import HOBBY, VILLAGE
from tests.cli.examples import cli_model
from tests.vault.test_profile import BOTH, GIVEN, profile_of
from tests.vault.values import facts_of, sexes
from tests.wire.fake import FakeDaemon, says

TEXT = 'region = "coast"\nhobby = "yes"\n'
VALUES = "agent.cli.profile"
BACK = "`reticent undo` reverts this until the vault is locked."
OLDER = Changed(
    changes=[
        ValueChange(name="region", was_set=True, is_set=True),
        ValueChange(name="hobby", was_set=False, is_set=True),
    ],
    stale={"region": ["a.example", "@shops"], "hobby": ["b"]},
)


@pytest.fixture
def village_only(fake: FakeDaemon) -> FakeDaemon:
    """A daemon whose one model is the small one, which was added."""
    ours = changed(VILLAGE, shipped=False)
    fake.handlers["models"] = says([ours, changed(ours, name="broken", problem="altered")])
    paths().models.mkdir(parents=True, exist_ok=True)
    write(cli_model(), paths().models / "village.safetensors")
    return fake


def given(patch: pytest.MonkeyPatch, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def answering(patch: pytest.MonkeyPatch, *answers: str) -> None:
    """Put somebody at a terminal who types these lines."""
    patch.setattr("agent.cli.options.at_terminal", lambda: True)
    patch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))


def _done(fake: FakeDaemon) -> list[ProfileChange]:
    return [each for each in _changes(fake) if not each.dry_run]


def _changes(fake: FakeDaemon) -> list[ProfileChange]:
    return [given["body"] for name, given in fake.calls if name == "change_profile"]


def test_facts_are_unset(run: Run, village_only: FakeDaemon) -> None:
    """What is said of it is in transcripts/answers.txt."""
    assert run("profile", "unset", "region", "hobby").code == 0
    assert _changes(village_only) == [ProfileChange(unset=["region", "hobby"])]


def test_facts_are_shown_by_family(run: Run, fake: FakeDaemon) -> None:
    """All of a kind in one line, each with the share of people who have it, unless it is masked."""
    everyday = read(shipped_model("everyday"))
    fake.handlers["models"] = says([changed(VILLAGE, name=each) for each in SHIPPED])
    nuts, fish = "everyday.allergies", "everyday.allergies_2"
    own = {nuts: "tree nuts", fish: "shellfish", "age": "35-44", "so2017.int_php": "no", "x": "y"}
    facts = facts_of(**own)
    models, cache = [everyday, read(shipped_model("so2017"))], Cache()
    figures = {each.id: figures_of(each, models, cache) for each in facts}
    fake.handlers["profile"] = says(ProfileFacts(facts=facts, figures=figures))
    shown, masked = (
        {each["kind"]: each for each in json.loads(run(*command.split()).out)["facts"]}
        for command in ("profile show --json --reveal", "profile show --json")
    )
    [kind] = (each for each in everyday.kinds if each.name == "allergies")
    people, code = everyday.population, everyday.attributes[0].code("35-44")
    having = np.average(people.columns[0] == code, weights=people.weights)
    shares = [kind.shares[kind.values.index("shellfish")], float(having)]
    assert [shown[each]["share"] for each in (fish, "age")] == pytest.approx(shares, rel=1e-3)
    assert {(each["value"], each["share"]) for each in masked.values()} == {("***", None)}
    families = "Health", "Health", "About you", "Writing software", "Other facts"
    assert tuple(shown[each]["family"] for each in own) == families
    assert shown["so2017.int_php"]["share_of"] == "people of the survey"
    page = " ".join(run("profile", "show", "--reveal").out.split())
    for country, helps in (("us", True), ("de", False)):
        fake.handlers["profile"] = says(ProfileFacts(facts=facts_of(age="35-44"), country=country))
        record = json.loads(run("profile", "show", "--json").out)
        assert ("place" in record["would_help_most"]) == helps
    rare = f"tree nuts (1 in 83); shellfish (1 in {1 / shares[0]:.0f}) helps with: what to cook"
    assert f"allergies and intolerances: {rare}" in page


def test_an_export_is_private_and_can_be_read_again(
    run: Run, village_only: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is agreed to; by `profile import`, also from a pipe, so that no shell keeps it."""
    village_only.handlers["profile"] = says(ProfileFacts(facts=facts_of(region="coast")))
    file = tmp_path / "own.toml"
    ran = run("profile", "export", file)
    assert (ran.code, ran.out, "plain text" in ran.err) == (2, "", True)
    assert (file.exists(), village_only.calls) == (False, [])
    ran = run("profile", "export", file, "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "readable by you alone" in " ".join(ran.out.split())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tomllib.loads(file.read_text()) == {"region": "coast"}
    given(monkeypatch, file.read_bytes())
    for source in (file, "-"):
        ran = run("profile", "import", source, "--yes")
        assert (ran.code, ran.out) == (0, f"Set: region.\n{BACK}\n")
    assert _done(village_only) == [ProfileChange(set={"region": "coast"})] * 2
    before = file.read_bytes()
    for arguments in (["--yes"], []):
        error, _ = run("profile", "export", file, *arguments).refusal()
        assert error.endswith("the file already exists")
    assert file.read_bytes() == before
    printed = tomllib.loads(run("profile", "export", "-", "--yes").out)
    assert printed == tomllib.loads(file.read_text())


def test_an_import_shows_what_it_changes_and_asks(
    run: Run, village_only: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, masked values, and who holds the old ones: before anything is changed."""
    file = tmp_path / "own.toml"
    file.write_text(TEXT)
    village_only.handlers["change_profile"] = says(OLDER)
    ran = run("profile", "import", file)
    assert (ran.code, ran.out) == (2, "")
    lines = [line.split() for line in ran.err.splitlines()]
    assert ["region", "***", "***", "a.example", "and", "@shops"] in lines
    assert ["hobby", "not", "set", "***", "b"] in lines
    assert "coast" not in ran.err
    assert _done(village_only) == []
    asked: list[str] = []
    monkeypatch.setattr(f"{VALUES}.agree", lambda question, **_: asked.append(question))
    assert "`reticent undo`" in run("profile", "import", file).out
    assert asked == ["Make these changes?"]
    assert len(_done(village_only)) == 1
    village_only.handlers["change_profile"] = says(Changed())
    ran = run("profile", "import", file)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Nothing changed.\n"
    assert len(asked) == 1


def test_a_city_says_in_which_state_and_country_it_is(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several, which one is asked; so for a country, whose values are too many for a list."""
    fake.handlers["models"] = says([changed(VILLAGE, name="everyday")])
    illinois, gone = {"country": "us", "place": "Illinois"}, ["place"]
    germany = ProfileChange(set={"country": "de"}, unset=gone)
    cases: list[tuple[str, list[str], ProfileChange | None]] = [
        ("city", ["springfield", "3"], ProfileChange(set=illinois)),
        ("city", ["nowhere at all", "Leipzig"], germany),
        ("city", [""], None),
        ("country", ["Atlantis", "DE"], germany),
        ("country place", ["Germany"], germany),
        ("country place", ["us", "ohio"], ProfileChange(set={"country": "us", "place": "Ohio"})),
        ("country", ["0"], ProfileChange(set={"country": "unspecified"})),
        ("place", ["nowhere", "Springfield", "", "Springfield, IL"], ProfileChange(set=illinois)),
        ("place", ["ohio"], ProfileChange(set={"place": "Ohio"})),
    ]
    for name, answers, change in cases:
        fake.calls.clear()
        answering(monkeypatch, *answers, "")
        ran = run("profile", "set", *name.split())
        understood = name.startswith("country") and change is germany
        assert ("Understood: Germany." in ran.err) == understood
        assert ran.err.count("No city of that name is known") == ("nowhere" in answers[0])
        assert (ran.code, len(ran.err.splitlines()) < 70) == (0, True)
        assert _done(fake) == ([] if change is None else [change])


def test_values_are_asked_for_with_the_choices_numbered(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed is not repeated; Enter leaves one as it is, and - leaves the rest."""
    cases: list[tuple[str, list[str], dict[str, str]]] = [
        ("set region hobby", ["sesame", "9", "2", ""], {"region": "hills"}),
        ("set region hobby shoe_size", ["1", "-"], {"region": "coast"}),
        ("set region", ["0"], {"region": "unspecified"}),
        ("set hobby", ["Unspecified", "unspecified"], {"hobby": "unspecified"}),
        ("edit", ["-"], {}),
    ]
    for command, answers, values in cases:
        village_only.calls.clear()
        answering(monkeypatch, *answers)
        found = [ValueChange(name=each, was_set=False, is_set=True) for each in values]
        village_only.handlers["change_profile"] = says(Changed(changes=found))
        ran = run("profile", *command.split())
        text = f"Set: {', '.join(values)}.\n{BACK}\n" if values else "Nothing changed.\n"
        assert (ran.out, "sesame" in ran.err) == (text, False)
        assert _done(village_only) == ([ProfileChange(set=values)] if values else [])
        assert "region" not in command or "  1  coast\n  2  hills\n" in ran.err
        assert "  0  prefer not to say\n" in ran.err
        refused = ran.err.count("That is not one of the answers: type a number from 0 to")
        assert "sesame" not in answers or refused == 2


def test_where_anything_does_not_fit_nothing_is_set(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence, with the nearest name; an empty file is no mistake."""
    for text, problem, way in (
        (TEXT + 'regoin = "coast"', "unknown fact 'regoin'", "'region'"),
        (TEXT + "#" * (1 << 20), "too large", "1,048,576"),
    ):
        given(monkeypatch, text)
        error, hint = run("profile", "import", "-").refusal()
        assert problem in error
        assert way in hint
    monkeypatch.setattr("sys.stdin", None)
    assert run("profile", "import", "-").out == "The file sets nothing.\n"
    for arguments in ("region=coast", "hobby region=coast", "=coast", "region coast"):
        error, hint = run("profile", "set", *arguments.split()).refusal()
        assert "every user of this machine" in error  # could read it there
        assert "coast" not in error + hint
        assert "`reticent profile set NAME...`" in hint
    assert _changes(village_only) == []


@of(GIVEN)
def test_what_is_exported_can_be_imported(values: dict[str, str]) -> None:
    """And it says on top what it is."""
    facts = profile_of(**values).facts
    text = profile_toml(facts, Concepts(BOTH))
    assert text.startswith("# Your profile")
    assert tomllib.loads(text) == values
    own = [HOBBY, changed(HOBBY, words='"quoted" = ]\t', short=None, terms=FactTerms())]
    for more in ([], own):
        text = profile_toml([*facts, *more], Concepts(BOTH))
        some, again = read_profile(text.encode(), BOTH)
        assert some == values
        for fact, edit in zip(more, again, strict=True):
            other = changed(fact, kind="other", value="one", short="x", terms=None)
            assert edited(other, edit) == changed(fact, value=None)
        assert is_values(text.encode())


VALUES_FILES = ("", "# a comment\n\n[so2017]", "\ufeffregion =", "own = ['a']")
MEMORIES = (
    *("# About me\n- vegetarian", "[2024-05-01] - Lives in Ohio"),
    *('["Has two kids"]', "I am 41, female."),
)


@pytest.mark.parametrize("text", [*VALUES_FILES, *MEMORIES])
def test_a_memory_is_distinguished_from_values(text: str) -> None:
    """By its first line that is no comment."""
    assert is_values(text.encode()) == (text in VALUES_FILES)


def test_a_table_holds_the_names_of_its_model() -> None:
    """As older versions exported; what one model lacks is unspecified there, and gives way."""
    one, two = sexes()
    text = b'\xef\xbb\xbf[one]\ngender = "other"\n[two]\nsex = "unspecified"\n'
    assert read_profile(text, (two, one)) == ({"sex": "one:other"}, [])
    with pytest.raises(UsageError, match="has two values"):
        read_profile(b'one.gender = "male"\ntwo.sex = "female"', (two, one))


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (b"region = ", "not valid TOML", "write lines such as"),
        (b"\xff", "not valid TOML", "write lines such as"),
        (b"a = " + b"[" * 50_000, "not valid TOML", "write lines such as"),
        (b".".join([b"a"] * 64) + b' = "b"', "unknown fact", "known: "),
        (b"\n" + b".".join([b"a"] * 50_000) + b"=1", "line 2 has more than 64 parts", "no name"),
        (b'regoin = "uk"', "unknown fact 'regoin'", "'region'?"),
        (b'region = "UK"', "unknown value of region 'UK'", "'uk'?"),
        (b'region = "italy"', "unknown value of region 'italy'", "known: "),
        (b"region = true", "the value of region is not text", "quotes"),
        (b'[region]\nx = "uk"', "unknown fact 'region.x'", "'region'?"),
        (b'hours = "yes"', "hours changes with every request", "leave it out"),
        (b"own = 1", "own is not a list of facts", "write own = ["),
        (b'[one]\nregoin = "uk"', "unknown fact 'one.regoin'", "'region'?"),
    ],
)
def test_a_mistake_is_named(text: bytes, what: str, hint: str) -> None:
    """Before anything of the file counts."""
    with pytest.raises(UsageError) as caught:
        read_profile(text, BOTH)
    assert what in caught.value.what
    assert hint in caught.value.hint
