"""`reticent ask`: what reaches the daemon; the pages are in transcripts/answers.txt."""

import pytest
from msgspec.structs import replace as changed

from agent.wire.decide import Ask
from tests.cli.conftest import Run
from tests.cli.daemon import ANSWER, EXPLAINED, REVIEW
from tests.wire.fake import FakeDaemon, says

ASK = ("ask", "weather.example", "weather")


@pytest.mark.parametrize(("more", "route"), [((), "decide"), (("--explain",), "explain")])
def test_what_is_asked_is_sent_once_and_what_is_explained_is_not(
    run: Run, fake: FakeDaemon, more: tuple[str, ...], route: str
) -> None:
    """Nothing waits, and so nobody is asked what does."""
    assert run(*ASK, *more).code == 0
    assert fake.calls[0] == (route, {"body": Ask(recipient="weather.example", query="weather")})
    assert {name for name, _ in fake.calls} <= {route, "attributes"}


def test_the_nearest_of_the_rest_are_shown_and_all_on_demand(run: Run, fake: FakeDaemon) -> None:
    """Those that would not leave."""
    many = [changed(EXPLAINED.outcomes[0], name=f"x{each}") for each in range(9)]
    fake.handlers["explain"] = says(changed(EXPLAINED, outcomes=(*EXPLAINED.outcomes, *many)))
    assert "Add --all to see 7 more facts." in run(*ASK, "--explain").page
    assert "Add --all" not in run(*ASK, "--explain", "--all").page


def test_only_what_waits_beside_this_request_is_listed(run: Run, fake: FakeDaemon) -> None:
    """What another query to the same recipient left waiting is in the list of what waits."""
    assert ANSWER.summary is not None
    fake.handlers["decide"] = says(changed(ANSWER, summary=changed(ANSWER.summary, waiting=1)))
    fake.handlers["reviews"] = says([REVIEW, changed(REVIEW, id=9, query="umbrellas")])
    page = run(*ASK).page
    assert "approve 3" in page
    assert "approve 9" not in page
