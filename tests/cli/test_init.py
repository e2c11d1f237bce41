"""`reticent init`: at a terminal, from a script, again, and interrupted."""

import io
import signal
import stat
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent.cli import prompts
from agent.cli.demo import PROFILE
from agent.cli.first_steps import has_extra
from agent.cli.questions import USES, ask_values, most_useful
from agent.decision.cache import Cache
from agent.errors import VaultError
from agent.model.file import read, shipped_models
from agent.model.model import Concepts
from agent.model.world import world_of
from agent.paths import paths
from agent.vault.profile import named_values
from agent.vault.secrets import Secret
from agent.vault.slots import key_slots
from agent.vault.vault import unlock
from agent.words.titles import in_order
from policy.families import use_of
from policy.read import load
from tests.cli.conftest import Ran, Run
from tests.cli.examples import PASSPHRASE, here, opened
from tests.vault.doubles import Memory
from tests.vault.test_simulatable import LIFE
from tests.vault.values import own_values

Begin = Callable[..., Ran]
WORLD = world_of([*map(read, shipped_models())])


@pytest.fixture(autouse=True)
def desktop(memory: Memory, home: Path) -> Memory:
    """A home and a keyring of the test's own."""
    assert home.is_dir()
    return memory


@pytest.fixture
def begin(piped: Run) -> Begin:
    """Run `reticent init` with a text as its standard input."""
    return partial(piped, "init")


@pytest.fixture
def answering(run: Run, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Run `reticent init` with somebody at the terminal who gives these secrets and answers."""

    def asked(*options: str | Path, secrets: tuple[str, ...], answers: tuple[str, ...]) -> Ran:
        left = iter(secrets)
        monkeypatch.setattr(prompts, "at_terminal", lambda: True)
        monkeypatch.setattr("agent.cli.init.at_terminal", lambda: True)
        monkeypatch.setattr(prompts, "_typed", lambda _prompt: next(left))
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))
        ran = run(*([] if "begin" in options else ["init"]), *options)
        assert [*left] == []
        return ran

    return asked


def _preset() -> str:
    assert load(paths().policy).rules
    return str(tomllib.loads(paths().policy.read_text())["preset"])


def _kept() -> dict[str, str]:
    with opened() as vault:
        return own_values(vault.profile)


def test_one_line_begins(begin: Begin) -> None:
    """The vault opens by both secrets, the policy is valid, and all of it is the user's only."""
    lines = begin().out.splitlines()
    assert [line.strip() for line in lines if line.startswith("  reticent ")] == [
        "reticent connect system",
        "reticent unlock",
        "reticent connect browsers",
        "reticent connect claude-desktop",
    ]
    [code] = [line.strip() for line in lines if line.count("-") == 5]
    with unlock(here(), Secret("recovery", code)) as vault:
        assert (vault.notes, vault.profile.facts) == ((), ())
    assert _preset() == "balanced"
    for path in (paths().vault, paths().policy, paths().witness):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in paths().data.iterdir()] == ["vault.db"]
    before = {path: path.read_bytes() for path in (paths().vault, paths().policy, paths().witness)}
    error, hint = begin("--preset", "strict").refusal(code=1)
    assert "a vault already exists, and nothing was changed" in error
    assert "reticent unlock" in hint
    assert {path: path.read_bytes() for path in before} == before
    paths().policy.unlink()
    assert "no preset is named" in begin().err
    assert begin("--preset", "strict").out == f"Your policy is {paths().policy}\n"
    assert (_preset(), paths().vault.read_bytes()) == ("strict", before[paths().vault])
    paths().vault.unlink()
    paths().witness.unlink()
    assert (begin().code, _preset()) == (0, "strict")


def test_values_come_from_a_file(begin: Begin, tmp_path: Path) -> None:
    """Such as `reticent profile export` writes; a value that does not fit makes nothing."""
    file = tmp_path / "profile.toml"
    file.write_text('[so2017]\nregion = "mars"\n')
    error, _ = begin("--profile", file).refusal()
    assert "mars" in error
    assert not paths().vault.exists()
    file.write_text('own = ["I swim"]\n[so2017]\nregion = "west_europe"\n')
    ran = begin("--profile", file, "--preset", "strict")
    assert (ran.code, "in your own words comes with" in ran.err) == (0, True)
    assert _kept() == {"so2017.region": "west_europe"}
    assert _preset() == "strict"


@pytest.mark.parametrize(
    ("fact", "country"),
    [
        ('diet = "vegan"', "ch"),
        ('country = "France"', "fr"),
        ('place = "Ohio"', None),
        ('city = "Springfield, Ohio"', "us"),
    ],
)
def test_the_country_is_that_of_the_locale(
    fact: str, country: str | None, begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said; unless the facts name one, or a state of the US."""
    monkeypatch.setenv("LC_ALL", "de_CH.UTF-8")
    file = tmp_path / "profile.toml"
    file.write_text(fact)
    ran = begin("--profile", file)
    assert _kept().get("country") == country
    told = "You live in Switzerland, by your locale" in " ".join(ran.err.split())
    assert told == (country == "ch")


def test_everything_is_asked(answering: Begin) -> None:
    """The passphrase until it is good; values by number, name or title, with a step back."""
    words = PASSPHRASE
    ran = answering(
        secrets=("short", "", words, "other", words, words),
        answers=(
            *("y", "nobody", "Strict", *("", "y", ""), ""),
            *("minnesota", "1", "no such", "35-44", "<", "", "youngest 5-9", "4, 2", "-"),
            *("1", "maybe", "never", "", ""),
        ),
    )
    assert ran.code == 0
    assert "The passphrase is too short" in ran.err
    assert "No passphrase was given: type one, or leave with Ctrl-C." in ran.err
    assert "These differ; try again." in ran.err
    assert PASSPHRASE not in ran.err
    assert "That is not one of the answers: type a number from 0 to" in " ".join(ran.err.split())
    assert "no such'" not in ran.err
    assert "'nobody' is not one of these" in ran.err
    assert _preset() == "strict"
    health = {"name": "@health for any assistant", "attribute": "@health"}
    assert tomllib.loads(paths().policy.read_text())["rule"] == [
        {**health, "recipient": "any assistant", "disclose": "auto"},
        {**health, "name": "@health for any search engine"}
        | {"recipient": "any search engine", "disclose": "never"},
    ]
    both = (WORLD.attributes[WORLD.index(name)] for name in ("allergies", "budget"))
    allergies, budgets = (in_order(each.values[1:]) for each in both)
    values = {"place": "Minnesota", "budget": budgets[0], "age": "35-44"}
    values |= {"children": "youngest 5-9"}
    values |= {"allergies": allergies[3], "allergies_2": allergies[1]}
    assert _kept() == named_values(values.items(), [WORLD])
    assert [each.kind for each in key_slots(here().vault)] == ["passphrase", "recovery", "keyring"]
    assert "Minnesota" not in ran.out
    assert "1 of 12: State" in ran.err
    assert "Do you write software" in ran.err
    assert "`reticent profile edit` has 94 questions more" in " ".join(ran.err.split())


@pytest.mark.parametrize("uses", [*({each} for each in USES), {*USES}])
def test_what_helps_most_is_asked_first(uses: set[str]) -> None:
    """On the topics of these uses, and by what was clicked; after what it may follow from."""
    life, survey = WORLD.every
    kinds = most_useful(WORLD, WORLD.every, uses)
    every = [each for each in WORLD.attributes if not each.further]
    names = [each.name for each in kinds]
    assert sorted(names) == sorted(each.name for each in every)
    below = {each.name: {f for row in each.implies.values() for f in row} for each in every}
    for name, others in below.items():
        assert all(names.index(name) < names.index(follows) for follows in others)
    judged, clicked = Cache().judgements(life), Cache().mean_utility(survey)
    topics = [at for at, each in enumerate(life.queries) if use_of(each.text) in uses]
    bits = (judged.bits * judged.weights)[topics] @ judged.parts[topics]
    gains = [
        sum(
            float(bits[at]) if model is life else clicked.value(1 << at)
            for model in (life, survey)
            if kind.concept in model.by_concept
            and (at := model.index(model.by_concept[kind.concept].name)) >= 0
        )
        for kind in kinds
        if not below[kind.name] and not any(kind.name in others for others in below.values())
    ]
    assert all(one >= other - 1e-12 for one, other in pairwise(gains))
    assert len(topics) > 20
    of_life = most_useful(WORLD, [life], uses)
    assert {each.concept for each in of_life} <= {*life.by_concept}


def test_everything_can_be_skipped(answering: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """With Enter or -; no to a weak passphrase leads to another.

    Nobody elsewhere is asked for a state; nor anybody for anything where no socket could lie.
    """
    for locale, asks in (("de_DE.UTF-8", False), ("en_US.UTF-8", True)):
        monkeypatch.setenv("LC_ALL", locale)
        ran = answering(
            *("--preset", "generous"),
            secrets=("password", "password", PASSPHRASE, PASSPHRASE),
            answers=("n", "", *("n", "n", "n"), "n", "-", ""),
        )
        assert "guess it in 2 minutes" in ran.err
        assert ("1 of 12: State" in ran.err) == ("or a city anywhere" in ran.err) == asks
        assert (ran.code, _preset()) == (0, "generous")
        assert "rule" not in tomllib.loads(paths().policy.read_text())
        assert _kept().keys() <= {"country"}
        for path in (paths().vault, paths().witness):
            path.unlink()
    monkeypatch.setenv("RETICENT_HOME", "/tmp/" + "x" * 120)  # noqa: S108  (never made)
    assert "the path of the socket" in answering(secrets=(), answers=()).refusal()[0]


def test_what_hangs_on_a_fact_is_set_and_said(begin: Begin, tmp_path: Path) -> None:
    """What the file states stands, and is not said again."""
    profile = tmp_path / "facts.toml"
    profile.write_text('work_status = "unemployed"\noccupation = "not working"\n')
    ran = begin("--profile", profile)
    assert ran.code == 0, ran.err
    said = " ".join(ran.err.split())
    assert "Also set, since it follows: " in said
    assert "job" not in said.partition("Also")[2].replace("reticent", "")


def test_ctrl_c_after_the_vault_keeps_what_it_says(
    answering: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is made when the code is shown; of what follows, what is left is listed."""
    done = list[object]()

    def press(prompt: object) -> str:
        if not isinstance(prompt, str) or "written down" in prompt:
            signal.raise_signal(signal.SIGINT)
        return ""

    for name in ("init.line", "prompts.line", "first_steps.connected"):
        monkeypatch.setattr(f"agent.cli.{name}", press)
    for name in ("started", "opened"):
        monkeypatch.setattr(f"agent.cli.first_steps.{name}", done.append)
    ran = answering("begin", secrets=(PASSPHRASE,) * 2, answers=("n", *("", "", ""), "n", "-"))
    assert (ran.code, done[1:]) == (0, [PASSPHRASE]), ran.err
    assert "The vault, your policy and your facts are kept" in " ".join(ran.err.split())
    [left, sends] = ran.out.partition("To go on from here:\n")[2].splitlines()
    assert (left, "reticent ask" in sends) == ("  reticent connect", True)
    opened().close()


def test_the_extra_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command that fits how the program was installed; it is run without a shell."""
    ran = list[list[str]]()
    monkeypatch.setattr("agent.cli.first_steps.find_spec", lambda _: [*ran] or None)
    monkeypatch.setattr("agent.cli.first_steps.subprocess.run", lambda c, **_: ran.append(c))
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    for mark, what, begins in (
        ("pyvenv.cfg", "mcp>=", [sys.executable, "-m", "pip", "install"]),
        ("uv-receipt.toml", "reticent[mcp] @ file://", ["uv", "tool", "install"]),
        ("pipx_metadata.json", "mcp>=", ["pipx", "inject", "reticent"]),
    ):
        (tmp_path / mark).touch()
        ran.clear()
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n\n"))
        assert (has_extra(), has_extra()) == (False, True)
        assert ([*ran[0][:-1]], ran[0][-1].startswith(what)) == (begins, True)


def test_a_failure_half_way_can_be_run_again(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no vault, and nothing of it is left behind."""
    fail = Mock(side_effect=VaultError("the disk is full", "make room"))
    for step in ("vault.vault.Vault.close", "vault.vault.install", "cli.init.make_vault"):
        with monkeypatch.context() as failing:
            failing.setattr(f"agent.{step}", fail)
            assert begin().code == 1
        assert not paths().vault.exists()
    assert begin().code == 0
    assert {each.name for each in paths().data.iterdir()} == {"vault.db"}
    opened().close()


def test_what_follows_from_an_answer_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor offered, nor come back to; answered before, it gives way. Enter keeps an answer.

    What only suggests an answer spares no question: which facts are set would tell it.
    """
    kinds = {each.name: each for each in Concepts([LIFE]).kinds.values()}
    first = "work hours region"
    unemployed, part = {"work": "unemployed"}, {"work": "employed", "hours": "part_time"}
    for names, answers, values in (
        (first, "2 1", {**unemployed, "region": "south"}),
        (first, "1 2 1", {"work": "employed", "hours": "full_time", "region": "south"}),
        (first, "2 < 1 1 .", part),
        (first, "1 1 < . < < . . .", part),
        (first, "1 1 < < 2 1", {**unemployed, "region": "south"}),
        (first, "1 no_job 1 .", part),
        (first, ". no_job .", {"hours": "no_job"}),
        (first, "2 -", unemployed),
        ("hours work", "1 2", unemployed),
        ("work hours employer", ". no_job private", {"hours": "no_job", "employer": "private"}),
    ):
        lines = "".join(f"{each.strip('.')}\n" for each in answers.split())
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        assert ask_values([kinds[name] for name in names.split()]) == values, answers


def test_the_end_of_the_answers_makes_nothing(answering: Begin, home: Path) -> None:
    """As by Ctrl-D."""
    assert answering(secrets=(PASSPHRASE,) * 2, answers=("",)).code == 130
    assert [*home.iterdir()] == []


def test_the_demos_facts_and_the_keyring(
    begin: Begin, tmp_path: Path, desktop: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows is set too; a file called so comes first; a keyring that refuses is a note."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").write_text('[so2017]\nregion = "mars"\n')
    assert "mars" in begin("--profile", "demo").refusal()[0]
    (tmp_path / "demo").unlink()
    refusal = VaultError("the keyring did not store the key", "unlock with the passphrase")
    with monkeypatch.context() as patched:
        patched.setattr("agent.vault.secrets.keep", Mock(side_effect=refusal))
        [note] = begin("--keyring", "--json").record["notes"]
    assert "the keyring did not store the key" in note
    assert [each.kind for each in key_slots(here().vault)] == ["passphrase", "recovery"]
    for path in (paths().vault, paths().witness):
        path.unlink()
    assert begin("--profile", "demo", "--keyring").code == 0
    assert len(desktop.kept) == 1
    unlock(here(), Secret("keyring")).close()
    assert named_values(PROFILE.items(), [WORLD]).items() <= _kept().items()
