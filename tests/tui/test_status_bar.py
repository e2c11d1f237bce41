"""How the daemon is, in words: each state says what is so, and the way out."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from agent.tui.actions import TITLES
from agent.tui.status_bar import MOST, DaemonState, fitting, lost, trouble_of
from agent.wire.state import ModelStatus, PolicyStatus, Status
from tests.tui.double import MODEL, OPEN
from tests.wire.states import POLICY

NONE = changed(POLICY, in_use=False)
MISTAKES = ["line 3: 'aks' is none of ask, never"]
BROKEN = changed(MODEL, problem="its signature does not fit")
LINES = st.lists(st.text(max_size=30), max_size=9)


@st.composite
def statuses(draw: st.DrawFn) -> Status:
    """A daemon in any state."""
    policy: PolicyStatus = changed(POLICY, in_use=draw(st.booleans()), problems=draw(LINES))
    models: list[ModelStatus] = draw(st.lists(st.sampled_from([MODEL, BROKEN]), max_size=2))
    figures = {"vault": draw(st.booleans()), "locked": draw(st.booleans())}
    waiting = draw(st.integers(0, 2000))
    return changed(
        OPEN, policy=policy, models=models, waiting=waiting, notes=draw(LINES), **figures
    )


@given(statuses())
def test_it_is_open_only_where_something_may_be_attached(status: Status) -> None:
    """And where it may not, though the vault is open, the banner says why."""
    usable = status.policy.in_use and any(each.problem is None for each in status.models)
    opened = "√ open" in DaemonState(status).summary()
    if status.vault:
        assert opened == (usable and not status.locked)
        assert usable or "Nothing is attached" in trouble_of(status)


@given(statuses())
def test_a_banner_is_a_few_plain_lines(status: Status) -> None:
    """Of a policy's text nothing steers the terminal, and no screen is filled by it."""
    lines = trouble_of(status).split("\n")
    assert len(lines) <= MOST
    assert all(each.isprintable() for each in lines)


@given(statuses(), st.sampled_from([*TITLES]), st.integers(20, 200))
def test_the_header_has_each_number_and_the_state_where_there_is_room(
    status: Status, where: str, width: int
) -> None:
    """From 40 columns on nothing of it is cut."""
    left, right = fitting(where, DaemonState(status), width)  # type: ignore[arg-type]
    digits = {each for each in left.plain if each.isdecimal()}
    assert digits == {*"123456"}
    assert width < 40 or left.cell_length + right.cell_length < width


def test_the_way_out_fits_what_is_missing() -> None:
    """No policy, a broken one, one that was right before, no model, no vault, no daemon."""
    found = trouble_of(changed(OPEN, policy=NONE))
    assert "balanced" in found
    assert POLICY.path in found
    assert "init" not in found
    broken = trouble_of(changed(OPEN, policy=changed(NONE, problems=MISTAKES)))
    assert "Nothing is attached" in broken
    assert MISTAKES[0] in broken
    before = trouble_of(changed(OPEN, policy=changed(POLICY, problems=MISTAKES)))
    assert "Nothing is attached" not in before
    assert MISTAKES[0] in before
    assert "reticent model add" in trouble_of(changed(OPEN, models=[BROKEN]))
    assert "reticent init" in trouble_of(changed(OPEN, vault=False, policy=NONE))
    assert "F9" in lost("the daemon is not running")
    assert trouble_of(OPEN) == ""
    assert trouble_of(changed(OPEN, notes=["line 4: no 'dev_wbe'"])) == "line 4: no 'dev_wbe'"


def test_a_vault_that_was_replaced_comes_first() -> None:
    """Before all else, whether or not there is another in its place."""
    for vault in (False, True):
        status = changed(OPEN, vault=vault, locked=True, notes=MISTAKES, notice="it was replaced")
        assert trouble_of(status).split("\n") == ["it was replaced", *MISTAKES]


def test_what_is_not_known_is_not_said_to_be_nothing() -> None:
    """Before the first word, without a daemon, without a vault."""
    assert DaemonState().missing() == "Loading …"
    assert "away" in DaemonState(OPEN, stale=True).missing()
    assert "vault" in DaemonState(changed(OPEN, vault=False)).missing()
