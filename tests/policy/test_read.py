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
from policy.audit import audit
from policy.match import Rulebook, known
from policy.read import (
    LARGEST,
    MOST_RULES,
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
from tests.policy.strategies import NAMES, NO_PRESET, TODAY, Document, documents, rendered

RULE = '[[rule]]\nrecipient = "shop.example"\n'
MANY_ATTRIBUTES = "".join(
    f"{RULE}guard = 1\nattribute = {[f'{one}{each}' for each in range(667)]}\n" for one in "abc"
)
MANY_HOSTS = [f"a{number}.example" for number in range(1001)]
LONG = "x" * 201
SHOWN = Path(__file__).with_name("problems.txt")  # texts, and after ! what is said of them
HOSTILE = {
    "parts of a key": ".".join(["a"] * 20_000) + " = 1\n",
    "quoted parts of a key": " . ".join(["'a'"] * 20_000) + " = 1\n",
    "keys of many parts": "".join(f"{'a.' * 62}b{each} = 1\n" for each in range(3_800)),
    "headers of many parts": "".join(f"[{'a.' * 62}b{each}]\n" for each in range(3_800)),
    "parts in a table": "a = [" + f"{{{'b.' * 60}c = 1}}, " * 3_500 + "]\n",
    "keys that are none": "".join(f"a{each} = 1\n" for each in range(40_000)),
    "attributes": "[attributes]\n" + "".join(f"a{each} = 'never'\n" for each in range(25_000)),
    "groups": "[groups]\n" + "".join(f"g{each} = 'h{each}.example'\n" for each in range(18_000)),
    "rules": f"{RULE}anonymity_price = 0.003\n" * 20_000,
    "quotes": '"\\"' * 170_000,
    "more quotes": '"""' + '\\"' * 200_000,
    "numbers": "a = [" + "1," * 250_000 + "]\n",
    "a long number": "anonymity_price = 0." + "9" * 500_000 + "\n",
}


def problems(text: str) -> list[Problem]:
    """Return what is wrong with a policy that is refused."""
    with pytest.raises(PolicyError) as raised:
        read(text, "mine.toml", preset)
    assert raised.value.source == "mine.toml"
    return list(raised.value.problems)


def test_every_kind_of_problem(pytestconfig: pytest.Config) -> None:
    """It has its line and key, says what is wrong, and what would be right; one hides no other."""
    blocks = []
    for block in SHOWN.read_text(encoding="utf-8").split("----\n"):
        text = block.partition("\n! ")[0]
        told = []
        for problem in problems(text):
            for sentence in (problem.what, problem.hint):
                assert sentence.isprintable() > sentence.endswith(".")
                assert sentence
            told.append(f"! {problem.line} {problem.key}: {problem.what} ({problem.hint})\n")
        blocks.append(f"{text}\n{''.join(told)}")
    if pytestconfig.getoption("accept"):
        SHOWN.write_text("----\n".join(blocks), encoding="utf-8")
    assert "----\n".join(blocks) == SHOWN.read_text(encoding="utf-8"), "look, then accept it"


@pytest.mark.parametrize(
    ("text", "line", "key", "what", "hint"),
    [
        (f"queries.block = '{LONG}'", 1, "queries.block", "more than 200 characters", "fewer"),
        (f"k = {'1' * 5000}", 1, "", "not TOML: exceeds the limit", "see toml.io"),
        (f"k = {'[' * 5000}", 1, "", "the file is nested too deeply", "no part of a policy"),
        (RULE + "k = 3\n" + f"{RULE}k = 3\n" * MOST_RULES, 1, "", "2,001 rules", "list several"),
        (f"[[rule]]\nk = 1\nrecipient = {MANY_HOSTS}", 3, "rule[1].recipient", "up to 1,000", ""),
        (MANY_ATTRIBUTES, 1, "", "the rules name 2,001 attributes", "write patterns with *"),
        ("#" * (LARGEST + 1), 1, "", "more than half a million", "shorten it"),
    ],
)
def test_what_is_too_large_is_a_problem_too(
    text: str, line: int, key: str, what: str, hint: str
) -> None:
    """Whatever it says."""
    (problem,) = problems(text)
    assert (problem.line, problem.key) == (line, key)
    assert what in problem.what
    assert hint in problem.hint


OUTSIDE = (
    *((key, "inf") for key in ("anonymity_price", "sensitivity", "guard")),
    *((key, "nan") for key in ("anonymity_price", "sensitivity", "guard", "violations", "risk")),
    *((key, "-1") for key in ("anonymity_price", "k", "attributes_per_request")),
    *((key, "-0.1") for key in ("sensitivity", "guard", "violations", "risk")),
    *((key, "true") for key in SETTINGS if key not in ("nothing", "assistant", "coarse")),
    *((key, "'1'") for key in SETTINGS if key != "population"),
    *((key, "2.0") for key in ("k", "attributes_per_request", "new_facts_per_week")),
    ("page_requests_per_minute", "2.0"),
    *((key, "[1]") for key in SETTINGS),
    *((key, "1979-05-27") for key in SETTINGS),
    *((key, f"0x{'f' * 5000}") for key in SETTINGS),
    *((key, f"-0x{'f' * 200}") for key in SETTINGS),
    *(("k", "0"), ("violations", "1"), ("risk", "0"), ("risk", "1.5"), ("nothing", "1")),
    ("nothing", "'true'"),
    ("population", "'../x'"),
    ("population", "'a\\n'"),
    ("assistant", "'true'"),
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


def plain(policy: Policy) -> dict[str, object]:
    """Return what a policy rules of a request that no rule is about."""
    ruling = Rulebook(policy, known(*NAMES)).match("elsewhere.example", "", TODAY)
    return {key: verdict.value for key, verdict in ruling.settings.items()}


def test_nothing_at_all_is_a_policy() -> None:
    """It says what the defaults say, and these are what FORMAT.md lists."""
    assert plain(read("", "test", preset)) == plain(read('preset = "balanced"', "test", preset))
    policy = read(NO_PRESET, "test", preset)
    assert [rule.layer for rule in policy.rules] == [Layer.DEFAULTS]
    assert dict(DEFAULTS) == naive.defaults()
    whole = {key: each for key, each in DEFAULTS.items() if SETTINGS[key].about != "attribute"}
    assert plain(policy) == whole


@pytest.mark.parametrize("name", PRESETS)
def test_presets_load(name: str) -> None:
    """By name, alone and under a file; generous has no stop, and so nothing that absence says."""
    for text in (f'preset = "{name}"', NO_PRESET + preset_text(name)):
        policy = read(text, "test", preset)
        assert plain(policy)["protect"] == ("everyone" if name == "generous" else "me")
        assert plain(policy)["anonymity_price"] != DEFAULTS["anonymity_price"] or name == "balanced"
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
        read("[daemon]\nquestions_per_day = 1", "preset mine", None)
    assert raised.value.problems[0].what == "a preset cannot have [daemon]"


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
        (remark,) = audit(read(text, "test", preset), None, TODAY)
        assert "sets nothing" in remark.what
        assert "preset" in remark.hint
    for text in (*(f"preset = '{name}'" for name in PRESETS), "nothing = false"):
        remarks = audit(read(text, "", preset), None, TODAY)
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


def test_a_file_is_opened_closed_and_said(tmp_path: Path) -> None:
    """With its status, the mark of the encoding apart; no more is read than a policy may have."""
    good, endless = tmp_path / "good", tmp_path / "endless"
    good.write_bytes(b"\xef\xbb\xbfk = 3\n")
    (tmp_path / "bad").write_bytes(b"\xff")
    with endless.open("wb") as file:
        file.truncate(1 << 40)
    before = len([*Path("/proc/self/fd").iterdir()])
    assert (opened(good).text, opened(good).status.st_ino) == ("k = 3\n", good.stat().st_ino)
    assert len(opened(endless).text) == 4 * LARGEST + 1
    for each in ("bad", "", "missing"):
        with pytest.raises(UsageError):
            opened(tmp_path / each)
    assert len([*Path("/proc/self/fd").iterdir()]) == before
