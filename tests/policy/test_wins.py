"""What still decides otherwise after a setting has been written is named, and nothing else."""

from hypothesis import given

from policy.match import Rulebook
from policy.rules import Policy
from policy.scope import Scope, places, wins
from policy.settings import SETTINGS, Value
from tests.policy.changes import changes
from tests.policy.strategies import NAMES, TODAY


@given(changes())
def test_what_is_set_holds_there_or_what_wins_is_named(
    change: tuple[Policy, Scope, dict[str, Value], Policy],
) -> None:
    """As a rulebook says that is made anew; the rule that has it is among those compared."""
    _, where, values, after = change
    ((key, value),) = values.items()
    named = wins(after, where, values, NAMES, TODAY)
    ruling = Rulebook(after, where.names(NAMES)).match(where.host(after), where.words(), TODAY)
    ours = [rule for rule in places(where, after) if rule.settings.get(key) == value]
    assert ours
    about = ruling.attributes if SETTINGS[key].about == "attribute" else {"": ruling.settings}
    for name, verdicts in about.items():
        verdict = verdicts[key]
        assert {*ours} & {verdict.rule, *verdict.lost}
        winners = [win for win in named if win.names == () or name in win.names]
        guarded = [win.key for win in winners] == ["guard"]
        assert guarded or (verdict.value == value) == (not winners)
        assert guarded or all((win.value, win.rule) == verdict[:2] for win in winners)
