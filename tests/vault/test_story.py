"""The steps of a ledger: one for each entry, in order, however the ledger came to be at hand."""

from collections.abc import Sequence
from itertools import groupby

from hypothesis import given

from agent.vault.disclosure_index import Forgetting, Record
from agent.vault.ledger import Ledger
from policy.hosts import site_of
from tests.vault.histories import histories
from tests.vault.test_ledger import written


@given(histories())
def test_each_entry_is_a_step(history: Sequence[Record]) -> None:
    """With its time, whom it is about and how many were left; read anew, it is the same."""
    ledger, store = written(history)
    steps = [*ledger.timeline.steps]
    assert [*Ledger(store).timeline.steps] == steps
    found = [[*group] for _, group in groupby(steps, key=lambda step: step.number)]
    for number, (group, record) in enumerate(zip(found, history, strict=True), 1):
        assert {(step.number, step.at) for step in group} == {(number, record.at)}
        if isinstance(record, Forgetting):
            assert [step.site for step in group] == [*record.sites]
            assert {step.people_left for step in group} == {None}
        else:
            [step] = group
            assert (step.site, step.people_left) == (site_of(record.host), record.people_left)
