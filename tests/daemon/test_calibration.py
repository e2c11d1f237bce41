"""Answers written into the policy as prices."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.calibrate import read_answers
from agent.daemon.policy_api import DIGITS, calibrated_message
from agent.decision.calibration import calibrated
from agent.errors import UsageError
from agent.wire.what_if import Answers, Calibrate, Calibrated, Improvement
from policy.read import load
from tests.daemon.home import POLICY, Home
from tests.daemon.people import MODEL, SHOP

IMPROVEMENT: dict[str, Improvement] = {
    "1": "25%",
    "2": "50%",
    "3": "100%",
    "4": "4x",
    "5": "never",
}
SAID = Answers(
    improvement=IMPROVEMENT,
    sensitivity={"age": 2, "gender": 5},
    one_of={"1": 5, "10": 4, "1000": 1},
)
NAMES = ["age", "region", "shoe_size"]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Return one that nothing is written into."""
    with Home(tmp_path_factory.mktemp("daemon")) as made:
        yield made


@st.composite
def answers(draw: st.DrawFn) -> Answers:
    """Draw answers, some of which nobody asked for."""
    levels = st.integers(1, 5)
    improvements = st.sampled_from([*IMPROVEMENT.values()])
    return Answers(
        improvement=draw(st.dictionaries(st.sampled_from("123456"), improvements, max_size=5)),
        sensitivity=draw(st.dictionaries(st.sampled_from(NAMES), levels, max_size=2)),
        one_of=draw(st.dictionaries(st.sampled_from(["1", "10", "few"]), levels, max_size=2)),
    )


def toml(said: Answers) -> str:
    """Return answers as a file has them."""
    tables: Mapping[str, Mapping[str, object]] = {
        "improvement": said.improvement,
        "sensitivity": said.sensitivity,
        "one_of": said.one_of,
    }
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(each)}\n" for key, each in table.items())
        for name, table in tables.items()
    )


@given(st.lists(answers(), min_size=1, max_size=3))
def test_a_message_is_what_a_file_is(daemon: Home, said: list[Answers]) -> None:
    """The same prices, or the same sentence about the same mistake; nothing is written."""
    files = [daemon.paths.data / f"{place}.toml" for place in range(len(said))]
    for file, each in zip(files, said, strict=True):
        file.write_text(toml(each))
    assert of_message(daemon, said) == of_files(files)
    assert daemon.paths.policy.read_text() == POLICY
    assert daemon.bus.kinds == []


def of_message(daemon: Home, said: list[Answers]) -> Calibrated | tuple[str, str]:
    """Return what a daemon makes of answers, or what it says is wrong."""
    try:
        return daemon.calls.calibrate(Calibrate(answers=said))
    except UsageError as error:
        return error.what, error.hint


def of_files(files: list[Path]) -> Calibrated | tuple[str, str]:
    """Return what files come to, or what is wrong with one."""
    try:
        return calibrated_message(calibrated([read_answers(file, MODEL) for file in files], MODEL))
    except UsageError as error:
        return error.what, error.hint


def test_it_goes_into_the_policy_in_use(home: Home) -> None:
    """The next request is decided by it; comments and all else stay; once more changes nothing."""
    home.paths.policy.write_text(f"# mine\n{POLICY}")
    home.calls.reload()
    home.unlock()
    home.fill()
    home.bus.kinds.clear()
    found = home.calls.calibrate(Calibrate(answers=[SAID], write=True))
    assert found.written
    assert home.bus.kinds == ["policy"]
    after = load(home.paths.policy)
    assert after.text.startswith("# mine\n")
    terms = home.agent.rules.active.terms(MODEL, SHOP.recipient, SHOP.query, home.now.date())
    assert terms is not None
    assert terms.trade_off == pytest.approx(found.trade_off, rel=10 ** (1 - DIGITS))
    assert dict(terms.sensitivity)["age"] == pytest.approx(found.sensitivity["age"], abs=1e-4)
    assert found.sensitivity["gender"] is None
    assert "gender" in terms.excluded
    assert "region" in terms.ask
    home.calls.calibrate(Calibrate(answers=[SAID], write=True))
    assert load(home.paths.policy).text == after.text
    assert home.bus.kinds == ["policy"]


@pytest.mark.parametrize("policy", [None, "lamda = 1\n", 'cost = "entropy"\n', ""])
def test_what_cannot_be_written_is_told_all_the_same(home: Home, policy: str | None) -> None:
    """No file, mistakes, λ in another unit, nothing said: it stays as it was."""
    home.paths.policy.unlink()
    if policy is not None:
        home.paths.policy.write_text(policy)
    home.calls.reload()
    said = Answers(improvement=IMPROVEMENT, one_of={"10": 2})
    with pytest.raises(UsageError):
        home.calls.calibrate(Calibrate(answers=[said], write=True))
    there = home.paths.policy.read_text() if home.paths.policy.exists() else None
    assert there == policy
    assert not home.calls.calibrate(Calibrate(answers=[said])).written


def test_answers_that_are_none_are_not_written(home: Home) -> None:
    """Of two, one is enough."""
    wrong = Answers(improvement=IMPROVEMENT, sensitivity={"shoe_size": 1})
    with pytest.raises(UsageError, match="unknown attribute 'shoe_size'"):
        home.calls.calibrate(Calibrate(answers=[SAID, wrong], write=True))
    assert home.paths.policy.read_text() == POLICY
