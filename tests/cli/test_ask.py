"""`reticent ask`: the values with what they mean, what was not decided, and the dry run."""

import msgspec
import pytest

from agent.errors import ModelError
from agent.wire.decide import Answer, Ask, Code, Explained
from agent.words.outcomes import WHY_NOTHING
from tests.cli.conftest import Run
from tests.cli.daemon import (
    ANSWER,
    EXPLAINED,
    HOSTILE,
    LOCKED,
    LONG,
    POLICY,
    REVIEW,
    STATUS,
    SUMMARY,
    changed,
)
from tests.cli.policing import REGION
from tests.wire.fake import FakeDaemon, says

ASK = ("ask", "weather.example", "weather")
VERDICT = "Sent 1 fact to weather.example: region; about 20 people still look like you."


def test_the_page_has_the_values_and_the_header(run: Run, fake: FakeDaemon) -> None:
    """The plain sentence is on top; nothing waits, and so nobody is asked what does."""
    ran = run(*ASK, "--explain")
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    assert said.startswith(VERDICT)
    assert 'region coast header Shared-Attributes: region="coast"' in said
    assert "recorded entry 13 of the ledger, as sent to weather.example" in said
    assert "people 20 in the model village fit all that it knows" in said
    assert max(map(len, ran.out.splitlines())) <= 80
    decided = ("decide", {"body": Ask(recipient="weather.example", query="weather")})
    assert fake.calls == [decided, ("attributes", {})]
    plain = " ".join(run(*ASK).out.split())
    assert plain.startswith(VERDICT)
    assert "recorded" not in plain


def test_facts_have_their_titles(run: Run, fake: FakeDaemon) -> None:
    """And values their words, where the daemon knows them; the header has what is sent."""
    fake.handlers["attributes"] = says([changed(REGION, title="Part of the country")])
    fake.handlers["decide"] = says(changed(ANSWER, attributes={"region": "lt_3"}))
    said = " ".join(run(*ASK).out.split())
    assert "Part of the country less than 3" in said
    fake.handlers["attributes"] = refuses
    assert "region less than 3" in " ".join(run(*ASK).out.split())


def refuses(**_given: object) -> None:
    """Answer as a daemon does that cannot read its model."""
    raise ModelError("it is damaged", "replace it")


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("weather", "read as 'weather'"),
        (None, "read as none of the model's known queries"),
    ],
)
def test_the_page_says_what_the_query_was_read_as(
    run: Run, fake: FakeDaemon, known: str | None, said: str
) -> None:
    """Or that it was not recognised, for people and for programs."""
    answer = changed(ANSWER, summary=changed(SUMMARY, read_as=known))
    fake.handlers["decide"] = says(answer)
    assert said in " ".join(run(*ASK).out.split())
    assert run(*ASK, "--json").record["summary"]["read_as"] == known


def test_nothing_to_attach_is_said(run: Run, fake: FakeDaemon) -> None:
    """That is an answer as well."""
    nothing = changed(SUMMARY, headline="Send nothing: one of your rules blocks it.")
    fake.handlers["decide"] = says(Answer(code="blocked", summary=nothing))
    assert run(*ASK).out.startswith("Sent nothing: one of your rules blocks it.\n")


@pytest.mark.parametrize(
    ("names", "said"), [(["region"], "region."), (["region", "hobby"], "region and hobby.")]
)
def test_what_the_user_prefers_not_to_say_is_no_success(
    run: Run, fake: FakeDaemon, names: list[str], said: str
) -> None:
    """Nothing is attached, and that stands first."""
    silent = Answer(code="answered", unspecified=names, id=13, summary=SUMMARY)
    fake.handlers["decide"] = says(silent)
    ran = run(*ASK)
    page = " ".join(ran.out.split())
    assert page.startswith(f"Sent nothing to weather.example: you prefer not to say {said}")
    assert "an answer too" in page
    assert max(map(len, ran.out.splitlines())) <= 80
    fake.handlers["decide"] = says(changed(ANSWER, unspecified=names))
    assert " ".join(run(*ASK).out.split()).startswith(VERDICT)


def test_what_waits_is_named_with_what_to_say(run: Run, fake: FakeDaemon) -> None:
    """Of this recipient's pool only."""
    waiting = changed(ANSWER, summary=changed(SUMMARY, waiting=1))
    fake.handlers["decide"] = says(waiting)
    said = " ".join(run(*ASK).out.split())
    assert "waits for you hobby and shoe_size, until you say `reticent requests approve 3`" in said
    assert "approve 4" not in said
    other = changed(REVIEW, pool="other.example")
    fake.handlers["reviews"] = lambda: [other]
    assert "approve" not in run(*ASK).out


@pytest.mark.parametrize(
    ("only", "asked"), [("region", ["region"]), ("region, hobby", ["region", "hobby"]), ("", [])]
)
def test_only_what_the_recipient_can_use_is_asked(
    run: Run, fake: FakeDaemon, only: str, asked: list[str]
) -> None:
    """An empty list is a list, and not the absence of one."""
    assert run(*ASK, "--only-names", only).code == 0
    assert fake.calls[0][1]["body"].asked == asked


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["", "dry"])
def test_a_name_that_the_model_lacks_is_noted(
    run: Run, fake: FakeDaemon, dry: tuple[str, ...]
) -> None:
    """It may be one of another model; where nothing is looked at, nothing is known of names."""
    ran = run(*ASK, "--only-names", "regoin,region,hobby,zzz", *dry)
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "reticent: note: the model lacks 'regoin': did you mean 'region'?",
        "reticent: note: the model lacks 'zzz'",
    ]
    assert msgspec.json.decode(run(*ASK, "--only-names", "zzz", "--json", *dry).out)
    before = len(fake.calls)
    assert run(*ASK, "--only-names", "region", *dry).err == ""
    first = "explain" if dry else "decide"
    assert [name for name, _ in fake.calls[before:]] == [first, "attributes"]
    fake.handlers["explain"] = says(changed(EXPLAINED, candidates=[]))
    assert run(*ASK, "--only-names", "regoin", *dry).err == ""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("locked", "`reticent unlock`"),
        ("no policy", '`preset = "balanced"` into /home/u/policy'),
        ("no model", "`reticent model add`"),
        ("unfit", "`reticent requests knows`"),
        ("failed", "state/daemon.log"),
        ("not https", "https address"),
        ("too many", "in a minute"),
        ("too many from pages", "in a minute"),
    ],
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["", "dry"])
def test_what_was_not_decided_is_an_error(
    run: Run, fake: FakeDaemon, code: Code, said: str, dry: tuple[str, ...]
) -> None:
    """Whoever sends the request sees it by the exit code; a program by the code as well."""
    ends = 2 if code == "not https" else 1
    answer = msgspec.convert({"code": code}, Answer)
    explained = changed(EXPLAINED, code=code)
    fake.handlers |= {"decide": says(answer), "explain": says(explained)}
    error, hint = run(*ASK, *dry).refusal(code=ends)
    assert error == f"nothing may be attached: {WHY_NOTHING[code]}"
    assert said in hint
    ran = run(*ASK, *dry, "--json")
    assert (ran.code, ran.err) == (ends, "")
    assert msgspec.json.decode(ran.out)["code"] == code


def test_what_is_in_the_way_is_looked_at(run: Run, fake: FakeDaemon) -> None:
    """Where there is no vault, none is opened; where a policy is wrong, none is to be made."""
    fake.handlers["decide"] = says(Answer(code="locked"))
    fake.handlers["status"] = says(changed(LOCKED, vault=False))
    said = ("nothing may be attached: there is no vault yet", "make one with `reticent init`")
    assert run(*ASK).refusal(code=1) == said
    fake.handlers["decide"] = says(Answer(code="no policy"))
    wrong = changed(POLICY, in_use=False, problems=["3: lambda: no number"])
    fake.handlers["status"] = says(changed(STATUS, policy=wrong))
    assert "`reticent policy check`" in run(*ASK).refusal(code=1)[1]


@pytest.mark.usefixtures("fake")
def test_the_object_is_the_message(run: Run) -> None:
    """As openapi.json describes it."""
    assert msgspec.convert(run(*ASK, "--json").record, Answer) == ANSWER
    explained = run(*ASK, "--dry-run", "--json").record
    assert msgspec.convert(explained, Explained) == EXPLAINED


def test_a_dry_run_is_explained_as_a_decision_is(run: Run, fake: FakeDaemon) -> None:
    """What leaves first, then what waits with its rule; no candidate, no row. Nothing is asked."""
    assert "Add --explain to see" in run(*ASK, "--dry-run").out
    ran = run(*ASK, "--dry-run", "--explain")
    assert (ran.code, ran.err) == (0, "")
    assert [name for name, _ in fake.calls] == ["explain", "attributes"] * 2
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["region", "yes", "+0.500", "0.100", "chosen"] in rows
    waits = [
        "hobby",
        "-",
        "+0.200",
        "0.100",
        "waits",
        "for",
        "your",
        "approval",
        "(rule:",
        "ask",
        "first)",
    ]
    more = ["shoe_size", "-", "+0.100", "1.500", "costs", "more", "than", "it", "brings"]
    assert rows.index(waits) + 1 == rows.index(more)
    assert "salary" not in ran.out
    assert "proven  the best of all sets" in ran.out


def test_nothing_that_was_asked_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """The names of sites and rules may come from anywhere."""
    summary = changed(SUMMARY, headline=HOSTILE, pool=LONG, waiting=1)
    hostile = changed(ANSWER, attributes={"region": HOSTILE}, header=HOSTILE, summary=summary)
    review = changed(REVIEW, pool=LONG, recipient=HOSTILE, query=HOSTILE)
    fake.handlers |= {"decide": says(hostile), "reviews": says([review])}
    ran = run(*ASK)
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["ask"], "missing argument 'RECIPIENT'", "--help"),
        (["ask", "a.example"], "missing argument 'QUERY'", "--help"),
        (["ask", "a.example", " "], "the query is empty", "as in 'version control'"),
        ([*ASK, "--only", "region"], "unknown option '--only'", "did you mean '--only-names'?"),
    ],
)
def test_a_mistake_is_one_sentence(run: Run, arguments: list[str], error: str, hint: str) -> None:
    """Before the daemon is asked."""
    said = run(*arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


@pytest.mark.parametrize("more", [(), ("--json",), ("--dry-run",)])
def test_rules_older_than_the_file_are_noted(
    run: Run, fake: FakeDaemon, more: tuple[str, ...]
) -> None:
    """With the way out, beside an answer of every kind."""
    assert "mistakes" not in run(*ASK, *more).err
    fake.handlers["decide"] = says(changed(ANSWER, stale_rules=True))
    fake.handlers["explain"] = says(changed(EXPLAINED, stale_rules=True))
    ran = run(*ASK, *more)
    assert ran.code == 0
    assert "the rules before it are in use; `reticent policy check` lists them" in ran.err
