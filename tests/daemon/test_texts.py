"""Texts that are deleted from the record, by the user or by age, and what stays."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.wire.base import RecipientName
from agent.wire.decide import Ask
from agent.wire.state import Deletion
from tests.decision.transcripts import HOSTS, QUERIES
from tests.worlds.homes import DEEDS, POLICY, Deed, Home


@settings(max_examples=8)
@given(DEEDS, st.sets(st.integers(1, 12)), st.booleans(), st.sampled_from(["dynamic", "planned"]))
def test_who_deletes_texts_changes_nothing_else(
    deeds: list[Deed], some: set[int], every: bool, mode: str
) -> None:
    """Neither who knows what, nor how many people are left, nor any later answer."""
    lives = []
    for deletes in (False, True):
        with TemporaryDirectory() as folder, Home(Path(folder)) as home:
            home.rule(f'mode = "{mode}"\nnew_facts_per_week = 2{POLICY}')
            home.unlock()
            home.fill()
            for what, host, query in deeds:
                if what == "forget":
                    home.calls.forget(RecipientName(recipient=host))
                else:
                    home.calls.decide(Ask(query=query, recipient=host))
            texts = {each.number for each in home.calls.requests() if each.query}
            named = [*some & {e.number for e in home.calls.ledger() if e.kind == "disclosed"}]
            body = Deletion(entries=named, before=home.now if every else None)
            gone = {*named} | (texts if every else {*()})
            if deletes:
                assert home.calls.delete_texts(body) == sorted(each for each in gone if each > 0)
            else:
                home.clock()
            left = {each.number for each in home.calls.requests() if each.query}
            assert left == (texts - gone if deletes else texts)
            after = [home.calls.decide(Ask(query=q, recipient=h)) for h in HOSTS for q in QUERIES]
            known = home.calls.recipients(), [home.calls.recipients(recipient=h) for h in HOSTS]
            lives.append((after, known))
    assert lives[0] == lives[1]


def test_old_texts_go_while_the_vault_stays_open(opened: Home) -> None:
    """Once a day, and when fewer days are ruled; also of what carried nothing."""

    def texts() -> list[str]:
        return [each.query for each in opened.calls.requests()]

    ask = partial(opened.calls.decide, by="user")
    opened.rule(POLICY + "keep_texts_days = 2\n")
    for query in (QUERIES[0], "?"):
        ask(Ask(query=query, recipient="shop.example"))
    for hours, kept in ((24, 2), (25, 0)):
        opened.now += timedelta(hours=hours)
        opened.agent.look_at_all()
        assert len([*filter(None, texts())]) == kept
    ask(Ask(query=QUERIES[0], recipient="shop.example"))
    opened.now += timedelta(hours=1)
    opened.rule(POLICY + "keep_texts_days = 1\n")
    opened.agent.look_at_all()
    assert texts() == ["", QUERIES[0]]
