"""What the vault keeps, for the user's own eyes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.request_log import DOORS, Asker
from agent.decision.decide import counted_among
from agent.decision.values import Inferred
from agent.errors import LockedError, UsageError, VaultError
from agent.model.model import Meaning
from agent.model.world import world_of
from agent.wire.decide import Ask
from agent.wire.policy import Disclose, Word
from agent.wire.state import ProfileChange
from agent.words.decisions import why_nothing
from agent.words.notices import GONE, outcome_of
from policy.hosts import site_of
from tests.decision.made import made_model
from tests.decision.transcripts import HOSTS, POLICIES, QUERIES
from tests.vault.histories import disclosed
from tests.vault.values import own_values
from tests.worlds.homes import DEEDS, SOME, Calls, Deed, Life
from tests.worlds.people import MODEL, MONDAY, OPEN, SHOP, FixedRules, Heard, OneModel, living

GUARDED = """
preset = "none"
anonymity_price = 0
[groups]
adverts = ["ads.test", "more.test"]
[attributes]
job = { guard = 0.5 }
[[rule]]
recipient = "more.test"
attribute = "region"
guard = 0.1
[[rule]]
recipient = "books.example"
attribute = "job"
guard = 0.0
"""
OWN = {each.name: each.values[1:] for each in MODEL.attributes[: MODEL.persons]}
SETTING = st.dictionaries(st.sampled_from(sorted(OWN)), st.integers(0, 1), min_size=1)
GROUPED = OPEN + '[groups]\nadverts = ["ads.test", "more.test"]\n'


def calls_of(agent: Agent) -> Calls:
    return Calls(agent, lambda: MONDAY)


def names(found: list[Inferred]) -> list[str]:
    return [each.name for each in found]


@pytest.mark.parametrize("disclose", ["auto", "never"])
def test_what_is_settled_is_not_said_to_wait(disclose: Disclose) -> None:
    """One by one, of the recipient that it is about alone, until it is undone."""
    agent, _ = living('preset = "generous"\ndisclose = "ask"\nanonymity_price = 0.0\n')
    calls = calls_of(agent)
    for host in ("shop.example", "other.example"):
        calls.decide(Ask(query=QUERIES[0], recipient=host))
    review, other = calls.reviews()

    def settled() -> list[tuple[int, int]]:
        return [(each.waiting, each.settled) for each in calls.requests()]

    many = len(review.names)
    assert settled() == [(many, 0), (len(other.names), 0)]
    calls.verdict(Word(disclose=disclose, lasting="once", names=review.names[:1]), id=review.id)
    assert settled()[0] == (many, 1)
    [rest] = [each for each in calls.reviews() if each.pool == review.pool]
    calls.verdict(Word(disclose=disclose, lasting="once"), id=rest.id)
    assert settled() == [(many, many), (len(other.names), 0)]
    calls.undo()
    assert settled()[0] == (many, 1)
    calls.verdict(Word(disclose="auto", lasting="once"), id=other.id)
    summary = calls.decide(Ask(query=QUERIES[0], recipient="other.example")).summary
    assert summary.people_left == other.people_left  # as was promised


def test_what_is_unset_waits_no_more() -> None:
    """Nor what undo unsets; it waits again once it is set and asked for."""
    agent, vault = living('preset = "generous"\ndisclose = "ask"\nanonymity_price = 0.0\n')
    calls, own = calls_of(agent), own_values(vault.profile)

    def waiting() -> set[str]:
        calls.decide(Ask(query=QUERIES[0], recipient="shop.example"))
        return {name for each in calls.reviews() for name in each.names} & own.keys()

    assert len(waiting()) > 1
    gone, *rest = sorted(waiting())
    calls.change_profile(ProfileChange(unset=[gone]))
    assert gone not in {name for each in calls.reviews() for name in each.names}
    assert waiting() == {*rest}
    calls.undo()
    assert waiting() == {gone, *rest}
    calls.change_profile(ProfileChange(unset=[*own]))
    assert calls.reviews() == [] or not waiting()
    calls.change_profile(ProfileChange(set=own))
    assert waiting()
    calls.undo()
    assert not {name for each in calls.reviews() for name in each.names} & own.keys()


def test_it_is_what_is_guarded_from_the_pool() -> None:
    """By the rules for its domain, or for any member of a group; in the model's order."""
    calls = calls_of(living(GUARDED)[0])
    assert names(calls.recipients(recipient="shop.example")[0].inferred) == ["job"]
    assert names(calls.recipients(recipient="books.example")[0].inferred) == []
    for member in ("ads.test", "x.more.test", "@adverts"):
        assert names(calls.recipients(recipient=member)[0].inferred) == ["region", "job"]
    agent, _ = living(None)
    assert calls_of(agent).recipients(recipient="shop.example")[0].inferred == []


@given(SETTING, st.lists(st.sampled_from(HOSTS)), st.sets(st.sampled_from(HOSTS)))
def test_a_change_of_the_profile_is_taken_back_with_what_left_named(
    new: dict[str, int], before: list[str], between: set[str]
) -> None:
    """As it was, once; who was told new values is exactly whom the ledger has since, by pool."""
    agent, vault = living(GROUPED)
    calls, pool_of = calls_of(agent), agent.rules.active.pool_of
    for host in before:
        calls.decide(Ask(query=QUERIES[0], recipient=host))
    own = {name: OWN[name][at % len(OWN[name])] for name, at in new.items()}
    old, before_change = calls.profile(), own_values(vault.profile)
    wanted = ProfileChange(set=own)
    shown = calls.change_profile(structs.replace(wanted, dry_run=True))
    assert (shown.done, calls.profile()) == (False, old)
    changed = calls.change_profile(wanted)
    assert (changed.done, changed.changes, changed.stale) == (True, shown.changes, shown.stale)
    now = own_values(vault.profile)
    assert now == {**before_change, **own}
    names = {each.name for each in changed.changes}
    assert names == {n for n in OWN if before_change.get(n) != now.get(n)}
    holders = vault.ledger.disclosures.holders({name: now.get(name) for name in names}, pool_of)
    assert {name: tuple(pools) for name, pools in changed.stale.items()} == holders
    for host in sorted(between):
        calls.decide(Ask(query=QUERIES[0], recipient=host))
    if not names:
        with pytest.raises(UsageError, match="nothing to undo"):
            calls.undo()
        return
    said = calls.undo().what
    assert calls.profile().facts == old.facts
    assert said.startswith("Changed ")
    assert said.endswith(f": undone. {GONE}")
    with pytest.raises(UsageError, match="nothing to undo"):
        calls.undo()


def test_a_change_is_taken_back_until_the_vault_locks() -> None:
    """The old values are in memory alone; and a failure takes nothing back."""
    agent, vault = living(OPEN)
    calls, old = calls_of(agent), vault.profile.facts
    calls.change_profile(ProfileChange(unset=["age"]))
    vault.records.full = True
    with pytest.raises(VaultError):
        calls.undo()
    vault.records.full = False
    assert calls.undo().what.startswith("Changed Age in your profile: undone.")
    assert vault.profile.facts == old
    calls.change_profile(ProfileChange(unset=["age"]))
    agent.lock()
    agent.vault = vault
    agent.opened(vault, MONDAY)
    with pytest.raises(UsageError, match="nothing to undo"):
        calls.undo()
    assert "age" not in own_values(vault.profile)


@given(DEEDS, st.booleans(), st.integers(1, 5))
def test_each_is_there_once_in_its_order(deeds: list[Deed], backwards: bool, limit: int) -> None:
    """Under the number that was told of it, whatever the clock does; the oldest is cut off.

    What happened while the vault was locked left nothing, nor did what carried nothing before. It
    says what the ledger says, and no value; of the rest, what was asked, and why it got nothing.
    """
    life = Life(backwards=backwards)
    for deed in deeds:
        life.do(deed)
    found = life.calls.requests(limit=1000)
    assert [each.number for each in found] == life.numbers
    assert life.calls.requests(limit=limit) == found[-limit:]
    for middle in [each.at for each in found][limit : limit + 1]:
        for call in (life.calls.requests, life.calls.ledger):
            every = call(limit=1000)
            assert call(since=middle, limit=1000) == [e for e in every if e.at >= middle]
            assert call(until=middle, limit=limit) == [e for e in every if e.at < middle][-limit:]
    times = [each.at for each in found if each.number > 0 or not backwards]
    assert times == sorted(times)
    for each in found:
        assert (each.number < 0) == (each.kind == "nothing")
        assert each.waiting == life.waited.get(each.number, 0)

    assert life.calls.ledger(after=2, limit=1000) == life.calls.ledger(limit=1000)[2:]
    carried = [each for each in found if each.number > 0]
    for each, entry in zip(carried, life.calls.ledger(limit=1000), strict=True):
        assert (each.number, each.kind, each.at) == (entry.number, entry.kind, entry.at)
        assert (each.recipient, each.query, each.asked) == (
            entry.recipient,
            entry.query,
            entry.asked,
        )
        assert each.disclosed == [*entry.disclosed]
        assert (each.utility_bits, each.people_left) == (entry.utility_bits, entry.people_left)
    for each in found:
        assert each.pool == life.agent.rules.active.pool_of(each.recipient)
        if each.kind == "nothing":
            assert not each.disclosed
            assert (each.code == "blocked") == (each.recipient == "books.example")
            assert (each.utility_bits, each.people_left) == (None, None)
    for host in ("www.shop.example", "ads.test", "@adverts"):
        pool = life.agent.rules.active.pool(host)
        mine = [each for each in found if each.pool == pool]
        assert life.calls.requests(recipient=host) == mine
        assert life.calls.requests(recipient=host, limit=1) == mine[-1:]


def test_nothing_is_remembered_once_it_is_locked() -> None:
    """Not even in what only a defect would show."""
    life = Life()
    life.ask("books.example", "a query of mine")
    assert [each.query for _, each in life.agent.silent_requests.entries] == ["a query of mine"]
    life.agent.lock()
    assert not life.agent.silent_requests.entries
    with pytest.raises(LockedError):
        life.calls.requests()
    assert life.calls.decide(SHOP).code == "locked"
    assert not life.agent.silent_requests.entries
    assert isinstance(life.agent.bus, Heard)
    assert life.agent.bus.kinds == ["nothing", "lock", "lock"]


@pytest.mark.parametrize("by", DOORS)
def test_each_request_is_listed_with_its_door(by: Asker) -> None:
    """Also one that carried nothing, and as the ledger has it."""
    calls = calls_of(living(OPEN)[0])
    for query in (SHOP.query, "?"):
        calls.decide(Ask(query=query, recipient="shop.example"), by=by)
    found = [*calls.requests(), *calls.ledger()]
    assert [(each.kind, each.door) for each in found] == [
        (kind, DOORS[by]) for kind in ("disclosed", "nothing", "disclosed")
    ]


def test_what_cannot_be_recorded_carried_nothing() -> None:
    """The disk is full: that is said of the request too, and of no other."""
    life = Life()
    life.vault.records.full = True
    with pytest.raises(VaultError):
        life.calls.decide(SHOP)
    life.vault.records.full = False
    life.calls.decide(SHOP)
    assert [(each.kind, each.code) for each in life.calls.requests()] == [
        ("nothing", "disk full"),
        ("disclosed", "answered"),
    ]


def test_what_follows_from_a_fact_changes_with_it_and_is_said() -> None:
    """Set, shown before, changed, undone and unset; never what was named itself."""
    by, then, *rest = MODEL.attributes
    value, other, implied = by.values[1], by.values[2], then.values[1]
    by = replace(by, implies={value: {then.name: implied}})
    model = replace(MODEL, attributes=(by, then, *rest))
    agent, _ = living(SOME, model=model)
    calls = Calls(agent, lambda: MONDAY)

    def values() -> dict[str, str | None]:
        return {each.kind: each.value for each in calls.profile().facts}

    calls.change_profile(ProfileChange(unset=[by.name, then.name]))
    old = values()
    shown = calls.change_profile(ProfileChange(set={by.name: value}, dry_run=True))
    assert values() == old
    changed = calls.change_profile(ProfileChange(set={by.name: value}))
    assert [(each.name, each.value) for each in changed.implied] == [(then.name, implied)]
    assert changed.implied == shown.implied
    assert values() == {**old, by.name: value, then.name: implied}
    back = calls.change_profile(ProfileChange(set={f"{MODEL.id}.{by.name}": other}))
    assert [(each.name, each.value) for each in back.implied] == [(then.name, "unspecified")]
    assert values()[then.name] == "unspecified"
    calls.undo()
    assert values()[then.name] == implied
    named = calls.change_profile(ProfileChange(set={by.name: value, then.name: implied}))
    assert named.implied == []
    for wrong in ({by.name: value, then.name: then.values[2]}, {then.name: then.values[2]}):
        with pytest.raises(UsageError, match="cannot both be right") as refused:
            calls.change_profile(ProfileChange(set=wrong))
        assert "which of the two is?" in refused.value.hint
    assert values()[then.name] == implied
    gone = calls.change_profile(ProfileChange(unset=[by.name]))
    assert [(each.name, each.value) for each in gone.implied] == [(then.name, None)]


def test_a_fact_that_two_models_call_alike_has_two_names() -> None:
    """In what is undone, and in lists; both are counted in the one world."""
    agent, vault = living(OPEN)
    calls, (age, *rest) = Calls(agent, lambda: MONDAY), MODEL.attributes
    other = replace(age, title="Age of the car", concept="two.age")
    world = world_of([MODEL, replace(MODEL, id="two", attributes=(other, *rest))])
    agent.registry = OneModel(world)
    agent.use_models(vault, MONDAY)
    calls.change_profile(ProfileChange(set={f"two.{age.name}": age.values[2]}))
    entry = disclosed(MONDAY, "shop.example", age_two=age.values[2])
    means = (Meaning("two.age", age.values[2]),)
    vault.ledger.append(structs.replace(entry, means=means))
    [recipient], [handled] = calls.recipients(), calls.requests()
    held = calls.recipients(recipient="shop.example")[0]
    assert [*held.values] == recipient.held == ["age_two"]
    for each in (recipient, held):
        assert each.among == counted_among(MODEL)
    titles = {"age_two": "Age of the car", "age": age.title}
    assert outcome_of(handled, titles) == "Age of the car"
    assert calls.undo().what.startswith("Changed Age of the car in your profile")


# who knows what


APART = SOME.replace("[groups]", '[groups]\nsome = ["shop.example", "books.example"]\n# ')


def lived(deeds: list[Deed], policy: str = SOME) -> Life:
    life = Life(policy)
    for deed in deeds:
        life.do(deed)
    return life


@given(DEEDS, st.sampled_from([SOME, APART]))
def test_it_agrees_with_the_ledger_and_with_what_is_held(deeds: list[Deed], later: str) -> None:
    """Under the groups that there were, and under others."""
    life = lived(deeds)
    life.agent.rules = FixedRules(later)
    found = life.calls.recipients()
    told = [each for each in life.calls.requests(limit=1000) if each.kind == "disclosed"]
    pools = [*dict.fromkeys(each.pool for each in reversed(told))]
    assert [each.pool for each in found] == pools
    for each in found:
        mine = [entry for entry in told if entry.pool == each.pool]
        assert each.requests == len(mine)
        assert each.sites == sorted({site_of(entry.recipient) for entry in mine})
        held = life.calls.recipients(recipient=each.pool)[0]
        assert (each.people_left, each.people) == (held.people_left, held.people)
        assert each.held == sorted(held.values)
        assert each.first_left == mine[0].people_left


def test_to_forget_raises_it_again() -> None:
    """To all there are, where all of a pool forget; else to those who agree with the rest."""
    life = lived([("ask", "a.ads.test", SHOP.query), ("ask", "shop.example", SHOP.query)])
    merged = FixedRules(SOME.replace('["ads.test"]', '["ads.test", "shop.example"]'))
    life.do(("forget", "shop.example", ""))
    whole, part = life.calls.recipients()
    assert whole.first_left < whole.people_left == 300
    assert part.first_left == part.people_left < 300
    life.agent.rules = merged
    [both] = life.calls.recipients()
    assert both.pool == "@adverts"
    assert both.sites == ["ads.test", "shop.example"]
    assert both.people_left == part.people_left


def test_who_was_told_by_another_population_counts_in_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since the one that the policy names now knows none of the facts."""
    life = lived([("ask", "shop.example", SHOP.query)])
    before, other = life.calls.recipients(), made_model(1)
    unknown = (replace(each, concept=f"other_{each.name}") for each in other.attributes)
    strange = replace(other, attributes=tuple(unknown))
    life.agent.rules = FixedRules(SOME + '[[rule]]\nrecipient = "shop.example"\npopulation = "x"\n')
    monkeypatch.setattr(life.agent.registry, "of", lambda *_: strange)
    assert life.calls.recipients() == before


@pytest.mark.parametrize(
    "policy", [*POLICIES.values(), SOME, APART], ids=[*POLICIES, "blocking", "half"]
)
def test_who_is_blocked_gets_nothing(policy: str) -> None:
    """And whoever is not gets something decided, or one of its group; an edit shows at once."""
    life = Life("preset = 'none'\nanonymity_price = 0\n")
    for host in ("shop.example", "books.example", "a.ads.test"):
        life.ask(host, SHOP.query)
    life.agent.rules = FixedRules(policy)
    for each in life.calls.recipients():
        codes = {life.calls.explain(Ask(query="q", recipient=site)).code for site in each.sites}
        assert each.blocked == (codes == {"blocked"})
    life.agent.rules = FixedRules(None)
    assert not any(each.blocked for each in life.calls.recipients())


def test_the_list_names_the_limit_that_kept_everything() -> None:
    """As the decision itself does; nothing of it depends on a value."""
    agent, _ = living(f"{OPEN}k = 290\n")
    calls = Calls(agent, lambda: MONDAY)
    assert calls.decide(SHOP).summary.why == why_nothing(calls.explain(SHOP))
    limit = "the limit k: fewer than 290 people would look like you"
    assert outcome_of(calls.requests()[0]) == f"nothing: what would help enough would break {limit}"
