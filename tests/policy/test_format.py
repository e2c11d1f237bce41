"""FORMAT.md is executed: its examples, its tables and the errors that it shows."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent.errors import PolicyError
from policy.hosts import site_of
from policy.match import Rulebook, known
from policy.read import preset, read
from policy.rules import Groups, Layer, Pools
from policy.sections import (
    ATTRIBUTE_KINDS,
    MISPLACED,
    PRESETS,
    RULE_KINDS,
    TOP_KINDS,
    SectionReader,
)
from policy.services import engines, owned_with
from policy.settings import DAEMON, DEFAULTS, JUDGE, SETTINGS, TOGETHER, WHEN
from tests.house.tree import ROOT
from tests.policy.naive import FROM_OPEN_TO_STRICT, LARGER, SMALLER
from tests.policy.strategies import (
    ANY_HOSTS,
    NAMES,
    TODAY,
    VALUES,
    Asked,
    Document,
    documents,
    rendered,
)
from tests.policy.test_match import values as values_of

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


def _quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_the_document_has_its_examples() -> None:
    """So that the tests of them are tests."""
    assert len(VALID) >= 4
    assert [kind for kind, _ in BLOCKS if kind != "toml"] == ["toml error", "text"]


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
    table = {_quoted(row[0])[0]: row for row in rows(section("Settings"))}
    assert [*table] == [*SETTINGS]
    for key, (_, values, _, strict) in table.items():
        setting = SETTINGS[key]
        listed = {word.strip('"') for word in _quoted(values)}
        assert set(setting.choices) == {word for word in listed if setting.choices}
        assert (strict == "-") == (not setting.order)
    (about,) = re.findall(r"\. (`[^.]*`) are about recipients", " ".join(FORMAT.split()))
    assert _quoted(about) == [key for key, each in SETTINGS.items() if each.about == "recipient"]
    tabled = {_quoted(row[0])[0]: _quoted(row[1]) for row in rows(section("Searches"))}
    assert tabled == {key: [p.name for p in each.parameters] for key, each in engines().items()}
    # Policies are drawn, and compared with the plain reference, with all but those of browsers.
    assert SETTINGS.keys() - VALUES.keys() == {"search", "carry", "engine", "assistant", "address"}
    assert {k for k in VALUES if SETTINGS[k].order} == {*LARGER, *SMALLER, *FROM_OPEN_TO_STRICT}


@pytest.mark.parametrize(
    ("key", "strict"),
    [(_quoted(row[0])[0], row[3]) for row in rows(section("Settings")) if row[3] != "-"],
)
def test_the_stricter_value_is_the_one_listed(key: str, strict: str) -> None:
    """Larger, smaller, or a name."""
    rank, choices = SETTINGS[key].strictness, SETTINGS[key].choices
    if strict in ("larger", "smaller"):
        assert (rank(0.75) > rank(0.25)) == (strict == "larger")
    elif choices and strict.startswith("`"):
        assert max(choices, key=rank) == _quoted(strict)[0].strip('"')
    elif choices:
        names = [word.strip('"') for word in _quoted(rows(section("Settings"))[0][1])]
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
        assert (settings["mode"].value, settings["anonymity_price"].value) == (mode, 4)
        document["rule"].reverse()


def test_the_parts_are_those_listed() -> None:
    """Of the file, of a rule and of an attribute."""
    parts = [_quoted(row[0]) for row in rows(section("Parts"))]
    assert {
        name.strip("[]") for names in parts for name in names
    } == TOP_KINDS.keys() - SETTINGS.keys()
    keys = [_quoted(row[0])[0] for row in rows(section("Rules")) if _quoted(row[0])]
    conditions = [key for key in RULE_KINDS if key not in SETTINGS]
    assert keys[: len(conditions)] == conditions
    (short,) = re.findall(r"the keys of its tables are ([^;]*);", " ".join(FORMAT.split()))
    assert _quoted(short) == [*ATTRIBUTE_KINDS]
    assert {*re.findall(r'`"([a-z]+)"`', rows(section("Parts"))[1][1])} == {*PRESETS, "none"}


FACTS = ("age", "place", "children", "occupation")
ILL = {frozenset({"medical bills"}): 1.0}
MADE = {
    **{host: Asked(host, "", TODAY) for host in ("x.example", "shop.example", "chat.example")},
    **{host: Asked(host, "", TODAY) for host in ("claude.ai", "forge.example")},
    "Friday at eleven": Asked("shop.example", "", datetime(2027, 3, 5, 23, tzinfo=UTC)),
    "Saturday at noon": Asked("shop.example", "", datetime(2027, 3, 6, 12, tzinfo=UTC)),
    **{door: Asked("x.example", "", TODAY, door=door) for door in ("page", "browser", "proxy")},
    **{f"bills, {e}": Asked(e, "", TODAY, ILL) for e in ("x.example", "doctor.example")},
}


def test_each_wish_does_what_it_says(pytestconfig: pytest.Config) -> None:
    """It changes some requests, and no others: those in wishes.txt."""
    shown, lines = Path(__file__).with_name("wishes.txt"), []
    for wish, cell in rows(section("Wishes, and how to write them")):
        lines.append(wish)
        texts = (cell.replace("<br>", "\n").replace("`", ""), "")
        books = [Rulebook(read(each, "test", preset), known(*FACTS)) for each in texts]
        for name, asked in MADE.items():
            found, usual = (values_of(book.match(*asked)) for book in books)
            changed = [place for place in found if found[place] != usual.get(place)]
            what = (f"{' of '.join(filter(None, e))} is {found[e]}" for e in changed)
            lines += [f"  {name}: {', '.join(what)}"] if changed else []
    text = "\n".join(lines) + "\n"
    if pytestconfig.getoption("accept"):
        shown.write_text(text, encoding="utf-8")
    assert shown.read_text(encoding="utf-8") == text, "look at it, then accept it"


def test_the_defaults_are_those_listed() -> None:
    """All of them, in their order."""
    (block,) = re.findall(r"```toml\n(.*?)```", section("Defaults"), re.DOTALL)
    listed = tomllib.loads(block)
    assert listed.pop("format") == 1
    assert [*listed.items()] == [*DEFAULTS.items()]


def test_the_settings_of_the_daemon_are_those_listed() -> None:
    """With their defaults; the example says something else."""
    table = {_quoted(row[0])[0]: row for row in rows(section("The daemon"))}
    assert [*table] == [*DAEMON]
    usual = read("", "empty", preset).daemon
    assert {key: json.loads(row[3].strip("`")) for key, row in table.items()} == asdict(usual)
    (example,) = re.findall(r"```toml\n(.*?)```", section("The daemon"), re.DOTALL)
    said = read(example, "FORMAT.md", preset).daemon
    assert tomllib.loads(example)["daemon"] == asdict(said)
    (example,) = re.findall(r"```toml\n(.*?)```", section("The judge"), re.DOTALL)
    judge = read(example, "FORMAT.md", preset).judge
    assert tomllib.loads(example)["judge"] == judge
    assert [*judge] == [*JUDGE]
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


SCHEMA = json.loads((ROOT / "policy/policy.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
FILES = sorted([*ROOT.glob("policy/presets/*.toml"), *ROOT.glob("examples/policies/*.toml")])
WRONG: tuple[Any, ...] = (
    *("", "nothing", "shop.example", [], ["flu", 1], {}, {"disclose": "ask"}, [{}], True, None),
    *(-1, 0, 0.5, 1, 1.0, 10**12, 10**400, date(2027, 3, 1), "a\n", "*", "localhost"),
)


def as_json(value: Any) -> Any:  # noqa: ANN401 - TOML's values
    """Return a value of TOML in JSON's types: a date is a text."""
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def _accepts(document: Document) -> bool:
    return VALIDATOR.is_valid(as_json(document))


def test_it_is_a_schema() -> None:
    """By the schema of schemas; and the patterns are of every dialect of regular expressions."""
    Draft202012Validator.check_schema(SCHEMA)
    patterns = re.findall(r'"pattern": (".*?(?<!\\)")', json.dumps(SCHEMA))
    assert patterns
    assert not any(re.search(r"\\[^s{}\[\]]|\(\?", json.loads(each)) for each in patterns)


def test_nothing_unknown_is_accepted_anywhere() -> None:
    """Every object says what it may have."""
    every = list[dict[str, Any]]()
    json.loads(json.dumps(SCHEMA), object_hook=every.append)
    found = [each for each in every if each.get("type") == "object"]
    assert len(found) == 12
    assert all(each["additionalProperties"] is not True for each in found)
    assert all(each["additionalProperties"] is False or "propertyNames" in each for each in found)


def test_each_setting_is_described() -> None:
    """With what it does and its default, which it accepts; and it is allowed in rules too."""
    top = SCHEMA["properties"]
    rule, entry = top["rule"]["items"], top["attributes"]["additionalProperties"]["anyOf"][1]
    for key, setting in SETTINGS.items():
        made, about, here = SCHEMA["$defs"][key], setting.about, {"$ref": f"#/$defs/{key}"}
        assert (made["description"], made.get("default")) == (setting.means, DEFAULTS.get(key))
        assert top[key] == rule["properties"][key] == here
        assert (key in entry["properties"]) == (about == "attribute")
        for part, (_, misplaced) in MISPLACED.items():
            refused = rule["dependentSchemas"][part]["properties"]
            assert (key in refused) == bool({key, about} & {*misplaced})
    for key, setting in {**DAEMON, **JUDGE, **WHEN, **TOGETHER}.items():
        own = top["daemon"], top["judge"], rule, top["together"]["items"]
        (described,) = (e["properties"][key] for e in own if key in e["properties"])
        assert described["description"] == setting.means
    for key, setting in SETTINGS.items():
        assert key not in DEFAULTS or _accepts({key: DEFAULTS[key]})
        for choice in setting.choices:
            assert _accepts({key: choice})
            assert not _accepts({key: choice.upper()})


def test_examples_are_policies_that_the_schema_accepts() -> None:
    """Those of the document, which can be asked, the presets, and the examples of policies."""
    for kind, example in BLOCKS:
        if kind.startswith("toml"):
            assert _accepts(tomllib.loads(example)) == (kind == "toml")
    for example in VALID:
        policy = read(example, "FORMAT.md", preset)
        assert Rulebook(policy, known(*NAMES)).match("books.example", "flu", TODAY).settings
    for path in FILES:
        assert _accepts(tomllib.loads(path.read_text())), path


@given(documents(), st.data())
def test_what_the_reader_accepts_it_accepts(document: Document, data: st.DataObject) -> None:
    """Also where one value is replaced by something else."""
    assert _accepts(document)
    if data.draw(st.booleans()):
        _spoil(document, data)
    try:
        read(rendered(document), "test", preset)
    except PolicyError:
        return
    assert _accepts(document)


def _spoil(document: Document, data: st.DataObject) -> None:
    """Replace one value of a document, or of a part of it, or add one."""
    tables = [document, *document.get("rule", [])]
    tables += [
        document[key] for key in ("attributes", "groups", "queries", "daemon") if key in document
    ]
    table = data.draw(st.sampled_from(tables))
    parts = "recipient", "attribute", "query", "topic", "name", "expires"
    keys = [*table, *parts, "k", "anonymity_price", "population"]
    wrong = (each for each in WRONG if each is not None)
    table[data.draw(st.sampled_from(keys))] = data.draw(st.sampled_from([*wrong]))


REFUSED = Path(__file__).with_name("refused.txt").read_text(encoding="utf-8").split("----\n")


@pytest.mark.parametrize("example", REFUSED)
def test_it_refuses_what_an_editor_can_know(example: str) -> None:
    """As the reader does."""
    assert not _accepts(tomllib.loads(example))
    with pytest.raises(PolicyError):
        read(example, "test", preset)


MEMBERS = st.sampled_from(
    [
        *("a.example", "www.a.example", "*.a.example", "b.example", "x.y.b.example", "example"),
        *("*.example", "co.uk", "*.co.uk", "a.co.uk", "uk", "192.0.2.7", "2001:db8::1"),
        *("localhost", "*.github.io", "me.github.io", "kobe.jp", "a.kobe.jp", "city.kobe.jp"),
    ]
)
GIVEN = st.dictionaries(st.sampled_from("abcd"), st.lists(MEMBERS, min_size=1, max_size=3))


def groups_of(given_: dict[str, list[str]]) -> tuple[Groups, set[str]]:
    """Return the groups, and those of them that have a recipient of an earlier one."""
    reader = SectionReader("test", Layer.FILE)
    reader.table((), {"groups": given_}, TOP_KINDS)
    return reader.groups, {problem.key.removeprefix("groups.") for problem in reader.problems("")}


@given(GIVEN)
def test_groups_have_no_recipient_in_common(given_: dict[str, list[str]]) -> None:
    """A group is refused exactly if some host is meant by it and by one before it."""
    groups, refused = groups_of(given_)
    names = list(groups)
    assert refused == {
        name
        for place, name in enumerate(names)
        for earlier in names[:place]
        if any(
            one.key == other.key or one.matches(other.key) or other.matches(one.key)
            for one, other in product(groups[name], groups[earlier])
        )
    }


@given(
    GIVEN, ANY_HOSTS | st.sampled_from(["a.example", "x.a.co.uk", "uk", "github.io", "x.kobe.jp"])
)
def test_a_host_pools_as_its_site_does(given_: dict[str, list[str]], host: str) -> None:
    """Whoever registered it is in one group, or in none; this machine has many names."""
    assume(owned_with(host)[0] != "localhost")
    groups, refused = groups_of(given_)
    if not refused:
        pools = Pools(groups)
        holders = [n for n, its in groups.items() if any(m.matches(site_of(host)) for m in its)]
        assert len(holders) <= 1
        assert pools.of(host) == pools.of(site_of(host))
        assert pools.of(host) == (f"@{holders[0]}" if holders else site_of(host))
        assert pools.group(host) == pools.group(site_of(host))
