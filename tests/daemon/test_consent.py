"""The user's word on what waits, applied and undone."""

from contextlib import suppress
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent import Consent
from agent.daemon.policy_file import ActivePolicy
from agent.errors import RefusedError, ReticentError, UsageError
from agent.model.world import world_of
from agent.wire.policy import About, Disclose, Lasting, Word
from agent.words.figures import listed
from agent.words.notices import GONE
from policy.read import preset, read
from tests.daemon.office import FEW, MODEL, TEXT, Office, open_office
from tests.decision.made import NAMES, OTHER_NAMES, elsewhere

HOSTS = ("a.example", "www.a.example", "b.example", "s1.example", "s2.example")
EVENTS = st.tuples(st.sampled_from(HOSTS), st.booleans(), st.integers(0, 30))
VERDICTS = st.tuples(
    st.sampled_from(HOSTS),
    st.sampled_from(["approve", "deny"]),
    st.sampled_from(["days", "always"]),
    st.sampled_from(["recipient", "everyone"]),
)
POLICIES = (
    TEXT,
    TEXT.replace("0.01", "3"),
    TEXT.replace("ask", "auto"),
    TEXT + '[[rule]]\nrecipient = "a.example"\ndisclose = "never"\n',
    TEXT + "".join(f'[[rule]]\nattribute = "{name}"\ndisclose = "auto"\n' for name in NAMES[:2]),
)
LOOSE = 'preset = "none"\nanonymity_price = 1e-05\n[groups]\nshops = ["s1.example", "s2.example"]\n'
VALUES = get_args(Disclose)
ABOUT: tuple[About, ...] = ("recipient", "everyone")
FATES = {"never": "stays", "ask": "waits", "auto": "leaves", "always": "leaves"}
OVERRIDES = st.builds(
    Word,
    recipient=st.sampled_from(["a.example", "s1.example"]),
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
    disclose=st.sampled_from(["never", "ask", "auto"]),
    lasting=st.just("always"),
    about=st.sampled_from(["recipient", "everyone"]),
)


@pytest.fixture
def loose(tmp_path: Path) -> Office:
    """Return a consent whose policy lets anything leave."""
    made = open_office(tmp_path)
    made.path.write_text(LOOSE)
    return made


def disclosed(office: Office, host: str) -> set[str]:
    return {*office.request(host)[0].disclosed}


def test_a_request_waits_once_per_pool_and_set(office: Office) -> None:
    """Again and again by any host of the pool; with what it would add, and who would be left."""
    decision, new = office.request("www.a.example")
    assert decision.disclosed == ()
    assert decision.pending is not None
    assert new is not None
    assert (new.id, new.recipient, new.pool) == (1, "www.a.example", "a.example")
    assert new.names == [*decision.waiting]
    assert new.more_bits == decision.pending.utility - decision.figures.utility > 0
    assert new.people_left == decision.pending.people_left < decision.figures.people
    assert office.request("a.example")[1] is None
    (only,) = office.consent.reviews(office.now)
    assert (only.id, only.recipient, only.at) == (1, "a.example", office.now)
    office.request("s1.example")
    office.request("s2.example")
    assert [each.pool for each in office.consent.reviews(office.now)] == ["a.example", "@shops"]


@FEW
@given(verdicts=st.lists(VERDICTS, max_size=4))
def test_the_next_request_carries_what_was_approved_and_no_more(
    verdicts: list[tuple[str, str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever was said before, in memory or in the file."""
    office = open_office(tmp_path_factory.mktemp("p"))
    for host, decided, lasting, about in verdicts:
        decision, _ = office.request(host)
        if decision.pending is None:
            continue
        before = office.path.read_text()
        review = office.consent.reviews(office.now)[-1]
        days = {"days": 3} if lasting == "days" else {}
        office.say(review, decided, lasting, about=about, **days)
        assert office.path.read_text() != before
        carried = disclosed(office, host)
        approved = {*review.names} if decided == "approve" else set()
        assert carried == approved | {*decision.disclosed}


@FEW
@given(events=st.lists(EVENTS, max_size=6))
def test_what_expires_or_is_dismissed_rules_nothing(
    events: list[tuple[str, bool, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is asked for again, as if it had never been."""
    office = open_office(tmp_path_factory.mktemp("p"))
    first = office.request("a.example")[0]
    for host, dismissed, hours in events:
        review = office.review(host)
        if dismissed:
            office.consent.dismiss(review.id)
            assert review not in office.consent.reviews(office.now)
        office.now += timedelta(hours=hours)
    assert office.path.read_text() == TEXT
    assert office.request("a.example")[0] == first
    office.now += timedelta(days=1)
    assert office.consent.reviews(office.now) == []


def test_a_verdict_that_makes_no_sense_is_refused(office: Office) -> None:
    """And the review still waits."""
    review = office.review("a.example")
    for number, verdict, said in (
        (review.id, Word(disclose="never", names=["no_such"]), "no_such"),
        (review.id, Word(disclose="never", names=[]), "no attribute"),
        (review.id, Word(disclose="never", recipient="b.example"), "pools with"),
        (review.id, Word(disclose="never", lasting="days"), "days"),
        (review.id, Word(disclose="never", lasting="always", days=3), "days"),
        (99, Word(disclose="never"), "number 99"),
    ):
        with pytest.raises(ReticentError, match=said):
            office.consent.answer(number, verdict, office.now)
    assert office.consent.reviews(office.now) == [review]


def test_a_word_is_for_those_that_the_user_was_shown(office: Office) -> None:
    """Who pools now with others than then is asked for anew, and nothing is written."""
    office.offer("a.example", ["age"])
    office.request("a.example")
    both = office.consent.reviews(office.now)
    office.path.write_text(grown := TEXT.replace("[groups]", "[groups]\nads = ['a.example']"))
    for review, lasting, about in product(both, ("once", "always"), ABOUT):
        with pytest.raises(RefusedError, match="pools with has changed") as raised:
            office.say(review, "approve", lasting, about=about, recipient=review.pool)
        assert raised.value.code == "conflict"
    assert office.path.read_text() == grown
    assert office.consent.reviews(office.now) == both
    assert not disclosed(office, "a.example")


def test_a_word_without_any_effect_is_not_written(office: Office) -> None:
    """What decides instead is named, and the review still waits; so it does for a part."""
    office.path.write_text(text := TEXT + '[attributes]\n"*" = "ask"\ngender = "ask"\n')
    review = office.review("a.example")
    assert "gender" in review.names
    wish: dict[str, Any] = {"about": "everyone", "days": 3}
    with pytest.raises(UsageError, match=r"'attributes.gender' decides about gender"):
        office.say(review, "approve", "days", names=["gender"], **wish)
    assert office.path.read_text() == text
    assert office.consent.reviews(office.now) == [review]
    ruled = office.say(review, "approve", "days", **wish)
    assert ruled.without_effect == ["gender"]
    assert ruled.written == "approved for everyone until 2026-03-05"


@pytest.mark.parametrize("content", [None, "lamda = 5\n"])
def test_a_verdict_that_cannot_be_written_leaves_all_as_it_was(
    office: Office, content: str | None
) -> None:
    """The review waits, and nothing is remembered in its stead."""
    review = office.review("a.example")
    if content is None:
        office.path.unlink()
    else:
        office.path.write_text(content)
    rules = read(TEXT, "before", preset)
    office.consent._active = lambda: ActivePolicy(rules)  # noqa: SLF001  (the last good rules stay in use)
    with pytest.raises(UsageError):
        office.say(review, "approve", "always")
    assert office.consent.reviews(office.now) == [review]
    assert office.path.exists() == (content is not None)
    office.path.write_text(TEXT)
    assert not disclosed(office, "a.example")


EDITS = st.sampled_from(["a.example", "s1.example", "s2.example", "undo"])


@FEW
@given(st.lists(EDITS | st.sampled_from(POLICIES) | OVERRIDES, min_size=2, max_size=8))
def test_what_waits_follows_the_rules_in_force(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str | Word]
) -> None:
    """Whatever is edited, said and taken back: what is listed would be asked for now."""
    office = open_office(tmp_path_factory.mktemp("consent"))
    for step in ["a.example", *steps]:
        with suppress(UsageError):
            if isinstance(step, Word):
                office.consent.override(step, office.now)
            elif step == "undo":
                office.consent.undo(office.now)
            elif "\n" in step:
                office.path.write_text(step)
            else:
                office.request(step)
    for review in office.consent.reviews(office.now):
        assert {*review.names} <= office.decided(review.recipient)[1].ask


@pytest.mark.parametrize("lasting", ["once", "always"])
def test_what_a_rule_for_a_topic_asks_about_waits_and_is_settled(
    office: Office, lasting: str
) -> None:
    """An answer opens it once; one that lasts is refused where that rule would still win."""
    rule = LOOSE + '[[rule]]\ntopic = "Python, today!"\ndisclose = "ask"\n'
    office.path.write_text(rule)
    assert office.request("a.example", "restaurants today")[1] is None
    review = office.review("a.example")
    assert office.consent.reviews(office.now) == [review]
    if lasting == "always":
        with pytest.raises(UsageError, match="would have no effect: 'rule 1' decides"):
            office.say(review, "approve", lasting, about="everyone")
        return
    office.say(review, "approve")
    assert disclosed(office, "a.example") == {*review.names}
    assert not disclosed(office, "a.example")


PARTS: tuple[tuple[Any, ...], ...] = (
    *(("request", "say", "override", "undo"), ("a.example", "s1.example"), (0, 1)),
    *(("approve", "deny"), ("once", "always"), ("recipient", "everyone")),
)


@FEW
@given(st.lists(st.tuples(*map(st.sampled_from, PARTS)), max_size=12))
def test_what_is_said_through_one_model_holds_in_the_other(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int, str, str, str]]
) -> None:
    """Whatever each calls a fact, whoever asked, and however long the word lasts."""
    models = MODEL, elsewhere(MODEL)
    office = open_office(tmp_path_factory.mktemp("consent"), models)
    for what, host, which, decided, lasting, about in steps:
        name = (NAMES[0], OTHER_NAMES[NAMES[0]])[which]
        with suppress(UsageError):
            if what == "request":
                office.request(host, model=models[which])
            elif what == "undo":
                office.consent.undo(office.now)
            elif what == "override":
                disclose = "never" if decided == "deny" else "auto"
                override(office, [name], disclose, recipient=host, lasting=lasting, about=about)
            else:
                for review in office.consent.reviews(office.now)[-1:]:
                    office.say(review, decided, lasting, about=about)
    for each in ("a.example", "s1.example"):
        own, other = (office.decided(each, model=model)[1] for model in models)
        for part in ("excluded", "ask", "always"):
            renamed = {OTHER_NAMES[name] for name in getattr(own, part)}
            assert getattr(other, part) == renamed


def test_what_waits_by_a_model_of_a_world_follows_the_rules(tmp_path: Path) -> None:
    """A policy may name that model alone; once its facts are ruled never, nothing is asked."""
    alone = elsewhere(MODEL)
    office = open_office(tmp_path, (world_of([MODEL, alone]),))
    office.request("a.example", model=alone)
    assert [each.model for each in office.consent.reviews(office.now)] == [alone.id]
    office.path.write_text(TEXT.replace('"ask"', '"never"'))
    assert office.consent.reviews(office.now) == []


def override(loose: Office, names: list[str], disclose: str, **more: Any) -> Any:  # noqa: ANN401  (of any field)
    """Set one, of a.example where nothing else is said."""
    fields: Any = {"recipient": "a.example", "names": names, "disclose": disclose, **more}
    return loose.consent.override(Word(**fields), loose.now)


def fate(loose: Office, host: str, name: str) -> str:
    """Return what becomes of an attribute with one more request of a host."""
    decision, _ = loose.request(host)
    waiting = decision.waiting
    return "leaves" if name in decision.disclosed else "waits" if name in waiting else "stays"


def test_a_word_holds_for_as_long_and_for_whom_it_says(loose: Office) -> None:
    """And the file changes where it is to last."""
    for lasting, disclose, about in product(get_args(Lasting), VALUES, ABOUT):
        loose.path.write_text(LOOSE)
        loose.consent = Consent(loose.path, loose.active)
        name = loose.request("s1.example")[0].disclosed[0]
        assert fate(loose, "b.example", name) == "leaves"
        days = {"days": 2} if lasting == "days" else {}
        said = {"recipient": "s2.example", "lasting": lasting, "about": about, **days}
        done = override(loose, [name], disclose, **said)
        assert done.without_effect == []
        assert (done.written is None) == (loose.path.read_text() == LOOSE)
        assert (done.written is None) == (lasting == "once")
        expected = FATES[disclose]
        assert fate(loose, "s1.example", name) == expected
        assert fate(loose, "s2.example", name) == (expected if lasting != "once" else "leaves")
        reached = about == "everyone" and lasting != "once"
        assert fate(loose, "b.example", name) == (expected if reached else "leaves")
        loose.now += timedelta(days=3)
        lasts = lasting == "always"
        assert fate(loose, "s2.example", name) == (expected if lasts else "leaves")


@pytest.mark.parametrize("lasting", ["once", "always"])
@pytest.mark.parametrize("disclose", ["never", "always"])
def test_what_is_guarded_must_be_taken_out_of_the_policy(
    loose: Office, lasting: str, disclose: str
) -> None:
    """No word of any kind lets it leave; nor one on a recipient that gets nothing."""
    loose.path.write_text(f"{LOOSE}[attributes]\ngender = {{ guard = 1.0 }}\n")
    with pytest.raises(UsageError, match=r"gender is guarded by 'attributes.gender'") as raised:
        override(loose, ["age", "gender"], disclose, lasting=lasting)
    assert "remove the guard" in raised.value.hint
    loose.consent.refuse("a.example", loose.now)
    refused = loose.path.read_text()
    if disclose == "never":
        return
    with pytest.raises(UsageError, match=r"a\.example gets nothing, by 'nothing for a.example'"):
        override(loose, ["age"], disclose, lasting=lasting)
    assert loose.path.read_text() == refused
    override(loose, ["age"], disclose, lasting=lasting, about="everyone")
    assert loose.consent.undo(loose.now)
    assert loose.consent.allow("https://a.example/").changed
    assert not loose.consent.allow("a.example").changed


def test_a_word_that_makes_no_sense_is_refused(loose: Office) -> None:
    """As a verdict is; and one where no policy is in use."""
    for more in ({"lasting": "days"}, {"days": 2}, {"recipient": "x y"}, {"about": "family"}):
        with pytest.raises(UsageError, match=r"days|x y|about nothing"):
            override(loose, ["age"], "never", **more)
    loose.path.unlink()
    with pytest.raises(UsageError, match="no policy is in use"):
        override(loose, ["age"], "never")


def test_an_edited_policy_is_not_touched(office: Office) -> None:
    """The word can still be taken back once the file is as we left it."""
    review = office.review("a.example")
    office.say(review, "deny", "always")
    ours = office.path.read_text()
    for text in (f"{ours}k = 3\n", ours.replace("# all", "# mine"), "lamda = 1\n"):
        office.path.write_text(text)
        state = office.consent._waiting  # noqa: SLF001  (no rules say what still waits)
        with pytest.raises(UsageError, match=r"was edited since|has mistakes") as raised:
            office.consent.undo(office.now)
        assert "reticent policy" in raised.value.hint
        assert (office.path.read_text(), office.consent._waiting) == (text, state)  # noqa: SLF001
    office.path.write_text(ours)
    office.consent.undo(office.now)
    assert (office.path.read_text(), office.consent.reviews(office.now)) == (TEXT, [review])


def test_lock_forgets_the_step_and_a_failure_does_not(office: Office) -> None:
    """There is one step, that of the last word which was applied."""
    review = office.review("a.example")
    office.say(review, "deny", "always")
    with pytest.raises(ReticentError):
        office.consent.answer(99, Word(disclose="never"), office.now)
    said = f"Denied {listed(review.names)} for a.example: undone. {GONE}"
    assert office.consent.undo(office.now) == said
    assert office.consent.reviews(office.now) == [review]
    office.say(review, "deny", "always")
    office.consent.closed()
    with pytest.raises(UsageError, match="nothing to undo"):
        office.consent.undo(office.now)


def test_a_block_and_its_end_are_undone_like_any_word(office: Office) -> None:
    """The latest alone; one that changes nothing leaves what can be undone."""
    consent, now, path = office.consent, office.now, office.path
    before, offered = path.read_bytes(), office.offer("a.example", ["gender"])
    for named in ("a.example", "https://www.a.example/page"):  # by then it says so already
        consent.refuse(named, now)
    assert (path.read_bytes() != before, consent.reviews(now)) == (True, [])
    assert consent.undo(now) == f"Blocked a.example: undone. {GONE}"
    assert (path.read_bytes(), consent.reviews(now)) == (before, [offered])
    consent.refuse("a.example", now)
    blocked = path.read_bytes()
    for _ in range(2):
        consent.allow("a.example")
    assert consent.undo(now) == "Unblocked a.example: undone."
    assert path.read_bytes() == blocked
    with pytest.raises(UsageError, match="nothing to undo"):
        consent.undo(now)
