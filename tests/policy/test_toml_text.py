"""On which line each key of a policy stands, and changes that leave the rest as it was written."""

import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import date
from time import process_time
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.read import LARGEST
from policy.toml_text import DEPTH, Key, line_of, lines_of, rewritten, same, statements
from tests.policy.written import LISTS, NAMES, NUMBERS, SETTINGS, STRINGS, VALUES, Written, policies

# Statements that clash, open what others extend, or look like something else.
FRAGMENTS = (
    "a = 1",
    "a.b = 2",
    "a . b.\tc = 3",
    "b = { a = 1, b.c = [ { d = 2 } ] }",
    "c = [ 1, [ { a = 1 }, { } ], # ] }\n { b = { c = 2 } },\n]",
    '"" = ""',
    "'' . '\"' = ''",
    '"a\\u0062" = """\n[a]\n b = 1 # """"\n\\""""""',
    "d = '''\n[[a]]\n'''''",
    "e = [ '''],''', \"]\", # \"\n ']' ]",
    "f = 1979-05-27 07:32:00 # a space",
    "g = [ 1979-05-27 07:32:00 , inf, -0x1 ]",
    *("[a]", "[a.b]", "[ a . 'b' . c ] # ]", "[[a]]", "[[ a . b ]]", '[["b"]]', "[b.c]"),
    *("[[b.c.d]]", "[c]\t", "# [d]", "", " "),
)
KEYS = st.sampled_from(["preset", "lambda", "k", "search", "é ü"])
RULE = st.dictionaries(
    st.sampled_from(["name", "lambda", "k", "recipient", "query", "expires"]),
    VALUES | LISTS,
    max_size=4,
)
ODD = st.text(max_size=8)


@given(policies())
def test_each_key_has_the_line_on_which_it_was_written_first(policy: Written) -> None:
    """In every form, between comments and strings that look like headers and keys."""
    found = lines_of(policy.text)
    assert found.items() <= policy.lines.items()
    assert {path[:1] for path in found} == {path[:1] for path in policy.lines}


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), st.sampled_from(["\n", "\r\n"]))
@example(["[[a]]", "[a.b]", "[[a]]", "[[a.b]]", "[[a.b]]", "a = 1"], "\n")
def test_a_path_stands_where_it_becomes_known(fragments: list[str], newline: str) -> None:
    """The paths are those that tomllib finds, each within the statement that brought it."""
    text, known, lines = "", dict[Key, range](), 1
    for fragment in fragments:
        longer = f"{text}{fragment}\n".replace("\r\n", "\n").replace("\n", newline)
        if not accepted(longer):
            continue
        after = longer.count("\n") + 1
        for path in paths(tomllib.loads(longer)):
            known.setdefault(path, range(lines, after))
        text, lines = longer, after
    found = lines_of(text)
    values = [each.path for each in statements(text) if not each.is_header]
    inside = {path for path in known for value in values if value == path[: len(value)] != path}
    assert found.keys() == known.keys() - inside
    assert [path for path, line in found.items() if line not in known[path]] == []


def accepted(text: str) -> bool:
    """Tell whether tomllib accepts a text."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def paths(value: object, above: Key = ()) -> Iterator[Key]:
    """Yield the path of each key at every level, and of what in an array is or holds a table."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*above, key)
            yield from paths(inner, (*above, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from ((*above, place), *paths(inner, (*above, place)))


def test_a_path_that_is_too_deep_has_the_line_of_its_beginning() -> None:
    """Headers and dotted keys alike; what is missing has the line of the nearest part before it."""
    deep = ".".join("a" * 2 * DEPTH)
    text = f"{deep} = 1\n[b.{deep}]\n{deep} = 1\n[[c.{deep}]]\na = 1\n[[c.{deep}]]\na = 2\nb = 3\n"
    found = lines_of(text)
    for path in paths(tomllib.loads(text)):
        assert line_of(found, path) == {"a": 1, "b": 2, "c": 4}[str(path[0])]
    assert max(map(len, found)) == DEPTH
    assert line_of(found, ("nowhere", "k")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[[rule]]\nname='a'\n" * (LARGEST // 18),
        'a = """' + '\\n""' * (LARGEST // 4) + 'x"""',
        "a = '''" + "''x\n" * (LARGEST // 4) + "'''",
        " # \n" * (LARGEST // 4),
        "a = " + "[" * 200 + "{b = 1}, " * (LARGEST // 9) + "]" * 200,
    ],
    ids=["rules", "basic", "literal", "comments", "deep"],
)
def test_the_largest_policy_is_scanned_in_linear_time(text: str) -> None:
    """What takes time by the square of the size would take minutes."""
    began = process_time()
    lines_of(text)
    assert process_time() - began < 20


@st.composite
def changes(draw: st.DrawFn, document: dict[str, Any]) -> tuple[dict[str, Any], Key]:
    """Draw a change of a document, and the path at which it is."""
    wanted = deepcopy(document)
    rules = wanted.setdefault("rule", [])
    attributes = wanted.setdefault("attributes", {})
    name = draw(st.sampled_from(NAMES))
    kind = draw(st.sampled_from(["top", "attribute", "no attribute", "rule", "key", "no rule"]))
    if kind == "top":
        key = draw(KEYS)
        wanted[key] = draw(STRINGS | NUMBERS | st.booleans())
        return wanted, (key,)
    if kind == "attribute":
        attributes[name] = draw(STRINGS | SETTINGS)
        return wanted, ("attributes", name)
    if kind == "no attribute":
        assume(attributes)
        del attributes[gone := draw(st.sampled_from(sorted(attributes)))]
        return wanted, ("attributes", gone)
    if kind == "rule":
        rules.append(draw(RULE))
        return wanted, ("rule", len(rules) - 1)
    assume(rules)
    place = draw(st.integers(0, len(rules) - 1))
    if kind == "key":
        rules[place][key := draw(KEYS)] = draw(VALUES | LISTS)
        return wanted, ("rule", place, key)
    rules[place] = None
    return wanted, ("rule", place)


@given(policies(), st.data())
def test_a_text_says_what_is_wanted_and_nothing_else(policy: Written, data: st.DataObject) -> None:
    """In whichever form it stood, with every comment on a line of its own, in its order."""
    document = tomllib.loads(policy.text)
    wanted, changed = data.draw(changes(document))
    values = [each.path for each in statements(policy.text) if not each.is_header]
    holder = next((path for path in values if path == changed[: len(path)] != changed), None)
    try:
        result = rewritten(policy.text, wanted)
    except UsageError:
        assert holder is not None  # with a comment inside of what must be written anew
        assert any(owner[: len(holder)] == holder for owner in policy.comments.values())
        return
    wanted["rule"] = [each for each in wanted["rule"] if each is not None]
    assert same(filled(tomllib.loads(result)), filled(wanted))
    changed = changed if holder is None else holder
    outside = [each for each, owner in policy.comments.items() if owner[: len(changed)] != changed]
    offsets = [result.find(comment) for comment in outside]
    assert offsets == sorted(offsets)
    assert -1 not in offsets
    assert rewritten(result, tomllib.loads(result)) == result


def filled(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without empty tables: these say nothing."""
    return {key: value for key, value in document.items() if value not in ({}, [])}


@given(policies())
def test_what_changes_nothing_returns_the_same_text(policy: Written) -> None:
    """To the last character."""
    assert rewritten(policy.text, tomllib.loads(policy.text)) == policy.text


@given(ODD, ODD, ODD)
def test_any_text_may_be_a_name_or_a_value(name: str, value: str, setting: str) -> None:
    """Quotes, dots, control characters, nothing: what is written is read back."""
    wanted = {
        f"attributes.{setting}": value,
        "attributes": {name: {"disclose": value, setting: 1.0}, f"{name}.": value},
        "rule": [{"name": name, "query": [value, name]}],
    }
    assert tomllib.loads(rewritten("", wanted)) == wanted


TEXT = """\
# Written by hand.
preset = "strict"  # to begin with
# lambda = 5

# Who pools.
[groups]
adverts = ["ads.example"]

# Books.
[[rule]]
name = "books"  # whose name is this
recipient = "books.example"
# It is cheap.
lambda = 3

[attributes]
gender = "never"  # of course
salary.disclose = "ask"
salary.guard = 1

# Shops.
[[rule]]
name = "shops"
# Nothing for them.
nothing = true

[attributes.age]
disclose = "ask"
"""
SALARY = 'salary.disclose = "ask"\nsalary.guard = 1\n'
SHOPS = '[[rule]]\nname = "shops"\n# Nothing for them.\nnothing = true\n'


def at(*path: str | int, value: Any = None) -> Callable[[dict[str, Any]], None]:  # noqa: ANN401  (any TOML)
    """Return a change of a document: a value at a path, or nothing there."""

    def change(document: dict[str, Any]) -> None:
        holder: Any = document
        for key in path[:-1]:
            holder = holder.setdefault(key, {}) if isinstance(key, str) else holder[key]
        if value is not None or isinstance(path[-1], int):
            if isinstance(holder, list) and path[-1] == len(holder):
                holder.append(value)
            else:
                holder[path[-1]] = value
        else:
            del holder[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (at("preset", value="balanced"), '"strict"  #', '"balanced"  #'),
        (at("k", value=50), "to begin with\n", "to begin with\nk = 50\n"),
        (at("attributes", "gender", value="ask"), '"never"  #', '"ask"  #'),
        (at("attributes", "salary", value="ask"), SALARY, 'salary = "ask"\n'),
        (at("attributes", "dev_*", value="auto"), SALARY, f'{SALARY}"dev_*" = "auto"\n'),
        (at("attributes", "age"), '\n[attributes.age]\ndisclose = "ask"\n', ""),
        (at("attributes", "salary"), SALARY, ""),
        (at("rule", 0, "k", value=5), "lambda = 3\n", "lambda = 3\nk = 5\n"),
        (
            at("rule", 2, value={"name": "new", "expires": date(2027, 3, 1)}),
            'disclose = "ask"\n',
            'disclose = "ask"\n\n[[rule]]\nname = "new"\nexpires = 2027-03-01\n',
        ),
        (at("rule", 1), SHOPS, "# Nothing for them.\n"),
    ],
)
def test_examples_of_changes(change: Callable[[dict[str, Any]], None], old: str, new: str) -> None:
    """What changes, where it stands; the rest keeps every character."""
    head, _, tail = TEXT.rpartition(old)
    changed, wanted = head + new + tail, tomllib.loads(TEXT)
    change(wanted)
    assert rewritten(TEXT, wanted) == changed
    assert rewritten(TEXT.replace("\n", "\r\n"), wanted) == changed.replace("\n", "\r\n")


AGE, NO_AGE, NEW_K = at("attributes", "age", value="ask"), at("attributes", "age"), at("k", value=5)


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
        # A setting stands above the tables, and above the comment on the first of them.
        (NEW_K, "", "k = 5\n"),
        (NEW_K, "# mine\n[groups]", "# mine\nk = 5\n\n[groups]\n"),
        (NEW_K, "# mine\n\n# pools\n[groups]", "# mine\n\nk = 5\n\n# pools\n[groups]\n"),
        # An attribute stands in the table that there is, or in a new one.
        (AGE, "k = 5\n[[rule]]\n", 'k = 5\n\n[attributes]\nage = "ask"\n\n[[rule]]\n'),
        (AGE, "attributes.b = 'ask'", "attributes.b = 'ask'\nattributes.age = \"ask\"\n"),
        (AGE, "[attributes]\n\n[groups]", '[attributes]\nage = "ask"\n\n[groups]\n'),
        # What stands in a value is written anew with it.
        (AGE, "attributes = {} # none", 'attributes = { age = "ask" } # none\n'),
        (NO_AGE, "attributes = {x=1, age = 'ask'}", "attributes = { x = 1 }\n"),
        (at("rule", 0), "rule = [{k = 1}, {k = 2}]", "rule = [{ k = 2 }]\n"),
    ],
)
def test_where_a_line_or_an_entry_stands(
    change: Callable[[dict[str, Any]], None], text: str, changed: str
) -> None:
    """What is there stays as it is written, comments included."""
    wanted = tomllib.loads(text)
    change(wanted)
    assert rewritten(text, wanted) == changed


def test_a_text_that_is_not_toml_is_not_changed() -> None:
    """Nor one whose change would say anything else, whatever the reason."""
    for text in ("k = = 1", "k = 1\nk = 1", "k = " + "[" * 5000):
        with pytest.raises(UsageError, match="not TOML"):
            rewritten(text, {"k": 2})


@pytest.mark.parametrize("result", ["k = 1\n", "k = 1\n="])
def test_a_result_that_says_something_else_is_not_returned(
    monkeypatch: pytest.MonkeyPatch, result: str
) -> None:
    """Whatever the reason."""
    monkeypatch.setattr("policy.toml_text._changed", lambda *_: result)
    with pytest.raises(UsageError, match="safely"):
        rewritten("k = 1\n", {"k": 2})


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), ([1], [1, 1]), ({"a": 1}, {"b": 1})]
)
def test_values_are_compared_with_their_types(one: object, other: object) -> None:
    """Python's own comparison would let a changed type through."""
    assert same(one, deepcopy(one))
    assert not same(one, other)
    assert same(float("nan"), float("nan"))
