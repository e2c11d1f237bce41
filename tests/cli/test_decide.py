"""`reticent model decide` and `curve`: object and page, settings, every way to ask wrongly."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from agent.cli.decide import ROWS, thinned
from agent.cli.model import generate_key
from agent.decision.context import Context, Limits, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from tests.cli.conftest import Ran, Run
from tests.cli.examples import ATTRIBUTES, cli_model
from tests.decision.made import decide

Arguments = tuple[str | Path, ...]
Ask = Callable[..., Arguments]


@pytest.fixture
def ask(village: Path, tmp_path: Path) -> Ask:
    """Write a policy, and return a request that is decided under it."""

    def arguments(text: str, query: str = "weather", recipient: str = "shop.example") -> Arguments:
        policy = tmp_path / "policy.toml"
        policy.write_text(text)
        where = ("--policy", policy, "--recipient", recipient)
        return ("model", "decide", "--model", village, "--query", query, *where)

    return arguments


def decide_(run: Run, model: Path, *options: str | Path) -> Ran:
    return run("model", "decide", "--model", model, "--query", "weather", *options)


def _settings(**values: object) -> list[str]:
    return [text for key, value in values.items() for text in ("--set", f"{key}={value}")]


CHEAP = _settings(anonymity_price=0.002)


def test_the_object_is_the_decision(run: Run, village: Path) -> None:
    """As every door has it; nothing is added, and all other defaults are those of the terms."""
    printed = msgspec.json.decode(decide_(run, village, "--json", *CHEAP).out, type=Decision)
    decision = decide(Request("weather"), Terms(trade_off=2.0), Knowledge(), cli_model())
    assert printed.disclosed == decision.disclosed == ("region",)
    assert [each.name for each in printed.outcomes] == [each.name for each in ATTRIBUTES]
    printed = msgspec.structs.replace(printed, rules={}, outcomes=())
    assert printed == msgspec.structs.replace(decision, outcomes=())


def test_each_setting_reaches_the_terms(
    run: Run, village: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of requests and of facts, over what the policy has."""
    seen: list[tuple[Terms, Knowledge]] = []

    def spy(context: Context) -> Decision:
        seen.append((context.terms, context.knowledge))
        return decide(context.request, Terms(), Knowledge(), context.model)

    monkeypatch.setattr("agent.cli.decide.decision_of", spy)
    own = {"at_work.disclose": "never", "region.sensitivity": 0.5, "shoe_size.guard": 2}
    whole = _settings(k=7, violations=0.25, risk=0.5, mode="standing")
    options = [*_settings(**own), *whole, *CHEAP]
    assert decide_(run, village, *options, "--know", "region=coast").code == 0
    terms = Terms(
        available=frozenset({"region", "shoe_size", "hobby", "at_work"}),  # one fact of each kind
        excluded=frozenset({"at_work"}),
        trade_off=2,
        limits=Limits(k=7, violations=0.25, risk=0.5),
        sensitivity=(("region", 0.5),),
        guards=(("shoe_size", 2.0),),
        mode="standing",
    )
    assert seen == [(terms, Knowledge((("region", 1),)))]


def test_what_cannot_be_decided_here_is_refused(run: Run, village: Path, ask: Ask) -> None:
    """A model that is damaged, and a policy that is; the user's own values are not needed."""
    near = village.with_name("vilage.safetensors")
    near.write_bytes(village.read_bytes()[:-1])
    assert near.name in decide_(run, near).refusal(code=1)[0]
    near.unlink()
    assert run(*ask('protect = "me"\nk = 2')).code == 0
    ran = run(*ask('anonymity_price = 0.002\n[attributes]\nregion = "nevr"'))
    assert (ran.code, ran.out) == (1, "")
    assert "policy.toml:3: attributes.region: 'nevr' is not one of" in ran.err


def test_only_trusted_makers_are_believed(run: Run, ask: Ask, tmp_path: Path) -> None:
    """A hostile model could make every fact look useful; one that is not at hand is asked for."""
    trusted = generate_key(tmp_path / "maker.pem")
    assert "not signed" in run(*ask(f'trusted_keys = ["{trusted}"]')).refusal(code=1)[0]
    _, _, _, _, *rest = ask('population = "elsewhere"')
    wanted = "'the top of the file' asks for the model 'elsewhere'"
    assert run("model", "decide", *rest).refusal() == (wanted, "name its file with --model")


def test_of_many_sets_some_are_shown() -> None:
    """No more than twelve, among them both ends, and those that must be."""
    for count in (1, 2, 11, 12, 13, 60):
        kept = {0, count // 2, count - 2} - {-1}
        found = thinned(count, kept)
        assert found == sorted({*found})
        assert {0, count - 1} | kept <= {*found}
        assert len(found) == min(count, ROWS)
