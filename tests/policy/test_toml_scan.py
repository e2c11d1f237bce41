"""On which line each key of a policy stands."""

import tomllib
from collections.abc import Iterator
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policy.read import LARGEST
from policy.toml_scan import DEPTH, Key, line_of, lines_of
from tests.policy.written import Written, policies

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
    "[a]",
    "[a.b]",
    "[ a . 'b' . c ] # ]",
    "[[a]]",
    "[[ a . b ]]",
    '[["b"]]',
    "[b.c]",
    "[[b.c.d]]",
    "[c]\t",
    "# [d]",
    "",
    " ",
)


@given(policies())
def test_each_key_has_the_line_on_which_it_was_written_first(policy: Written) -> None:
    """In every form, between comments and strings that look like headers and keys."""
    tomllib.loads(policy.text)
    assert lines_of(policy.text) == policy.lines


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
    assert found.keys() == known.keys()
    assert [path for path, line in found.items() if line not in known[path]] == []


@given(policies(), st.data())
def test_a_text_with_a_slip_in_it_is_scanned_if_it_is_toml(
    policy: Written, data: st.DataObject
) -> None:
    """A few characters are gone, or others are there, and many a slip still means something."""
    start = data.draw(st.integers(0, len(policy.text)))
    slip = data.draw(st.text("ab.=[]{}\"'\\#, \n", max_size=3))
    text = policy.text[:start] + slip + policy.text[start + data.draw(st.integers(0, 3)) :]
    if accepted(text):
        assert lines_of(text).keys() == {*paths(tomllib.loads(text))}


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
            held = [*paths(inner, (*above, place))]
            if held or isinstance(inner, dict):
                yield from ((*above, place), *held)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("preset",), 1),
        (("attributes", "salary", "guard"), 6),
        (("rule", 1), 12),
        (("rule", 1, "recipient"), 13),
        (("rule", 1, "lambda"), 12),
        (("rule", 7, "lambda"), 10),
        (("nowhere", "k"), 1),
    ],
)
def test_examples_of_lines(path: Key, line: int) -> None:
    """What is not there is said of the nearest part before it that is."""
    text = """\
preset = "strict"

[attributes]
gender = "never"
salary.disclose = "ask"
salary.guard = 1

[attributes.age]
disclose = "ask"
[[rule]]

[[rule]]
recipient = [
  "b.example",
]
"""
    assert line_of(lines_of(text), path) == line


def test_a_path_that_is_too_deep_has_the_line_of_its_beginning() -> None:
    """Headers, dotted keys and inline tables alike; what follows them is not confused."""
    deep = ".".join("a" * 2 * DEPTH)
    text = f"{deep} = 1\n[b.{deep}]\n{deep} = 1\n[[c.{deep}]]\na = 1\n[[c.{deep}]]\na = 2\nb = 3\n"
    found = lines_of(text)
    for path in paths(tomllib.loads(text)):
        assert line_of(found, path) == {"a": 1, "b": 2, "c": 4}[str(path[0])]
    assert max(map(len, found)) == DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "[[rule]]\nname='a'\n" * (LARGEST // 18),
        "a = [" + "{b = 1}, " * (LARGEST // 9) + "]",
        'a = """' + '\\n""' * (LARGEST // 4) + 'x"""',
        "a = '''" + "''x\n" * (LARGEST // 4) + "'''",
        " # \n" * (LARGEST // 4),
        "a = " + "[" * 200 + "{b = 1}, " * (LARGEST // 9) + "]" * 200,
    ],
    ids=["rules", "tables", "basic", "literal", "comments", "deep"],
)
def test_the_largest_policy_is_scanned_in_linear_time(text: str) -> None:
    """What takes time by the square of the size would take minutes."""
    tomllib.loads(text)
    began = process_time()
    lines_of(text)
    assert process_time() - began < 30
