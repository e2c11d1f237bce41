"""The terms of `reticent model decide`: of its options, and of a policy file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.model.model import Model
from agent.model.signature import generate_key, sign, signature_path
from tests.cli.conftest import Run

Arguments = tuple[str | Path, ...]
Decide = Callable[..., Arguments]


@pytest.fixture
def ask(village: Path, tmp_path: Path) -> Decide:
    """Write a policy, and return a request that is decided under it."""

    def arguments(text: str, query: str = "weather", recipient: str = "shop.example") -> Arguments:
        policy = tmp_path / "policy.toml"
        policy.write_text(text)
        where = ("--policy", policy, "--recipient", recipient)
        return ("model", "decide", "--model", village, "--query", query, *where)

    return arguments


def test_the_answer_is_that_of_the_rules(run: Run, ask: Decide) -> None:
    """Never, ask, always and auto, each with the rule behind it."""
    text = """
        [attributes]
        region = "ask"
        hobby = "never"
        [[rule]]
        name = "size is fine"
        recipient = "shop.example"
        attribute = "shoe_size"
        disclose = "always"
    """
    record = run(*ask(text), "--json").record
    assert record["disclose"] == ["shoe_size"]
    by_name = {each["name"]: each for each in record["per_attribute"]}
    assert by_name["hobby"]["reason"] == "never"
    assert by_name["hobby"]["because"] == {
        "value": "never",
        "rule": "attributes.hobby",
        "lost": ["the defaults"],
    }
    assert by_name["shoe_size"]["reason"] == "always"
    assert by_name["shoe_size"]["because"]["rule"] == "size is fine"
    assert record["because"]["lambda"] == {"value": 5.12, "rule": "the defaults", "lost": []}


def test_what_waits_is_said_with_what_it_would_do(run: Run, ask: Decide) -> None:
    """In the object, and on the page."""
    text = '[attributes]\nregion = "ask"'
    record = run(*ask(text), "--json").record
    assert record["disclose"] == []
    assert record["pending"]["names"] == ["region"]
    assert record["pending"]["people_left"] == 20
    assert record["pending"]["utility_bits"] > 0.9
    assert "waits for your approval (rule: attributes.region)" in " ".join(
        run(*ask(text), "--explain").out.split()
    )


@pytest.mark.parametrize(
    ("more", "error", "hint"),
    [
        (["--k", "3"], "--k does not go with --policy", "write it into the policy"),
        (["--standing"], "--standing does not go with --policy", "leave --policy out"),
        (["--recipient", "a b"], "'a b'", ""),
    ],
)
def test_a_mistake_is_one_sentence(
    run: Run, ask: Decide, more: list[str], error: str, hint: str
) -> None:
    """With exit code 2."""
    said = run(*ask(""), *more).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_protecting_oneself_needs_oneself(run: Run, ask: Decide) -> None:
    """Without the user's values the limits cannot be kept for the user's own class."""
    error, hint = run(*ask('protect = "me"\nk = 2')).refusal()
    assert "values are unknown here" in error
    assert "--profile" in hint


def test_one_is_protected_where_others_are_not(run: Run, ask: Decide, tmp_path: Path) -> None:
    """Six of sixty people have no hobby set: too few, but a tenth of all, which is tolerated."""
    text = 'k = 10\nviolations = 0.2\n[attributes]\nhobby = "always"\nregion = "never"\n'
    profile = tmp_path / "me.toml"
    for values, leaves in (('hobby = "yes"', True), ('hobby = "unspecified"', False)):
        profile.write_text(values)
        mine = run(*ask('protect = "me"\n' + text), "--profile", profile, "--json").record
        assert ("hobby" in mine["disclose"]) == leaves
        everyone = run(*ask(text), "--profile", profile, "--json").record
        assert "hobby" in everyone["disclose"]


def test_a_policy_goes_with_a_recipient_that_is_no_group(run: Run, ask: Decide) -> None:
    """Its rules depend on the host; those of a group hold for its members."""
    given = ask('[groups]\nshops = ["shop.example"]', recipient="shops")
    assert run(*given).refusal() == ("'shops' is a group", "name one of its members")
    assert run(*given[:8]).refusal()[0] == "a policy depends on the recipient"
    assert run(*given[:6], *given[8:]).refusal()[0] == "--recipient needs --policy"
    missing = run(*given[:7], "none.toml", *given[8:]).refusal()
    assert "cannot be read: no such file" in missing[0]


def test_a_wrong_policy_decides_nothing(run: Run, ask: Decide) -> None:
    """Whatever else is right in it; with exit code 1, since the command was right."""
    ran = run(*ask('lambda = 2\n[attributes]\nregion = "nevr"'))
    assert (ran.code, ran.out) == (1, "")
    assert "policy.toml:3: attributes.region: 'nevr' is not one of" in ran.err
    assert "did you mean 'never'?" in ran.err


def test_a_model_that_is_not_at_hand_is_asked_for(run: Run, ask: Decide) -> None:
    """By the rule that wants it."""
    _, _, _, _, *rest = ask('model = "elsewhere"')
    said = run("model", "decide", *rest).refusal()
    assert said == (
        "'the top of the file' asks for the model 'elsewhere'",
        "name its file with --model",
    )


def test_only_trusted_makers_are_believed(
    run: Run, ask: Decide, village: Path, tmp_path: Path
) -> None:
    """A hostile model could make every fact look useful."""
    trusted, other = (generate_key(tmp_path / f"{name}.pem") for name in ("maker", "other"))
    sign(village, tmp_path / "maker.pem")
    try:
        assert run(*ask(f'trusted_keys = ["{trusted}"]'), "--json").record["disclose"] == ["region"]
        error, hint = run(*ask(f'trusted_keys = ["{other}"]')).refusal(code=1)
        assert "the policy does not trust its maker" in error
        assert "only if you trust its owner" in hint
    finally:
        signature_path(village).unlink()


def test_what_is_probably_misspelt_is_not_passed_over(run: Run, ask: Decide) -> None:
    """A `never` for what is nearly an attribute keeps that one, and is seen."""
    ran = run(*ask('[attributes]\nreigon = "never"\naltogether_different = "never"'), "--explain")
    assert ran.code == 0
    (note,) = ran.err.splitlines()
    assert note.startswith("reticent: note: ")
    meant = "(did you mean 'region'? until you correct it, it is not sent)"
    assert note.endswith(f":2: the model has no attribute 'reigon' {meant}")
    assert "'reigon', which nearly names region" in ran.out


def test_every_option_reaches_the_terms(
    run: Run, village: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is given a value that is not its default."""
    asked: list[tuple[Terms, Knowledge]] = []

    def spy(
        request: Request, terms: Terms, knowledge: Knowledge, model: Model, own: None
    ) -> Decision:
        asked.append((terms, knowledge))
        return decide(request, terms, knowledge, model, own)

    monkeypatch.setattr("agent.cli.decide.decide_request", spy)
    options = "--lambda 2 --cost k-anonymity --k 7 --max-violations 0.25 --max-risk 0.5 "
    options += "--know region=coast --know hobby=yes --only region,hobby --only at_work "
    options += "--exclude at_work --sensitivity region=0.5 --guard shoe_size=2 "
    options += "--algorithm exact --standing --json"
    ran = run(
        "model", "decide", "--explain", "--model", village, "--query", "weather", *options.split()
    )
    assert ran.code == 0
    terms = Terms(
        allowed=frozenset({"region", "hobby", "at_work"}),
        excluded=frozenset({"at_work"}),
        trade_off=2,
        metric="k-anonymity",
        metric_k=7,
        limits=Limits(k=7, max_violations=0.25, max_risk=0.5),
        sensitivity=(("region", 0.5),),
        guards=(("shoe_size", 2.0),),
        mode="standing",
        algorithm="exact",
    )
    assert asked == [(terms, Knowledge((("hobby", 2), ("region", 1))))]


def test_the_metric_k_anonymity_counts_to_a_hundred_by_default(run: Run, village: Path) -> None:
    """In a village of 60 everybody is then among too few; with a k of 3 nobody is."""
    ask = ("model", "decide", "--model", village, "--query", "weather", "--json")
    by = (*ask, "--cost", "k-anonymity")
    assert run(*by).record["identifiability"] == 1
    assert run(*by, "--k", "3").record["identifiability"] == 0


def test_only_nothing_allows_nothing(run: Run, village: Path) -> None:
    """An empty list is a list, and not the absence of one."""
    ask = ("model", "decide", "--model", village, "--query", "weather", "--only", "", "--json")
    record = run(*ask).record
    assert {each["reason"] for each in record["per_attribute"]} == {"not allowed"}
    assert {each["gain_bits"] for each in record["per_attribute"]} == {None}
