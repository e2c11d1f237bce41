"""The schema for editors: in step with the settings, and never stricter than the reader."""

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent.errors import PolicyError
from policy.hosts import site_of
from policy.read import preset, read
from policy.rules import Groups, Layer, Pools
from policy.schema import schema, text
from policy.sections import TOP_KINDS, SectionReader
from policy.settings import DEFAULTS, SETTINGS
from tests.house.tree import ROOT
from tests.policy.strategies import ANY_HOSTS, Document, documents, rendered

SHIPPED = ROOT / "policy/policy.schema.json"
VALIDATOR = Draft202012Validator(schema())
BLOCK = re.compile(r"^```(toml[ a-z]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall((ROOT / "policy/FORMAT.md").read_text())
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


def accepts(document: Document) -> bool:
    """Say whether the schema accepts a document."""
    return VALIDATOR.is_valid(as_json(document))


def test_the_shipped_schema_is_that_of_the_settings() -> None:
    """It is generated, and only looks like data."""
    command = "python -m policy.schema > policy/policy.schema.json"
    assert SHIPPED.read_text(encoding="utf-8") == text(), f"out of step: run `{command}`"


def test_it_is_a_schema() -> None:
    """By the schema of schemas; and the patterns are of every dialect of regular expressions."""
    Draft202012Validator.check_schema(schema())
    patterns = re.findall(r'"pattern": (".*")', text())
    assert patterns
    assert not any(re.search(r"\\[^s{}\[\]]|\(\?", json.loads(each)) for each in patterns)


def test_nothing_unknown_is_accepted_anywhere() -> None:
    """Every object says what it may have."""

    def objects(node: object) -> list[dict[str, Any]]:
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        own = [node] if isinstance(node, dict) and node.get("type") == "object" else []
        return own + [each for part in inner for each in objects(part)]

    found = objects(schema())
    assert len(found) == 7
    assert all(each["additionalProperties"] is not True for each in found)
    assert all(each["additionalProperties"] is False or "propertyNames" in each for each in found)


@pytest.mark.parametrize("key", SETTINGS)
def test_each_setting_is_described(key: str) -> None:
    """With what it does and its default, which it accepts; and it is allowed in rules too."""
    made, setting = schema(), SETTINGS[key]
    assert made["$defs"][key]["description"] == setting.means
    assert made["$defs"][key].get("default") == DEFAULTS.get(key)
    assert key in made["properties"]
    assert key in made["properties"]["rule"]["items"]["properties"]
    if key in DEFAULTS:
        assert accepts({key: DEFAULTS[key]})
    for choice in setting.choices:
        assert accepts({key: choice})
        assert not accepts({key: choice.upper()})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_shipped_policies_are_accepted(path: Any) -> None:  # noqa: ANN401 - a path
    """The presets, and the examples of policies."""
    assert accepts(tomllib.loads(path.read_text()))


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_it_judges_the_examples_of_the_format(kind: str, example: str) -> None:
    """As the document does."""
    assert accepts(tomllib.loads(example)) == (kind == "toml")


@given(documents(), st.data())
def test_what_the_reader_accepts_it_accepts(document: Document, data: st.DataObject) -> None:
    """Also where one value is replaced by something else."""
    assert accepts(document)
    if data.draw(st.booleans()):
        _spoil(document, data)
    try:
        read(rendered(document), "test", preset)
    except PolicyError:
        return
    assert accepts(document)


def _spoil(document: Document, data: st.DataObject) -> None:
    """Replace one value of a document, or of a part of it, or add one."""
    tables = [document, *document.get("rule", [])]
    tables += [
        document[key] for key in ("attributes", "groups", "queries", "daemon") if key in document
    ]
    table = data.draw(st.sampled_from(tables))
    keys = [*table, "recipient", "attribute", "query", "name", "expires", "k", "lambda", "model"]
    wrong = (each for each in WRONG if each is not None)
    table[data.draw(st.sampled_from(keys))] = data.draw(st.sampled_from([*wrong]))


@pytest.mark.parametrize(
    "example",
    [
        *("lamda = 5", "lambda = true", 'k = "5"', "k = 0", "format = 2", 'preset = "balnaced"'),
        *('trusted_keys = "ed25519:0"', 'search = "https://search.example/"', 'model = "Other"'),
        *("[groups]\nads = []", '[groups]\n"a.b" = "a.b"', '[groups]\nlocalhost = "a.b"'),
        *('[attributes]\nAge = "ask"', "[attributes]\nage = { k = 5 }", "[attributes]\nage = {}"),
        *('[queries]\nblok = "flu"', 'search = "http://shop.example/?q={query}"'),
        'search = "http://localhost.shop.example/?q={query}"',
        'search = "http://127.0.0.1.shop.example/?q={query}"',
        *("[daemon]\nlock_after_minutes = -1", "[daemon]\nlock_after_minutes = 481"),
        *("[daemon]\nprompts_per_hour = 1.5", "[daemon]\nprompts = 1", "prompts_per_hour = 1"),
        *('[daemon]\nprompt = "gui"', '[daemon]\npinentry = "pinentry"'),
        *("[[rule]]", '[[rule]]\nattribute = "age"\nk = 5'),
        *('[[rule]]\nquery = "flu"\nmemory = "forgets"', "[[rule]]\nrecipients = 'a.b'\nk = 5"),
        "[[rule]]\nexpires = 5\nk = 5",
    ],
)
def test_it_refuses_what_an_editor_can_know(example: str) -> None:
    """As the reader does."""
    assert not accepts(tomllib.loads(example))
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
    refused = {problem.key.removeprefix("groups.") for problem in reader.problems("")}
    return reader.groups, refused


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
    """Whoever registered it is in one group, or in none."""
    groups, refused = groups_of(given_)
    if not refused:
        pools = Pools(groups)
        holders = [n for n, its in groups.items() if any(m.matches(site_of(host)) for m in its)]
        assert len(holders) <= 1
        assert pools.of(host) == pools.of(site_of(host))
        assert pools.of(host) == (f"@{holders[0]}" if holders else site_of(host))
        assert pools.group(host) == pools.group(site_of(host))
