"""Questions that are asked once for a family of facts and a kind of recipient, and one a day."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent import Consent
from agent.daemon.request_log import Asker
from agent.errors import UsageError
from agent.vault.store import Items
from agent.wire.policy import Disclose, Word
from policy.hosts import ASSISTANT, ENGINE, OTHER
from policy.match import Rulebook
from tests.daemon.office import FEW, MODEL, TEXT, Office, open_office
from tests.decision.made import NAMES
from tests.vault.doubles import MemoryStore

HOSTS = ("a.example", "www.a.example", "b.example", "s1.example", "s2.example")
PERSONAL = dict(
    zip(NAMES, ("medication", "debt", "allergies", "job_seeking", "hours"), strict=True)
)
FAMILY_OF = {"medication": "@health", "allergies": "@health", "debt": "debt"}
KIND_OF = {
    **dict.fromkeys(("claude.ai", "poe.com"), ASSISTANT),
    **dict.fromkeys(("www.google.com", "duckduckgo.com"), ENGINE),
    **dict.fromkeys(("a.example", "b.example"), OTHER),
}
ANYTHING_GOES = (
    'preset = "balanced"  # but for the limits\nk = 1\nrisk = 1\nprotect = "everyone"\n'
    'mode = "dynamic"\nanonymity_price = 1e-05\n'
)
BY: tuple[Asker, ...] = ("user", "page")
STEPS = ("", "dismiss", "lock", "restart")
FAMILY_WORDS: tuple[Disclose, ...] = ("auto", "never", "ask")


def personal(folder: Path) -> Office:
    """Return one whose policy is a preset, and whose model knows facts that it asks about."""
    attributes = (
        replace(each, name=PERSONAL[each.name], concept=PERSONAL[each.name])
        for each in MODEL.attributes
    )
    made = open_office(folder, (replace(MODEL, attributes=tuple(attributes)),))
    made.path.write_text(ANYTHING_GOES)
    return made


@FEW
@given(
    st.lists(
        st.tuples(*map(st.sampled_from, (sorted(KIND_OF), FAMILY_WORDS, (True, False)))), max_size=6
    )
)
def test_one_word_settles_a_family_for_a_kind_of_recipient(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Disclose, bool]]
) -> None:
    """For all of that kind, for good, and no other fact; undone, all waits as before."""
    office = personal(tmp_path_factory.mktemp("consent"))
    [model] = office.models
    words = dict[tuple[str, str], Disclose]()
    for host, word, undone in steps:
        for each in KIND_OF:
            office.request(each, model=model)
        waiting = office.consent.reviews(office.now)
        review = next((each for each in waiting if each.recipient == host), None)
        if review is None:
            continue
        families = {FAMILY_OF[name] for name in review.names if name in FAMILY_OF}
        open_ = {each for each in families if (each, KIND_OF[host]) not in words}
        assert {*review.families} == open_
        if not open_:
            continue
        before = office.path.read_text()
        ruled = office.consent.answer(review.id, Word(disclose=word, about="family"), office.now)
        assert ruled.written is not None
        assert ruled.written in office.path.read_text()
        if undone:
            office.consent.undo(office.now)
            assert office.path.read_text() == before
            assert office.consent.reviews(office.now) == waiting
        else:
            words |= {(each, KIND_OF[host]): word for each in open_}
        for each, kind in KIND_OF.items():
            _, terms, _ = office.decided(each, model=model)
            ruled_so = {n: words.get((f, kind), "ask") for n, f in FAMILY_OF.items()}
            asked = {name for name, value in ruled_so.items() if value == "ask"}
            assert terms.ask == asked | {"job_seeking"}
            assert terms.excluded == {n for n, value in ruled_so.items() if value == "never"}
        for waits in office.consent.reviews(office.now):
            assert {*waits.names} <= office.decided(waits.recipient, model=model)[1].ask


def test_a_word_on_a_family_needs_one_that_only_a_preset_asks_about(tmp_path: Path) -> None:
    """A rule of the user's own has settled it, "ask" as well; it is asked about fact by fact."""
    office = personal(tmp_path)
    [model] = office.models
    office.path.write_text(ANYTHING_GOES + '[attributes]\n"@health" = "ask"\ndebt = "ask"\n')
    office.request("poe.com", model=model)
    [review] = office.consent.reviews(office.now)
    assert ({*review.names} & {*FAMILY_OF}, review.families) != (set(), [])
    with pytest.raises(UsageError, match="no family left to settle"):
        office.consent.answer(review.id, Word(disclose="auto", about="family"), office.now)
    office.path.write_text(ANYTHING_GOES)
    [review] = office.consent.reviews(office.now)
    assert review.families
    with pytest.raises(UsageError, match="approved or denied"):
        office.consent.answer(review.id, Word(disclose="ask"), office.now)


def test_what_waits_is_listed_without_matching_rules_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at the status lists it; but rules that changed are matched."""
    office = personal(tmp_path)
    for host in KIND_OF:
        office.request(host, model=office.models[0])
    before = office.consent.reviews(office.now)
    assert all(each.families for each in before)
    with monkeypatch.context() as patched:
        patched.setattr(Rulebook, "match", None)
        assert office.consent.reviews(office.now) == before
    office.path.write_text(ANYTHING_GOES + '[attributes]\n"@health" = "never"\ndebt = "ask"\n')
    assert not any(each.families for each in office.consent.reviews(office.now))


@FEW
@given(st.lists(st.tuples(*map(st.sampled_from, (HOSTS, range(31), STEPS, BY))), max_size=12))
@pytest.mark.parametrize("most", [0, 1, 2])
def test_so_many_questions_a_day_are_raised(
    tmp_path_factory: pytest.TempPathFactory, most: int, steps: list[tuple[str, int, str, Asker]]
) -> None:
    """The first of a day that no page asks; the others are in the list, whatever is settled.

    Neither a page, a lock nor a new daemon changes how many; what was not raised is another day.
    """
    office = open_office(tmp_path_factory.mktemp("consent"))
    office.consent.opened(items := Items(MemoryStore()))
    office.path.write_text(TEXT.replace("= 100", f"= {most}"))
    raised = Counter[date]()
    for host, hours, step, by in steps:
        today = office.now.date()
        before = {each.id for each in office.consent.reviews(office.now) if each.raised}
        _, review = office.request(host, by=by)
        asked = office.consent.reviews(office.now)[-1]
        is_raised = by != "page" and asked.id not in before and raised[today] < most
        assert (review is not None) == is_raised
        assert asked.raised == (is_raised or asked.id in before)
        raised[today] += is_raised
        if step == "dismiss":
            office.consent.dismiss(office.consent.reviews(office.now)[0].id)
        elif step in ("lock", "restart"):
            office.consent.closed()
            consent = Consent(office.path, office.active)
            office.consent = consent if step == "restart" else office.consent
            office.consent.opened(items)
        office.now += timedelta(hours=hours)
