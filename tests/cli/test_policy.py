"""`reticent policy`: what is wrong, what holds, what is written, and what would differ."""

import re
import tomllib
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import agent
from agent.cli.policy_edit import LARGEST, calibrated
from agent.errors import UsageError
from agent.model.attributes import PRICES
from agent.model.file import read, shipped_model
from agent.paths import paths
from agent.tradeoff.study import IMPROVEMENTS
from agent.wire.base import RecipientName
from agent.wire.policy import Tried
from agent.words.figures import SENSITIVITIES
from policy.read import load
from policy.settings import LEVELS
from tests.cli.conftest import Ran, Run
from tests.cli.daemon import ENTRIES
from tests.cli.examples import RIGHT
from tests.decision.made import NAMES, made_model
from tests.house.tree import ROOT
from tests.wire.fake import FakeDaemon, says


def test_the_shipped_policies_are_without_notes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the shipped model, as long as the examples last."""
    monkeypatch.chdir(ROOT / "examples/policies")
    names = sorted(path.name for path in Path().glob("*.toml"))
    said = run("policy", "check", *names)
    assert (said.code, said.err) == (0, "")
    some = [each for each in said.out.splitlines() if "it also holds for what tells" not in each]
    assert [line.split(": ")[0] for line in some] == sorted([*names, *names])  # and its limits


def test_what_is_no_policy_steers_nothing(run: Run, folder: Path) -> None:
    """Nor is one of bytes, or a folder; the others are checked all the same."""
    (folder / "odd.toml").write_text('"\\u001b[2Jx\\u0007" = 3\n')
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    (folder / "folder").mkdir()
    for name, code, what in (
        ("odd.toml", 1, "unknown key"),
        ("binary.toml", 2, "is not UTF-8 text, line 2"),
        ("folder", 2, "cannot be read: is a directory"),
    ):
        ran = run("policy", "show", "--policy", name)
        assert (ran.code, ran.out, what in ran.err) == (code, "", True)
        checked = run("policy", "check", name, "wrong.toml")
        assert (checked.code, what in checked.out) == (code, True)
        assert "wrong.toml:1: preset: " in checked.out
        assert (ran.err + checked.out).replace("\n", "").isprintable()


def test_topics_of_the_models_are_named_and_others_noted(run: Run, folder: Path) -> None:
    """By what a request is read as; a name that is nearly one counts as that."""
    (folder / "topics.toml").write_text('[queries]\nblock_topics = ["Finding job", "bees"]\n')
    checked = run("policy", "check", "topics.toml").out
    assert "topics.toml:2: note: queries.block_topics: the model has no topic 'bees'" in checked
    assert "(did you mean 'finding a job'? until you correct it, that is meant)" in checked
    for query, nothing in (("nursing jobs without night shifts", True), ("which editor", False)):
        request = ("--recipient", "a.example", "--query", query, "--policy", "topics.toml")
        shown = run("policy", "show", *request).out
        assert ("Nothing is sent to a.example: " in shown) == nothing
        decided = run("model", "decide", *request, "--json").out
        assert ('"code": "blocked"' in decided) == nothing


@pytest.mark.usefixtures("folder")
def test_a_policy_that_others_can_write_is_as_bad_as_for_the_daemon(run: Run) -> None:
    """One's own; what is named may be anybody's."""
    paths().policy.chmod(0o666)
    for command in (("check",), ("show", "--policy", paths().policy)):
        said = run("policy", *command)
        assert said.code == 2
        assert f"{paths().policy}: other users can write to this file" in said.out + said.err
    Path("named.toml").write_text("anonymity_price = 0.001\n")
    Path("named.toml").chmod(0o666)
    assert run("policy", "check", "named.toml").code == 0


TEXT = 'preset = "strict"\n'


def test_who_knows_facts_by_another_population_is_named(run: Run, fake: FakeDaemon) -> None:
    """Since it last forgot; of one's own policy alone, and as far as a daemon says it."""
    paths().policy.parent.mkdir(parents=True)
    paths().policy.write_text('population = "so2017"\n')
    pools = ("a.example", "b.example")
    past = [replace(ENTRIES[0], pool=pool, model="everyday") for pool in pools]
    past += [replace(ENTRIES[1], pool="b.example"), replace(ENTRIES[0], pool="@c", model="locale")]
    past += [replace(ENTRIES[0], pool=pool, model="so2017") for pool in pools]
    fake.handlers["ledger"] = says(past)
    [checked] = run("policy", "check", "--json").record["files"]
    [sentence] = checked["other_populations"]
    assert sentence.startswith("a.example knows facts that were counted among the people of every")
    assert sentence in " ".join(run("policy", "check").out.split())
    other = paths().policy.with_name("other.toml")
    other.write_text('population = "so2017"\n')
    assert run("policy", "check", other, "--json").record["files"][0]["other_populations"] == []


def test_a_population_is_one_that_there_is(run: Run, fake: FakeDaemon) -> None:
    """Else all that it rules would get nothing; who holds facts by another is named at once."""
    paths().policy.parent.mkdir(parents=True)
    paths().policy.write_text(TEXT)
    what, hint = run("policy", "set", "population=de").refusal()
    assert (what, "everyday" in hint) == ("unknown model 'de'", True)
    assert paths().policy.read_text() == TEXT
    paths().policy.write_text(f'{TEXT}population = "so201"\n')
    checked = run("policy", "check")
    assert "unknown model 'so201' (did you mean 'so2017'" in checked.out
    assert checked.code != 0
    assert run("model", "decide", "--query", "x", "--set", "population=de").code != 0
    fake.handlers["ledger"] = says([replace(ENTRIES[0], pool="a.example", model="everyday")])
    ran = run("policy", "set", "population=so2017")
    assert (ran.code, "a.example knows facts that were counted" in ran.err) == (0, True)


@pytest.mark.usefixtures("folder")
def test_an_explanation_has_these_keys(run: Run) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    which = ("--policy", "policy.toml", "--model", "village", "--json")
    show = ("policy", "show", "--recipient", "ads.example", "--query", "my debt")
    record = run(*show, *which).record
    keys = ("policy", "recipient", "pool", "query", "today", "settings", "attributes")
    assert {*keys} <= {*record}
    assert record["pool"] == "@adverts"
    nothing = record["settings"]["nothing"]
    origin = ("rule", "from", "source", "line")
    assert [nothing[key] for key in origin] == ["queries.block", "file", "policy.toml", 8]
    because = "queries.block (line 8); a block wins over rule 3 (line 27: true)"
    assert nothing["because"] == because
    assert [*record["attributes"]["hobby"]] == ["disclose", "sensitivity"]


def test_a_rule_holds_at_every_door_by_what_another_model_calls_the_fact(
    run: Run, tmp_path: Path
) -> None:
    """One on `gender`, by its name in so2017, is one on `sex` in everyday; and it is named."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[attributes]\ngender = "never"\n')
    asked = ("--policy", policy, "--recipient", "a.example", "--query", "find work as a nurse")
    for model in ((), ("--model", "everyday")):
        record = run("policy", "show", *asked, *model, "--json").record
        assert record["attributes"]["sex"]["disclose"]["value"] == "never"
    shown = run("policy", "show", "--policy", policy, "--json").record
    assert shown["attributes"]["sex"]["disclose"]["rule"] == "attributes.gender"
    [checked] = run("policy", "check", policy, "--json").record["files"]
    assert "tells 'sex': reproductive, clothing_size" in checked["remarks"][0]["what"]
    changed = ("disclose=auto", "--attribute", "sex", "--policy", policy, "--json")
    [wins] = run("policy", "set", *changed).record["wins"]
    assert wins["rule"] == "attributes.gender"
    decision = agent.open().decide("find work as a nurse", "a.example", policy=policy)
    assert {each.name: each.reason for each in decision.outcomes}["sex"] == "never"


def test_the_word_reaches_the_daemon(run: Run, fake: FakeDaemon) -> None:
    """And nothing else; what is said is in transcripts/answers.txt."""
    for options, route in (((), "refuse"), (("--undo",), "allow")):
        fake.calls.clear()
        assert run("policy", "block", *options, "a.example").code == 0
        assert fake.calls == [(route, {"body": RecipientName(recipient="a.example")})]


ANSWERS = """
[sensitivity]
region = "100%"
hobby = "50%"
shoe_size = "never"
at_work = "25%"
[one_of]
10 = "4x"
1000 = "25%"
1 = "never"
"""
HALF = log2(1.5)


@pytest.fixture
def calibrate(run: Run, village: Path, tmp_path: Path) -> Run:
    """Calibrate with one text of answers and some options."""

    def command(text: str = ANSWERS, *options: str | Path) -> Ran:
        file = tmp_path / "answers.toml"
        file.write_text(text)
        return run("policy", "calibrate", "--answers", file, "--model", village, *options)

    return command


def test_the_example_is_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the shipped model, as its first line says."""
    monkeypatch.chdir(ROOT)
    example = "examples/calibration/answers.toml"
    first, *_ = Path(example).read_text().splitlines()
    assert f"`reticent policy calibrate --answers {example}`" in first
    said = run("policy", "calibrate", "--answers", example)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Price of anonymity: 0.204 bits, so an answer that leaves only")
    assert max(map(len, said.out.splitlines())) <= 80


def test_what_nobody_asked_is_refused(calibrate: Run) -> None:
    """With the file, and the nearest that could have been meant."""
    for text, error, hint in (
        ("a = ", "not valid TOML", "write lines such as 1000 = '25%'"),
        ("[sensitivty]", "unknown key 'sensitivty'", "did you mean 'sensitivity'?"),
        ("[sensitivity]\nregoin = '4x'", "unknown attribute 'regoin'", "did you mean 'region'?"),
        ("#" * (LARGEST + 1), "bytes", "check that it is the right file"),
    ):
        said = calibrate(text).refusal()
        assert "answers.toml: " in said[0]
        assert error in said[0]
        assert hint in said[1]


def test_it_goes_into_the_policy(calibrate: Run, folder: Path) -> None:
    """The price and what facts must bring; all else stays, and what is never shared is ruled so."""
    assert folder.is_dir()
    said = calibrate(ANSWERS, "--write", "--yes")
    assert said.code == 0
    for sentence in ("give 0.02, further than any preset goes", "allow has no price"):
        assert sentence in " ".join(said.out.split())
    tried, wrote, *_ = said.err.splitlines()
    assert tried == "Your past requests could not be tried with it: the daemon is not running."
    assert wrote.startswith("Written into ")
    after, before = tomllib.loads(paths().policy.read_text()), tomllib.loads(RIGHT)
    assert after.pop("anonymity_price") == 0.1
    assert after.pop("attributes") == {
        "region": {"disclose": "auto", "sensitivity": 1.0},
        "hobby": {"disclose": "ask", "sensitivity": 0.585},
        "sex": {"guard": 1},
        "shoe_size": "never",
        "at_work": {"sensitivity": 0.3219},
    }
    assert before.pop("anonymity_price") == 0.025
    assert before.pop("attributes")
    assert after == before
    assert len(load(paths().policy).rules) > len(before["rule"])
    once = paths().policy.read_text()
    assert calibrate(ANSWERS, "--write", "--yes").code == 0
    assert paths().policy.read_text() == once


def test_without_a_line_the_trade_off_stays(calibrate: Run, folder: Path) -> None:
    """It is said that none is fitted, and the attributes are written even so."""
    assert folder.is_dir()
    text = "[sensitivity]\nregion = '50%'\n[one_of]\n1 = 'never'\n"
    assert calibrate(text, "--json").record["anonymity_price"] is None
    assert calibrate(text).out.startswith("Price of anonymity: not fitted")
    assert calibrate(text, "--write", "--yes").code == 0
    after = tomllib.loads(paths().policy.read_text())
    assert after["anonymity_price"] == 0.025
    assert after["attributes"]["region"] == {"disclose": "auto", "sensitivity": 0.585}


def test_it_is_tried_on_the_latest_requests_before_it_is_written(
    calibrate: Run, folder: Path, fake: FakeDaemon
) -> None:
    """Of 40, with the new text; nothing is written where the answer is no."""
    assert folder.is_dir()
    disclosed: list[tuple[str, ...]] = [("age",) if number % 2 else () for number in range(50)]
    fake.handlers["try_policy"] = says(Tried(disclosed=disclosed))
    before = paths().policy.read_text()
    said = calibrate(ANSWERS, "--write")
    tried = "Of your last 40 requests, 20 would have carried something: age (20)."
    assert tried in " ".join(said.err.split())
    assert said.code != 0
    assert paths().policy.read_text() == before
    (_, given), *_ = fake.calls
    assert tomllib.loads(given["body"].text)["anonymity_price"] == 0.1


def test_questions_are_asked_only_about_facts_that_cost_something(run: Run, tmp_path: Path) -> None:
    """What anybody would be told needs no price; answered as printed, they are answers."""
    asked = run("policy", "calibrate")
    named = re.findall(r'^# ([a-z_]+) = "[a-z ]+"', asked.out, re.MULTILINE)
    kinds = [each for each in read(shipped_model()).attributes if not each.further]
    sensitive = {each.name for each in kinds if each.sensitivity > 0.02}
    assert sensitive
    assert {*named} == sensitive
    file = tmp_path / "answers.toml"
    text = asked.out.replace('# income = "few', 'income = "few').replace("# 1000 ", "1000 ")
    file.write_text(text)
    found = run("policy", "calibrate", "--answers", file, "--json").record
    assert found["sensitivity"] == {"income": 0.3}
    assert found["anonymity_price"] == pytest.approx(HALF)


MODEL = made_model(2)
WANTED = {text: None if text == "never" else np.log2(x) for text, x in IMPROVEMENTS.items()}
OFFERED = st.sampled_from([*IMPROVEMENTS])


@given(
    st.dictionaries(st.sampled_from(NAMES), OFFERED, min_size=1),
    st.dictionaries(st.sampled_from(["1", "10", "100", "10000"]), OFFERED),
)
def test_answers_are_bits_and_the_price_is_nearest_to_them(
    sensitivity: dict[str, str], one_of: dict[str, str]
) -> None:
    """Log2 of the factor; the line of least squares through the origin, where a price is."""
    found = calibrated({"sensitivity": sensitivity, "one_of": one_of}, MODEL)
    assert found.sensitivity == {name: WANTED[said] for name, said in sensitivity.items()}
    assert found.one_of == {people: WANTED[said] for people, said in one_of.items()}
    priced = [(1 / int(k), bits) for k, bits in found.one_of.items() if bits is not None]
    assert (found.fitted is None) == (found.anonymity_price is None) == (not priced)

    def off(price: float) -> float:
        return sum((bits - price * cost) ** 2 for cost, bits in priced)

    if found.fitted is not None and found.anonymity_price is not None:
        best = off(1000 * found.fitted)
        assert best <= min(off(found.fitted * 990), off(found.fitted * 1010))
        assert 0.1 <= found.anonymity_price <= 2
        assert found.anonymity_price in (found.fitted, 0.1, 2)
        assert found.error_bits == pytest.approx((best / len(priced)) ** 0.5)


def test_whom_one_would_tell_is_as_many_bits_everywhere() -> None:
    """In policies, on screens, and in the models that are built."""
    assert SENSITIVITIES == LEVELS
    assert tuple(LEVELS.values()) == PRICES
    found = calibrated({"sensitivity": {NAMES[0]: "nobody"}}, MODEL)
    assert found.sensitivity == {NAMES[0]: 0.6}


def test_what_is_no_answer() -> None:
    """An improvement that was not offered, and what counts no people."""
    cases: list[tuple[dict[str, object], str]] = [
        ({"sensitivity": {"age": "25"}}, "unknown answer '25'"),
        ({"sensitivity": {"age": 2.0}}, "unknown answer '2.0'"),
        ({"one_of": {"0": "25%"}}, "is not a number of people"),
        ({"one_of": {"²": "25%"}}, "is not a number of people"),
        ({"one_of": {"12345678901": "25%"}}, "is not a number of people"),
        ({"one_of": 3}, "'one_of' is not a table"),
        ({"one_of": {}}, "no question is answered"),
    ]
    for answers, error in cases:
        with pytest.raises(UsageError, match=error):
            calibrated(answers, MODEL)
