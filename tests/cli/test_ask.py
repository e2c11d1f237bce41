"""`reticent ask`: the page, what was not decided, and what is only explained."""

import msgspec
import pytest

from agent.decision.values import Code, Reading
from agent.wire.decide import Answer, Ask, Because
from agent.words.titles import WHY_NOTHING
from tests.cli.conftest import Run
from tests.cli.daemon import ANSWER, EXPLAINED, LOCKED, POLICY, REVIEW, STATUS, SUMMARY, changed
from tests.wire.fake import FakeDaemon, says

ASK = ("ask", "weather.example", "weather")
VERDICT = "Sent 1 fact to weather.example: region; about 20 people still look like you."


WEATHER = Reading(query="weather", title="the weather", probability=0.62, model="village")


def test_the_page_has_the_values_and_the_header(run: Run, fake: FakeDaemon) -> None:
    """The plain sentence is on top; nothing waits, and so nobody is asked what does."""
    said = run(*ASK).page
    assert said.startswith(VERDICT)
    read = "region coast read as nothing that the models know"
    assert f'{read} header Shared-Attributes: region="coast"' in said
    decided = ("decide", {"body": Ask(recipient="weather.example", query="weather")})
    assert fake.calls == [decided, ("attributes", {})]
    fake.handlers["decide"] = says(changed(ANSWER, summary=changed(SUMMARY, read_as=WEATHER)))
    assert "read as 'the weather' (62 % sure)" in run(*ASK).page


def test_what_the_recipient_already_has_is_not_said_to_be_new(run: Run, fake: FakeDaemon) -> None:
    """It is sent again, and tells nothing."""
    known = Because(name="region", reason="known to the recipient", gain_bits=0.1, cost_bits=0.0)
    fake.handlers["decide"] = says(changed(ANSWER, summary=changed(SUMMARY, because=[known])))
    assert run(*ASK).page.startswith(
        "Sent nothing new to weather.example, only 1 fact that it already has: region; about 20"
    )


def test_what_the_user_prefers_not_to_say_is_no_success(run: Run, fake: FakeDaemon) -> None:
    """Nothing is attached, and that stands first."""
    names = ["region", "hobby"]
    fake.handlers["decide"] = says(
        Answer(code="answered", unspecified=names, id=13, summary=SUMMARY)
    )
    page = run(*ASK).page
    silent = "Sent nothing to weather.example: you prefer not to say region and hobby."
    assert page.startswith(silent)
    assert "the site can tell that you declined" in page
    fake.handlers["decide"] = says(changed(ANSWER, unspecified=names))
    assert run(*ASK).page.startswith(VERDICT)


def test_what_waits_is_named_with_what_to_say(run: Run, fake: FakeDaemon) -> None:
    """Of this recipient's pool only."""
    fake.handlers["decide"] = says(changed(ANSWER, summary=changed(SUMMARY, waiting=1)))
    said = run(*ASK).page
    assert "waits for you hobby and shoe_size, until you say `reticent approve 3`" in said
    assert "approve 4" not in said
    fake.handlers["reviews"] = says([changed(REVIEW, pool="other.example")])
    assert "approve" not in run(*ASK).page


def test_what_was_not_decided_is_an_error(run: Run, fake: FakeDaemon) -> None:
    """Whoever sends the request sees it by the exit code; a program by the code as well."""
    hints: dict[Code, str] = {
        "locked": "`reticent unlock`",
        "no policy": '`preset = "balanced"` into /home/u/policy',
        "no model": "`reticent model add`",
        "unfit": "`reticent requests recipients`",
        "failed": "state/daemon.log",
        "not https": "https address",
        "too many": "in a minute",
    }
    for code, said in hints.items():
        ends = 2 if code == "not https" else 1
        fake.handlers |= {
            "decide": says(Answer(code=code)),
            "explain": says(changed(EXPLAINED, code=code)),
        }
        for dry in ((), ("--explain",)):
            error, hint = run(*ASK, *dry).refusal(code=ends)
            assert error == f"nothing can be sent: {WHY_NOTHING[code]}"
            assert said in hint
            ran = run(*ASK, *dry, "--json")
            assert (ran.code, ran.err) == (ends, "")
            assert msgspec.json.decode(ran.out)["code"] == code


def test_what_is_in_the_way_is_looked_at(run: Run, fake: FakeDaemon) -> None:
    """Where there is no vault, none is opened; where a policy is wrong, none is to be made."""
    fake.handlers["decide"] = says(Answer(code="locked"))
    fake.handlers["status"] = says(changed(LOCKED, vault=False))
    said = ("nothing can be sent: there is no vault yet", "make one with `reticent init`")
    assert run(*ASK).refusal(code=1) == said
    fake.handlers["decide"] = says(Answer(code="no policy"))
    wrong = changed(POLICY, in_use=False, problems=["3: lambda: no number"])
    fake.handlers["status"] = says(changed(STATUS, policy=wrong))
    assert "`reticent policy check`" in run(*ASK).refusal(code=1)[1]


@pytest.mark.parametrize("more", [(), ("--json",), ("--explain",)])
def test_rules_older_than_the_file_are_noted(
    run: Run, fake: FakeDaemon, more: tuple[str, ...]
) -> None:
    """With the way out, beside an answer of every kind."""
    fake.handlers["decide"] = says(changed(ANSWER, stale_rules=True))
    fake.handlers["explain"] = says(changed(EXPLAINED, stale_rules=True))
    ran = run(*ASK, *more)
    assert ran.code == 0
    assert "the rules before it are in use; `reticent policy check` lists them" in ran.err
    assert fake.calls[0][0] == ("explain" if "--explain" in more else "decide")


def test_what_is_explained_is_not_sent(run: Run, fake: FakeDaemon) -> None:
    """The nearest of the rest are shown, and all on demand."""
    many = [changed(EXPLAINED.outcomes[0], name=f"x{each}") for each in range(9)]
    fake.handlers["explain"] = says(changed(EXPLAINED, outcomes=(*EXPLAINED.outcomes, *many)))
    assert "Add --all to see 7 more facts." in run(*ASK, "--explain").page
    assert "Add --all" not in run(*ASK, "--explain", "--all").page
    assert {name for name, _ in fake.calls} == {"explain"}
