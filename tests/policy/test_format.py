"""FORMAT.md is executed: its examples, its tables and the errors that it shows."""

import json
import re
import tomllib
from dataclasses import asdict

import pytest
import tomlkit

from agent.errors import PolicyError
from policy.match import Rulebook, known
from policy.read import preset, read
from policy.sections import ATTRIBUTE_KINDS, PRESETS, RULE_KINDS, TOP_KINDS
from policy.settings import DAEMON, DEFAULTS, SETTINGS
from tests.house.tree import ROOT
from tests.policy.strategies import NAMES, TODAY

FORMAT = (ROOT / "policy/FORMAT.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```([a-z ]*)\n(.*?)^```$", FORMAT, re.MULTILINE | re.DOTALL)
VALID = [text for kind, text in BLOCKS if kind == "toml"]


def section(title: str) -> str:
    """Return what stands under a heading, up to the next of its kind."""
    level = "#" * (FORMAT.split(f" {title}\n")[0].rpartition("\n")[2].count("#"))
    return re.split(rf"^{level} ", FORMAT.split(f"{level} {title}\n")[1], flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the tables in a text, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    ruled = {place for place, line in enumerate(lines) if set(line) <= set("|-")}
    return [row for place, row in enumerate(cells) if not {place, place + 1} & ruled]


def quoted(text: str) -> list[str]:
    """Return what stands in code in a text."""
    return re.findall(r"`([^`]+)`", text)


def test_the_document_has_its_examples() -> None:
    """So that the tests of them are tests."""
    assert len(VALID) >= 4
    assert [kind for kind, _ in BLOCKS if kind != "toml"] == ["toml error", "text"]


@pytest.mark.parametrize("example", VALID)
def test_every_example_is_a_policy(example: str) -> None:
    """And can be asked."""
    policy = read(example, "FORMAT.md", preset)
    assert Rulebook(policy, known(*NAMES)).match("books.example", "flu", TODAY).settings


def test_the_errors_are_those_shown() -> None:
    """Line, key, what is wrong and the hint, all at once."""
    (example,) = (text for kind, text in BLOCKS if kind == "toml error")
    (shown,) = (text for kind, text in BLOCKS if kind == "text")
    with pytest.raises(PolicyError) as caught:
        read(example, "FORMAT.md", preset)
    problems = [
        f"{each.line} {each.key}: {each.what} ({each.hint})" for each in caught.value.problems
    ]
    assert problems == shown.splitlines()


def test_the_settings_are_those_listed() -> None:
    """In the same order, with the same names to choose from, and with an order where they have."""
    table = {quoted(row[0])[0]: row for row in rows(section("Settings"))}
    assert [*table] == [*SETTINGS]
    for key, (_, values, _, strict) in table.items():
        setting = SETTINGS[key]
        listed = {word.strip('"') for word in quoted(values)}
        assert set(setting.choices) == {word for word in listed if setting.choices}
        assert (strict == "-") == (not setting.order)


@pytest.mark.parametrize(
    ("key", "strict"),
    [(key, row[3]) for row in rows(section("Settings")) for key in quoted(row[0])],
)
def test_the_stricter_value_is_the_one_listed(key: str, strict: str) -> None:
    """Larger, smaller, or a name."""
    rank, choices = SETTINGS[key].strictness, SETTINGS[key].choices
    if strict == "-":
        assert not SETTINGS[key].order
        return
    if strict in ("larger", "smaller"):
        assert (rank(0.75) > rank(0.25)) == (strict == "larger")
    elif choices and strict.startswith("`"):
        assert max(choices, key=rank) == quoted(strict)[0].strip('"')
    elif choices:
        names = [word.strip('"') for word in quoted(rows(section("Settings"))[0][1])]
        assert sorted(choices, key=rank, reverse=True) == names
    else:
        stricter = strict == "`true`"
        assert rank(stricter) > rank(not stricter)


def test_of_rules_of_which_none_is_more_specific_the_stricter_decides_or_the_later() -> None:
    """As the example says, whichever of them stands first."""
    (example,) = [each for each in VALID if "stands later" in each]
    document = tomllib.loads(example)
    for mode in ("standing", "dynamic"):
        policy = read(tomlkit.dumps(document), "FORMAT.md", preset)
        settings = Rulebook(policy, {}).match("shop.example", "flu shot", TODAY).settings
        assert (settings["mode"].value, settings["lambda"].value) == (mode, 4)
        document["rule"].reverse()


def test_the_parts_are_those_listed() -> None:
    """Of the file, of a rule and of an attribute."""
    parts = [quoted(row[0]) for row in rows(section("Parts"))]
    assert {
        name.strip("[]") for names in parts for name in names
    } == TOP_KINDS.keys() - SETTINGS.keys()
    keys = [quoted(row[0])[0] for row in rows(section("Rules")) if quoted(row[0])]
    conditions = [key for key in RULE_KINDS if key not in SETTINGS]
    assert keys[: len(conditions)] == conditions
    (short,) = re.findall(r"the keys of its tables are ([^;]*);", " ".join(FORMAT.split()))
    assert quoted(short) == [*ATTRIBUTE_KINDS]
    assert {*re.findall(r'`"([a-z]+)"`', rows(section("Parts"))[1][1])} == {*PRESETS}


def test_the_defaults_are_those_listed() -> None:
    """All of them, in their order."""
    (block,) = re.findall(r"```toml\n(.*?)```", section("Defaults"), re.DOTALL)
    listed = tomllib.loads(block)
    assert listed.pop("format") == 1
    assert [*listed.items()] == [*DEFAULTS.items()]


def test_the_settings_of_the_daemon_are_those_listed() -> None:
    """With their defaults; the example says something else."""
    table = {quoted(row[0])[0]: row for row in rows(section("The daemon"))}
    assert [*table] == [*DAEMON]
    usual = read("", "empty", preset).daemon
    assert {key: json.loads(row[3].strip("`")) for key, row in table.items()} == asdict(usual)
    (example,) = re.findall(r"```toml\n(.*?)```", section("The daemon"), re.DOTALL)
    said = read(example, "FORMAT.md", preset).daemon
    assert tomllib.loads(example)["daemon"] == asdict(said)
    assert all(
        one != other
        for one, other in zip(asdict(said).values(), asdict(usual).values(), strict=True)
    )


def test_the_table_of_presets_is_what_they_hold() -> None:
    """Settings as they are written, and attributes with what is ruled of them."""
    names = re.findall(r"`(\w+)`", section("Presets").splitlines()[4])
    assert sorted(names) == [*PRESETS]
    for column, name in enumerate(names, start=1):
        said = {
            row[0].strip("`"): row[column] for row in rows(section("Presets")) if row[column] != "-"
        }
        held: dict[str, str] = {}
        for rule in preset(name):
            if rule.attributes:
                (pattern,) = rule.attributes
                guard = f", guard {rule.settings['guard']:g}" if "guard" in rule.settings else ""
                held[pattern.text] = f"{rule.settings['disclose']}{guard}"
            else:
                held |= {
                    key: f'`"{value}"`' if isinstance(value, str) else f"{value:g}"
                    for key, value in rule.settings.items()
                }
        assert said == held
