"""A recipient's budget of violations, and the stop where the user would stand out."""

from collections.abc import Iterable
from datetime import timedelta

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.daemon.handle import handle, situation_of
from agent.daemon.profile import standing_out
from agent.decision.knowledge import knowledge_in
from agent.vault.ledger import DisclosureIndex, Forgetting
from agent.vault.profile import Profile
from agent.wire.decide import Ask
from tests.daemon.test_handle import OTHER, STREAMS, entry_of, timed
from tests.decision.made import NAMES, PERSONS
from tests.vault.values import change
from tests.worlds.people import MODEL, MONDAY, PEOPLE, ROWS, SHOP, FixedRules, MemoryVault, living


@given(
    st.integers(2, 12),
    st.sampled_from([0.02, 0.1, 0.3]),
    st.sampled_from(["dynamic", "standing", "planned"]),
    STREAMS,
    PEOPLE,
)
def test_violations_are_a_budget_of_the_recipient(
    k: int, budget: float, mode: str, stream: list[tuple[int, Ask]], row: int
) -> None:
    """Each entry says what it spent: the share, of all who may have asked, left among fewer."""
    policy = (
        f'preset = "none"\nanonymity_price = 0\nk = {k}\nviolations = {budget}\nmode = "{mode}"\n'
    )
    agent, vault = living(policy, row)
    spent, held = dict[str, float](), dict[str, set[str]]()
    for now, ask in timed(stream):
        answer = handle(ask, now, agent)
        if answer.id is None or answer.summary is None:
            continue
        entry, pool = vault.disclosures[-1], answer.summary.pool
        before = held.setdefault(pool, set())
        columns = [NAMES.index(name) for name in before]
        alike = ROWS[(ROWS[:, columns] == ROWS[row, columns]).all(axis=1)]
        after = before | {*entry.persons}
        _, classes, sizes = np.unique(
            alike[:, [NAMES.index(name) for name in after]],
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        new = bool(after - before or "hours" in dict(entry.disclosed))
        share = float((sizes[classes] < k).mean()) if new else 0.0
        if "hours" not in dict(entry.disclosed):
            assert entry.spent == pytest.approx(share)
        held[pool] = after
        spent[pool] = spent.get(pool, 0.0) + entry.spent
        assert spent[pool] <= budget + 1e-9


def test_what_was_spent_is_spent_until_it_is_forgotten() -> None:
    """And by the pool, whichever of its sites spent it."""
    entry, index = msgspec.structs.replace(entry_of(("age", "age1")), spent=0.25), DisclosureIndex()
    for number, site in enumerate(("a.example", "b.example", "a.example"), 1):
        record = msgspec.structs.replace(entry, host=site)
        index.add(number, record, index.news(record))

    def of(*pooled: str) -> float:
        pool_of = dict.fromkeys(pooled, "@both").get
        return knowledge_in(index.pool("@both", lambda s: pool_of(s, s)), MODEL, MONDAY).spent

    assert [of("a.example"), of("b.example"), of("a.example", "b.example")] == [0.5, 0.25, 0.75]
    index.add(4, Forgetting(at=MONDAY, host="a.example", sites=("a.example",)), ())
    assert [of("a.example"), of("a.example", "b.example")] == [0.0, 0.25]


STOPPING = 'preset = "none"\nanonymity_price = 0\nk = 50\nviolations = 0.9\nprotect = "me"\n'


def stopped() -> tuple[Agent, MemoryVault]:
    """Return the agent of the first person who stands out at the shop, where it has stopped."""
    for row in range(len(ROWS)):
        agent, vault = living(STOPPING, row)
        if handle(SHOP, MONDAY, agent).code == "you would stand out":
            return agent, vault
    pytest.fail("nobody stands out")


def test_a_stop_is_of_one_recipient_and_lasts() -> None:
    """Also once the vault is opened again; what is asked of others is not stopped by it."""
    agent, vault = stopped()
    [stop] = vault.profile.stops
    assert (stop.site, stop.at) == ("shop.example", MONDAY)
    assert {*stop.names} <= {*NAMES[:PERSONS]}
    vault.profile = Profile(vault.records)
    for day in range(1, 4):
        answer = handle(SHOP, MONDAY + timedelta(days=day), agent)
        assert (answer.code, answer.attributes) == ("you would stand out", {})
    assert vault.profile.stops == (stop,)
    assert not situation_of(OTHER, MONDAY, agent).stopped


def test_a_changed_value_is_new_to_who_was_told_the_old_one() -> None:
    """So it stays home where the user would stand out with it."""
    rare = stopped()[1].profile.codes(MODEL)
    for row in range(len(ROWS)):
        agent, vault = living(STOPPING, row)
        if before := handle(SHOP, MONDAY, agent).attributes:
            break
    values = {name: MODEL.attributes[NAMES.index(name)].values[rare[name]] for name in before}
    change(vault.profile, values, [], [MODEL], MONDAY + timedelta(hours=1))
    answer = handle(SHOP, MONDAY + timedelta(days=1), agent)
    assert (answer.code, answer.attributes) == ("you would stand out", {})


def test_other_limits_or_facts_and_forgetting_end_a_stop() -> None:
    """Each is the user's own doing; a rule about anything else is not enough."""
    for policy, ends in (
        (STOPPING.replace("50", "2"), True),
        (f'{STOPPING}[[rule]]\nrecipient = "other.example"\nk = 60\n', True),
        (f'{STOPPING}[attributes]\nage = "always"\n', False),
    ):
        agent, _ = stopped()
        agent.rules = FixedRules(policy)
        agent.use_models(agent.vault, MONDAY)
        assert situation_of(SHOP, MONDAY, agent).stopped != ends
    agent, vault = stopped()
    change(vault.profile, {}, [vault.profile.stops[0].names[0]], [MODEL])
    assert not situation_of(SHOP, MONDAY, agent).stopped
    agent, vault = stopped()
    vault.profile.lift(lambda site: site == "shop.example")
    assert not situation_of(SHOP, MONDAY, agent).stopped


def test_who_stands_out_is_told_which_facts_make_them_rare() -> None:
    """Alone, before anything is sent; and at a recipient that is stopped, the rarest first."""
    agent, vault = stopped()
    [stop] = vault.profile.stops
    notes = [*standing_out(MONDAY, agent)]
    assert [each.startswith("shop.example is told nothing new") for each in notes][-1]
    codes = vault.profile.codes(MODEL)

    def alike(names: Iterable[str]) -> int:
        some = [*names]
        columns = [NAMES.index(name) for name in some]
        return int((ROWS[:, columns] == [codes[name] for name in some]).all(axis=1).sum())

    rest = [alike({*stop.names} - {name}) for name in stop.names]
    assert rest == sorted(rest, reverse=True)
    assert alike(stop.names) < 50
    for row in range(40):
        agent, vault = living(STOPPING, row)
        codes = vault.profile.codes(MODEL)
        rare = {name for name, code in codes.items() if code and alike([name]) < 50}
        titles = {each.split(":")[0] for each in standing_out(MONDAY, agent)}
        assert titles == {MODEL.attributes[NAMES.index(name)].title for name in rare}
    calm, _ = living(STOPPING.replace('"me"', '"everyone"'))
    assert not [*standing_out(MONDAY, calm)]
