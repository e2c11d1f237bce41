"""Why a rule lost: the reasons agree with who won, and with FORMAT.md."""

from hypothesis import given

from policy.match import Rulebook
from policy.precedence import losses
from policy.read import preset, read
from policy.rules import spoken
from policy.settings import SETTINGS, stricter
from tests.policy.strategies import NAMES, Asked, Document, documents, rendered, requests


@given(documents(), requests())
def test_every_loss_has_a_reason_that_holds(document: Document, asked: Asked) -> None:
    """Of what has two values, at the place where one of them decided."""
    ruling = Rulebook(read(rendered(document), "test", preset), NAMES).match(*asked)
    found = [*ruling.settings.items()]
    found += [pair for verdicts in ruling.attributes.values() for pair in verdicts.items()]
    for key, verdict in found:
        reaches = {claim.rule: claim.reach for claim in verdict.claims}
        lost = [*losses(key, verdict)]
        assert {loss.rule for loss in lost} == {*verdict.lost} == reaches.keys() - {verdict.rule}
        for loss in lost:
            assert loss.value == loss.rule.settings[key]
            own, its = reaches[loss.winner], reaches[loss.rule]
            match loss.why:
                case "block":
                    assert verdict.rule.blocks
                case "more specific":
                    assert own.within(its)
                case "later layer":
                    assert loss.winner.layer > loss.rule.layer
                    assert not its.within(own)
                case "stricter":
                    assert stricter(SETTINGS[key], verdict.value, loss.value)
                case "the same":
                    assert loss.value == verdict.value


@given(documents(), requests())
def test_a_rule_that_decides_or_loses_matches(document: Document, asked: Asked) -> None:
    """And one that does neither, though it sets something of the request, does not."""
    policy = read(rendered(document), "test", preset)
    ruling = Rulebook(policy, ()).match(*asked)
    holding = {claim.rule for verdict in ruling.settings.values() for claim in verdict.claims}
    for rule in policy.rules:
        if rule.expires is None or rule.expires >= asked.today:
            whole = any(SETTINGS[key].about != "attribute" for key in rule.settings)
            meant = rule.matches(ruling.host, ruling.pool, spoken(asked.query))
            assert (rule in holding) == (whole and meant)
