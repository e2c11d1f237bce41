"""A policy file is read as it is written, or all that is wrong with it is said, and soon."""

import os
import socket
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import process_time

import pytest
from hypothesis import given

from agent.errors import PolicyError, Problem, UsageError
from policy.match import Rulebook, known
from policy.read import (
    LARGEST,
    MOST_PARTS,
    MOST_RULES,
    audit,
    is_empty_policy,
    load,
    opened,
    preset,
    preset_text,
    read,
)
from policy.rules import Layer, Policy
from policy.sections import MOST_FOUND, PRESETS
from policy.settings import DEFAULTS, SETTINGS
from tests.policy import naive
from tests.policy.strategies import NAMES, TODAY, Document, documents, rendered

RULE = '[[rule]]\nrecipient = "shop.example"\n'
NAMED = "a name has small letters, digits and _; * stands for any of them"
HOST = "write a host such as books.example, 192.0.2.7 or 2001:db8::1"
NAMED_A = f"{RULE}name = 'a'\nk = 1\n"
FOR, FOR_FLU = "[[rule]]\nrecipient = ", f"{RULE}query = 'flu'\n"
HOURLY, IDLE = "prompts_per_hour", "lock_after_minutes"
SEARCH = "https://b.c/{query}"
MANY_ATTRIBUTES = "".join(
    f"{RULE}guard = 1\nattribute = {[f'{one}{each}' for each in range(667)]}\n" for one in "abc"
)
LIST = "a list of up to 1,000 texts"
SET = "say what the rule does, such as disclose = 'never'"
TABLE = "and its keys below"
KEY = f"ed25519:{'0a' * 32}"
LONG = "x" * 201
HOSTILE = {
    "parts of a key": ".".join(["a"] * 20_000) + " = 1\n",
    "quoted parts of a key": " . ".join(["'a'"] * 20_000) + " = 1\n",
    "keys of many parts": "".join(f"{'a.' * 62}b{each} = 1\n" for each in range(3_800)),
    "headers of many parts": "".join(f"[{'a.' * 62}b{each}]\n" for each in range(3_800)),
    "parts in a table": "a = [" + f"{{{'b.' * 60}c = 1}}, " * 3_500 + "]\n",
    "keys that are none": "".join(f"a{each} = 1\n" for each in range(40_000)),
    "attributes": "[attributes]\n" + "".join(f"a{each} = 'never'\n" for each in range(25_000)),
    "groups": "[groups]\n" + "".join(f"g{each} = 'h{each}.example'\n" for each in range(18_000)),
    "rules": f"{RULE}lambda = 3\n" * 20_000,
    "quotes": '"\\"' * 170_000,
    "more quotes": '"""' + '\\"' * 200_000,
    "numbers": "a = [" + "1," * 250_000 + "]\n",
    "a long number": "lambda = 0." + "9" * 500_000 + "\n",
}


def problems(text: str) -> list[Problem]:
    """Return what is wrong with a policy that is refused."""
    with pytest.raises(PolicyError) as raised:
        read(text, "mine.toml", preset)
    assert raised.value.source == "mine.toml"
    return list(raised.value.problems)


@pytest.mark.parametrize(
    ("text", "line", "key", "what", "hint"),
    [
        ("\nlamda = 1", 2, "lamda", "unknown key 'lamda'", "did you mean 'lambda'?"),
        ("zzz = 1", 1, "zzz", "unknown key 'zzz'", "known: address, assistant,"),
        ('"a\\u001b" = 1', 1, '"a\\u001b"', "unknown key 'a\\x1b'", ""),
        ("format = 2", 1, "format", "2 is not a format that", "write format = 1"),
        ("format = true", 1, "format", "true is not a format", ""),
        ('preset = "Strikt"', 1, "preset", "unknown preset 'Strikt'", "did you mean 'strict'?"),
        ("preset = []", 1, "preset", "a list is not a preset", "one of balanced, generous, strict"),
        ("trusted_keys = 1", 1, "trusted_keys", f"1 is not text, nor {LIST}", ""),
        ('trusted_keys = ["x"]', 1, "trusted_keys", "'x' is not a public key", "ed25519: and 64"),
        (f'trusted_keys = "{KEY.upper()}"', 1, "trusted_keys", "is not a public key", ""),
        ("attributes = 1", 1, "attributes", "1 is not a table", f"write [attributes] {TABLE}"),
        ("[rule]\nk = 1", 1, "rule", "a table is not a list of tables", "write [[rule]] and"),
        ("violations = 1", 1, "violations", "1 is not a share from 0", "for 1 % write 0.01"),
        ("risk = true", 1, "risk", "true is not above 0", "risk is above 0 and at most 1"),
        ("k = 2.5", 1, "k", "2.5 is not a whole number", "k is a whole number from 1"),
        # groups
        ("[groups]\nA = 'a.example'", 2, "groups.A", "'A' is not a group name", "a name has"),
        ("[groups]\nlocalhost = 'a.b'", 2, "groups.localhost", "is not a group name", ""),
        ("[groups]\na = []", 2, "groups.a", "the list is empty", "or leave it out"),
        ("[groups]\na = 'https://a.b/'", 2, "groups.a", "has a scheme", "write the host alone"),
        ("[groups]\na = 'a.*.b'", 2, "groups.a", "has a * in the wrong place", "write *"),
        ("[groups]\na = 'a.b'\nb = 'x.a.b'", 3, "groups.b", "a.b is in 'a' as well", "put it"),
        ("[groups]\na = 'x.com'\nb = '*.com'", 3, "groups.b", "*.com is in 'a' as well", "put it"),
        # attributes
        ("[attributes]\nAge = 'ask'", 2, "attributes.Age", "'Age' is not an attribute name", NAMED),
        ("attributes.age = 'nevr'", 1, "attributes.age", "'nevr' is not one of", "mean 'never'?"),
        ("attributes.age = 5", 1, "attributes.age", "5 is not one of always,", "in quotes"),
        ("[attributes]\nage = {}", 2, "attributes.age", "nothing is set", SET),
        ("attributes.age.expires = 2027-03-01", 1, "attributes.age", "nothing is set", SET),
        ("[attributes.age]\ngard = 1", 2, "attributes.age.gard", "unknown key", "mean 'guard'?"),
        ("[attributes.age]\nk = 1", 2, "attributes.age.k", "'k' does not belong here", "the top"),
        # queries
        ("[queries]\nblok = 'a'", 2, "queries.blok", "unknown key 'blok'", "did you mean 'block'?"),
        ("[queries]\nblock = ['a', '*']", 2, "queries.block", "has no letter", "write words"),
        ("queries.block = 'a *b'", 1, "queries.block", "has a * that does not end", "write *"),
        (f"queries.block = '{LONG}'", 1, "queries.block", "more than 200 characters", "fewer"),
        ("[attributes]\nlambda = 5", 2, "attributes.lambda", "is not an attribute", "the top"),
        ("[[rule]]\nk = 2\npreset = 'strict'", 3, "rule[1].preset", "does not belong here", "top"),
        ('k = "5"', 1, "k", "'5' is not a whole number from 1", "write 5 without quotes"),
        ("k = 2.0", 1, "k", "2.0 is not a whole number from 1", "write 2 without decimals"),
        ("lambda = -1.0", 1, "lambda", "-1.0 is not a number from 0", "lambda is a number from 0"),
        ("risk = 5.0", 1, "risk", "5.0 is not a", "for 5 % write 0.05"),
        # the daemon
        ("daemon = 1", 1, "daemon", "1 is not a table", f"write [daemon] {TABLE}"),
        ("[daemon]\nclick = true", 2, "daemon.click", "unknown key 'click'", "mean 'clicks'?"),
        (f"daemon.{HOURLY} = 1.5", 1, f"daemon.{HOURLY}", "1.5 is not a whole number from 0", ""),
        (f"daemon.{IDLE} = '15'", 1, f"daemon.{IDLE}", "'15' is not a number", "write 15 without"),
        (f"daemon.{IDLE} = 481", 1, f"daemon.{IDLE}", "481 is not a number from 0 to 480", ""),
        ("[daemon]\nlambda = 1", 2, "daemon.lambda", "does not belong here", "the top"),
        (f"{HOURLY} = 1", 1, HOURLY, "does not belong here", "move it under [daemon]"),
        ("[attributes]\ndaemon = 'ask'", 2, "attributes.daemon", "is not an attribute", "the top"),
        # rules
        (f"{RULE}kk = 1", 3, "rule[1].kk", "unknown key 'kk'", "did you mean 'k'?"),
        (RULE, 1, "rule[1]", "nothing is set", SET),
        (f"{RULE}name = ''\nk = 1", 3, "rule[1].name", "'' is not a name", "one line of up to 200"),
        (f'{RULE}name = "a\\nb"\nk = 1', 3, "rule[1].name", r"'a\nb' is not a name", ""),
        (f"{NAMED_A}{NAMED_A}", 7, "rule[2].name", "another rule is called 'a'", "give each rule"),
        (f"{RULE}k = 1\nexpires = '2027-03-01'", 4, "rule[1].expires", "is not a date", "without"),
        (f"{RULE}k = 1\nexpires = 2027-03-01T00:00:00", 4, "rule[1].expires", "is not a date", ""),
        ("[[rule]]\nrecipient = 'ads'\nk = 1", 2, "rule[1].recipient", "unknown group 'ads'", ""),
        (f"groups.ads = 'a.b'\n{FOR}'ad'\nk = 1", 3, "rule[1].recipient", "'ad'", "mean 'ads'?"),
        (f"{FOR}'a..b'\nk = 1", 2, "rule[1].recipient", "'a..b' is not a host name", HOST),
        (f"{RULE}attribute = 'a b'\nguard = 1", 3, "rule[1].attribute", "'a b' is not an", NAMED),
        (f"{RULE}attribute = 'age'\nk = 1", 4, "rule[1].k", "some attributes cannot set", "leave"),
        (f"{FOR_FLU}memory = 'forgets'", 4, "rule[1].memory", "some queries cannot set", "leave"),
        (f"{RULE}search = '{SEARCH}'", 3, "rule[1].search", "b.c is not a recipient of", "write"),
        # no word that opens is named for one that was not
        ("disclose = 'alwasy'", 1, "disclose", "is not one of", "write one of them in quotes"),
        ("disclose = 'nevr'", 1, "disclose", "is not one of", "did you mean 'never'?"),
        # the file as a whole
        ("k = 1\nk = 2", 2, "", "not TOML: cannot overwrite a value", "twice"),
        ("a = ", 1, "", "not TOML: invalid value", 'in "quotes"'),
        ("k = 1\nb = [1", 2, "", "not TOML: unclosed array", "see toml.io"),
        (f"k = {'1' * 5000}", 1, "", "not TOML: exceeds the limit", "see toml.io"),
        (f"k = {'[' * 5000}", 1, "", "the file is nested too deeply", "no part of a policy"),
        (f"{'a.' * MOST_PARTS}a = 1", 1, "", "a key has more than 64", "no key"),
        (RULE + "k = 3\n" + f"{RULE}k = 3\n" * MOST_RULES, 1, "", "2,001 rules", "list several"),
        (MANY_ATTRIBUTES, 1, "", "the rules name 2,001 attributes", "write patterns with *"),
        ("#" * (LARGEST + 1), 1, "", "more than half a million", "shorten it"),
    ],
)
def test_every_kind_of_problem(text: str, line: int, key: str, what: str, hint: str) -> None:
    """It has its line and key, says what is wrong, and what would be right."""
    (problem,) = problems(text)
    assert (problem.line, problem.key) == (line, key)
    assert what in problem.what
    assert hint in problem.hint
    for said in (problem.what, problem.hint):
        assert said
        assert not said.endswith(".")
        assert said.isprintable()


OUTSIDE = (
    *((key, "inf") for key in ("lambda", "sensitivity", "guard")),
    *((key, "nan") for key in ("lambda", "sensitivity", "guard", "violations", "risk")),
    *((key, "-1") for key in ("lambda", "k", "attributes_per_request")),
    *((key, "-0.1") for key in ("sensitivity", "guard", "violations", "risk")),
    *((key, "true") for key in SETTINGS if key not in ("nothing", "assistant")),
    *((key, "'1'") for key in SETTINGS if key != "model"),
    *((key, "2.0") for key in ("k", "attributes_per_request", "new_facts_per_week")),
    ("page_requests_per_minute", "2.0"),
    *((key, "[1]") for key in SETTINGS),
    *((key, "1979-05-27") for key in SETTINGS),
    *((key, f"0x{'f' * 5000}") for key in SETTINGS),
    *((key, f"-0x{'f' * 200}") for key in SETTINGS),
    *(("k", "0"), ("violations", "1"), ("risk", "0"), ("risk", "1.5"), ("nothing", "1")),
    *(("nothing", "'true'"), ("model", "'../x'"), ("model", "'a\\n'"), ("assistant", "'true'")),
    *(("search", "'https://a.example/'"), ("search", "'ftp://a.example/{query}'")),
    *(("address", "'http://chat.example/'"), ("address", "'http://localhost.example/'")),
    *(("address", "'https://chat.example/new'"), ("address", "'https://me@chat.example/'")),
    ("address", "'chat.example'"),
)


def test_every_setting_has_a_range() -> None:
    """And a sentence for what is outside; nothing is taken for something else."""
    for key, given_ in OUTSIDE:
        value = given_ if given_[0] != "-" or "x" not in given_ else f"{int(given_, 16)}"
        found = problems(f"\n{key} = {value}")
        assert [(each.line, each.key) for each in found] == [(2, key)]
        assert "is not" in found[0].what
        assert len(found[0].what) < 200


def test_all_at_once_in_the_order_of_the_file() -> None:
    """One mistake does not hide another, and none is told twice."""
    text = """
preset = "balnaced"
attributes.gender = "nevr"

[[rule]]
recipient = "adds"
k = 0
kk = 1
mode = "standing"

[groups]
ads = ["a.example", "a..b"]

[[rule]]
name = ""
mode = "dynamic"

[[rule]]
name = ""
query = "?"
lambda = nan
"""
    assert [(each.line, each.key) for each in problems(text)] == [
        (2, "preset"),
        (3, "attributes.gender"),
        (6, "rule[1].recipient"),
        (7, "rule[1].k"),
        (8, "rule[1].kk"),
        (12, "groups.ads"),
        (15, "rule[2].name"),
        (19, "rule[3].name"),
        (20, "rule[3].query"),
        (21, "rule[3].lambda"),
    ]


def test_too_many_in_a_list() -> None:
    """A thousand recipients are enough for one rule."""
    listed = [f"a{number}.example" for number in range(1001)]
    (problem,) = problems(f"[[rule]]\nk = 1\nrecipient = {listed}")
    assert (problem.line, problem.what) == (3, f"a list is not text, nor {LIST}")
    read(f"[[rule]]\nk = 1\nrecipient = {listed[1:]}", "test", preset)


def plain(policy: Policy) -> dict[str, object]:
    """Return what a policy rules of a request that no rule is about."""
    ruling = Rulebook(policy, known(*NAMES)).match("elsewhere.example", "", TODAY)
    return {key: verdict.value for key, verdict in ruling.settings.items()}


def test_nothing_at_all_is_a_policy() -> None:
    """It says what the defaults say, and these are what FORMAT.md lists."""
    policy = read("", "test", preset)
    assert [rule.layer for rule in policy.rules] == [Layer.DEFAULTS]
    assert dict(DEFAULTS) == naive.defaults()
    whole = {key: each for key, each in DEFAULTS.items() if SETTINGS[key].about != "attribute"}
    assert plain(policy) == whole


@pytest.mark.parametrize("name", PRESETS)
def test_presets_load(name: str) -> None:
    """By name, alone and under a file; none has the one exception to what absence says."""
    for text in (f'preset = "{name}"', preset_text(name)):
        policy = read(text, "test", preset)
        assert plain(policy)["protect"] == "everyone"
        assert not any(rule.settings.get("protect") == "me" for rule in policy.rules)
        assert plain(policy)["lambda"] != DEFAULTS["lambda"] or name == "balanced"
    for rule in preset(name):
        assert (rule.layer, rule.source) == (Layer.PRESET, f"preset {name}")
        assert rule.parts.keys() <= {"attribute"}  # so that a file wins for whomever it names


def test_there_are_three_presets() -> None:
    """Those that FORMAT.md names, and those that are shipped."""
    shipped = {path.stem for path in (naive.POLICIES / "presets").iterdir() if path.suffix}
    assert set(PRESETS) == shipped == {"generous", "balanced", "strict"}
    with pytest.raises(PolicyError) as raised:
        read('preset = "strict"', "mine.toml", None)
    assert raised.value.problems[0].what == "a preset cannot start from another one"
    with pytest.raises(PolicyError) as raised:
        read("[daemon]\nprompts_per_hour = 1", "preset mine", None)
    assert raised.value.problems[0].what == "a preset cannot configure the daemon"


def test_of_a_file_that_is_wrong_throughout_not_all_is_listed() -> None:
    """A thousand lines to mend are enough to say; to look for all takes minutes."""
    found = problems("".join(f"x{each} = 1\n" for each in range(2 * MOST_FOUND)))
    assert len(found) == MOST_FOUND + 1
    assert found[-1].what == "the file has 1,000 mistakes or more, and no more are listed"


def test_whatever_is_written_is_read_soon() -> None:
    """It holds up the daemon: a key of 20,000 parts took six seconds, and most take longer."""
    for name, text in HOSTILE.items():
        began = process_time()
        with suppress(PolicyError):
            read(text, "test", preset)
        assert process_time() - began < 4, name


@given(documents())
def test_what_has_a_value_says_something(document: Document) -> None:
    """Each of the keys alone, whatever else is left out."""
    for key, value in tomllib.loads(rendered(document)).items():
        alone = rendered({key: value})
        assert is_empty_policy(alone) == (key == "format" or value in ({}, []))


def test_a_file_that_says_nothing_is_remarked_on() -> None:
    """It is valid, and it opens everything; one key is enough to say something."""
    for text in ("", "\n", "# preset = 'strict'\n", "format = 1\n[groups]\n"):
        assert is_empty_policy(text)
        (remark,) = audit(read(text, "test", preset), NAMES, TODAY)
        assert "sets nothing" in remark.what
        assert "preset" in remark.hint
    for text in (*(f"preset = '{name}'" for name in PRESETS), "nothing = false"):
        assert not is_empty_policy(text)
        remarks = audit(read(text, "", preset), (), TODAY)
        assert all("sets nothing" not in each.what for each in remarks)


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


@pytest.mark.parametrize(
    "make", [os.mkfifo, _bind, Path.mkdir, lambda path: path.symlink_to("/dev/zero")]
)
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe into which nobody writes would be waited for without end; a device ends nowhere."""
    monkeypatch.chdir(tmp_path)
    path = Path("policy.toml")
    make(path)
    said: list[str] = []

    def read() -> None:
        with pytest.raises(UsageError) as caught:
            load(path)
        said.append(caught.value.what)

    reading = Thread(target=read, daemon=True)
    reading.start()
    reading.join(60)
    assert [each.startswith("policy.toml cannot be read: ") for each in said] == [True]


def test_nothing_stays_open(tmp_path: Path) -> None:
    """Whether a file was read or refused."""
    (tmp_path / "good").write_text("k = 3\n")
    (tmp_path / "bad").write_bytes(b"\xff")
    before = len([*Path("/proc/self/fd").iterdir()])
    opened(tmp_path / "good")
    for each in ("bad", "", "missing"):
        with pytest.raises(UsageError):
            opened(tmp_path / each)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_what_was_opened_is_said(tmp_path: Path) -> None:
    """The status is that of the file that was read, the mark of the encoding apart."""
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xef\xbb\xbfk = 3\n")
    found = opened(path)
    assert found.text == "k = 3\n"
    assert found.status.st_ino == path.stat().st_ino


def test_no_more_is_read_than_a_policy_may_have(tmp_path: Path) -> None:
    """A file without end, or nearly so."""
    path = tmp_path / "policy.toml"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert len(opened(path).text) == 4 * LARGEST + 1
