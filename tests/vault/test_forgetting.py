"""What is stated to be forgotten: of whom, and of nobody else, whoever pools with whom later."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from agent.decision.request import Fact
from agent.vault.disclosure_index import MOST_SITES, Forgetting, Record
from agent.vault.ledger import Ledger
from tests.vault.doubles import MemoryStore, ledger_of
from tests.vault.histories import (
    GROUPINGS,
    NOW,
    SITES,
    VALUES,
    Grouping,
    disclosed,
    held,
    histories,
    knowledge,
)
from tests.vault.values import model_of

ALONE = Grouping({})
POOLS = [Grouping(groups) for groups in GROUPINGS]
MODEL = model_of(persons=VALUES)
Holding = Mapping[str, Fact[str]]


class Said(NamedTuple):
    """That the pool of a site forgets, by the groups of that time."""

    site: str
    pools: Grouping


Life = Sequence[Record | Said]


@st.composite
def lives(draw: st.DrawFn) -> list[Record | Said]:
    """Draw what happened, with statements about pools while the groups change."""
    said = st.builds(Said, st.sampled_from(SITES), st.sampled_from(POOLS))
    happened: list[Record | Said] = list(draw(histories()))
    for each in draw(st.lists(said, max_size=4)):
        happened.insert(draw(st.integers(0, len(happened))), each)
    return happened


def lived(life: Life) -> Ledger:
    """Return the ledger of a life."""
    ledger = Ledger(MemoryStore())
    for each in life:
        if isinstance(each, Said):
            forget(ledger, each)
        else:
            ledger.append(each)
    return ledger


def forget(ledger: Ledger, said: Said) -> bool:
    """State that a pool forgets."""
    pool = said.pools.of(said.site)
    return ledger.forget(NOW, lambda site: said.pools.of(site) == pool)


def each_holds(ledger: Ledger) -> dict[str, Holding]:
    """Return what every site holds by itself."""
    return {site: held(ledger, site, ALONE.of) for site in SITES}


@given(lives(), st.sampled_from(POOLS))
def test_a_pool_holds_what_its_members_hold(life: Life, pools: Grouping) -> None:
    """All of it, and nothing else, whatever groups were made or unmade, and when."""
    ledger = lived(life)
    alone = each_holds(ledger)
    for pool in {pools.of(site) for site in SITES}:
        theirs = [alone[site] for site in SITES if pools.of(site) == pool]
        found = held(ledger, pool, pools.of)
        assert found.keys() == {name for each in theirs for name in each}
        for name, fact in found.items():
            assert fact.value in {each[name].value for each in theirs if name in each}


@given(lives(), st.builds(Said, st.sampled_from(SITES), st.sampled_from(POOLS)))
def test_those_forget_of_whom_it_is_said(life: Life, said: Said) -> None:
    """The sites that are in the pool then forget everything, and all others nothing."""
    ledger = lived(life)
    before = each_holds(ledger)
    count, stated = ledger.count, forget(ledger, said)
    assert stated == (ledger.count > count)
    after = each_holds(ledger)
    for site in SITES:
        pooled = said.pools.of(site) == said.pools.of(said.site)
        assert after[site] == ({} if pooled else before[site])
    assert held(ledger, said.pools.of(said.site), said.pools.of) == {}


@given(lives(), st.builds(Said, st.sampled_from(SITES), st.sampled_from(POOLS)))
def test_the_weeks_count_stays(life: Life, said: Said) -> None:
    """Of every pool, under all groups."""
    ledger = lived(life)

    def recent() -> list[int]:
        each = [(site, pools) for site in SITES for pools in POOLS]
        return [
            knowledge(ledger, pools.of(site), pools.of, MODEL, NOW).recent for site, pools in each
        ]

    before = recent()
    forget(ledger, said)
    assert recent() == before


def test_it_says_whom_the_user_named() -> None:
    """A host, though it was told nothing itself; of those who were told, or nothing is said."""
    ledger = Ledger(MemoryStore())
    assert not ledger.forget(NOW, lambda _: True, "a.example")
    assert ledger.count == 0
    ledger.append(disclosed(NOW, "www.b.example", age="old"))
    assert ledger.forget(NOW, lambda _: True, "a.example")
    expected = Forgetting(at=NOW, host="a.example", sites=("b.example",))
    assert ledger.read(after=1) == [(2, expected)]


def test_a_large_pool_forgets_in_parts() -> None:
    """As many entries as it takes, which together are said of each once."""
    sites = [f"{number:03}.example" for number in range(2 * MOST_SITES + 1)]
    ledger = ledger_of(disclosed(NOW, site, age="old") for site in sites)
    pools = Grouping(dict.fromkeys(sites, "@many"))
    assert forget(ledger, Said(sites[0], pools))
    said = [record for _, record in ledger.read(after=len(sites))]
    assert [site for each in said if isinstance(each, Forgetting) for site in each.sites] == sites
    assert len(said) == 3
    assert held(ledger, "@many", pools.of) == {}
