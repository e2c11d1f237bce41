"""The pages for users do what they say: commands run, and pictures show what they print."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from agent.cli.demo import FACTS, PROFILE, REQUESTS, TERMS, WORDS, Story
from agent.cli.main import outcome
from agent.facts import Facts
from agent.model.file import read, shipped_models
from agent.model.world import world_of
from agent.words.figures import people
from agent.words.titles import facts
from tests.cli.conftest import builds
from tests.house.tree import ROOT
from tests.newcomer import COMMAND, PAGES, README, commands

COMMANDS = COMMAND.findall(README)
STORY = commands("Set it up")
ELSEWHERE = (
    "Set it up",
    "In your browser",
    "In an assistant",
    "In a program that speaks OpenAI's protocol",
    "From your own programs",
    "Upgrade",
    "Remove it",
)


@builds
def test_its_commands_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the folder of the checkout, as a newcomer would."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    elsewhere = {each for title in ELSEWHERE for each in commands(title)}  # each has a test
    ours = [each for each in COMMANDS if each.startswith("reticent ") and each not in elsewhere]
    assert len(ours) > 5
    for command in ours:
        code = outcome(shlex.split(command)[1:])
        assert (code, capsys.readouterr().err) == (0, ""), command


def test_it_never_overwrites_what_its_reader_typed() -> None:
    """The fictional developer has a home of its own, and no value is an argument."""
    trial = STORY.index('export RETICENT_HOME="$HOME/reticent-trial"')
    fictional = [each for each in COMMANDS if "--profile" in each]
    assert fictional == [STORY[trial + 1]]
    assert [each for each in COMMANDS if each.startswith("reticent profile")] == []


def test_its_other_commands_are_those_of_continuous_integration() -> None:
    """What is run there is what a newcomer is told."""
    installing = commands("Install")[0]
    elsewhere = {installing, *(each for title in ELSEWHERE for each in commands(title))}
    others = {each for each in COMMANDS if not each.startswith("reticent ")} - elsewhere
    assert others == {"make demo", "make test"}
    assert others <= {*(ROOT / ".ci/run").read_text().splitlines()}


def test_its_links_lead_somewhere() -> None:
    """Within the checkout; to a heading, if they name one."""
    folders = (ROOT, ROOT / ".github", ROOT / "agent", ROOT / "examples", ROOT / "policy")
    pages = {*PAGES, *(each for folder in folders for each in folder.glob("*.md"))}
    links = [
        (page.parent / path if path else page, anchor)
        for page in pages
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text())
        if "://" not in link
        for path, _, anchor in [link.partition("#")]
    ]
    assert links
    assert [path for path, _ in links if not path.exists()] == []
    assert [link for link in links if link[1] and link[1] not in _anchors(link[0])] == []


def test_the_files_that_they_name_are_there() -> None:
    """Of what makers are told to begin with; a folder, a file or a module."""
    pages = ("agent/ARCHITECTURE.md", ".github/CONTRIBUTING.md")
    text = "\n".join((ROOT / page).read_text() for page in pages)
    named = set(re.findall(r"`((?:agent|examples|policy|tests)/[\w./]*)`", text))
    modules = set(re.findall(r"python -m ((?:policy|tests)[\w.]+)", text))
    assert len(named) > 20
    assert [each for each in sorted(named) if not (ROOT / each).exists()] == []
    files = [ROOT / f"{each.replace('.', '/')}.py" for each in sorted(modules)]
    assert [each for each in files if not each.exists()] == []


def test_its_facts_are_those_of_the_demo() -> None:
    """What goes with each request that it names, and how many facts and people there are."""
    world = world_of([*map(read, shipped_models())])
    titles = world.titles
    told = Story(PROFILE, world, Facts.of(WORDS, world)).tell(REQUESTS, TERMS).entries
    sent = {
        each.decision.request.query: "; ".join(facts(each.values, titles)) or "nothing"
        for each in told
    }
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGES[0].read_text(), re.MULTILINE)
    shown = {query: carried for query, carried in rows if query in sent}
    assert len(shown) == 4
    assert shown.items() <= sent.items()
    text = " ".join(PAGES[0].read_text().split())
    left = {each.decision.request.recipient: people(each.people_left) for each in told[:3]}
    assert f"profile has {FACTS} facts" in text
    assert f"About {left['recipes.example']} people of the US still look exactly like her" in text
    assert f"{left['shop.example']} to the shop" in text


def _anchors(page: Path) -> set[str]:
    """Return what a link can name of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def test_its_picture_is_what_the_command_prints() -> None:
    """Drawn anew by the committed script: `python examples/draw_terminal.py`."""
    script = runpy.run_path(str(ROOT / "examples/draw_terminal.py"))
    assert script["picture"]() == (ROOT / "examples/terminal.svg").read_text()


def test_its_screen_is_what_a_daemon_shows() -> None:
    """But for the time: drawn anew by `python examples/draw_requests.py`."""
    script = runpy.run_path(str(ROOT / "examples/draw_requests.py"))
    kept = (ROOT / "examples/requests.svg").read_text()
    assert _timeless(script["picture"]()) == _timeless(kept)


def _timeless(svg: str) -> str:
    """Return a picture without the times in it, and the number made of all that it shows."""
    return re.sub(r"terminal-\d+", "terminal", re.sub(r"\d\d:\d\d", "00:00", svg))


def test_its_tables_are_those_that_the_scripts_invent(tmp_path: Path) -> None:
    """Byte for byte: `python examples/own_tables/make_tables.py`, and the same of the log."""
    for name in ("own_tables/make_tables.py", "own_log/make_log.py"):
        script = ROOT / "examples" / name
        runpy.run_path(str(script))["main"](tmp_path)
        for table in script.parent.glob("*.csv"):
            assert (tmp_path / table.name).read_bytes() == table.read_bytes()
