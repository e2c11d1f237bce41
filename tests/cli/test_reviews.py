"""`reticent requests pending`, `approve`, `deny` and `undo`: what waits, and every word on it."""

from typing import Any

import msgspec
import pytest

from agent.errors import UsageError
from agent.wire.policy import Review, Verdict
from tests.cli.conftest import Run
from tests.cli.daemon import HELD, HOSTILE, OFFER, REVIEW, RULED, UNDONE, changed
from tests.wire.fake import FakeDaemon, says

WORDS_OF_OFFERS = ("approve", "deny")
Word = tuple[list[str], dict[str, Any], str]
WORDS: list[Word] = [
    ([], {}, "with the next request"),
    (["--once"], {"lasting": "once"}, "with the next request"),
    (["--until-restart"], {"lasting": "until restart"}, "until the daemon restarts"),
    (["--days", "1"], {"lasting": "days", "days": 1}, "for 1 day"),
    (["--days", "30"], {"lasting": "days", "days": 30}, "for 30 days"),
    (["--always"], {"lasting": "always"}, "from now on"),
    (["--everyone"], {"about": "everyone"}, "with the next request"),
    (["hobby"], {"names": ["hobby"]}, "with the next request"),
    (["hobby", "hobby"], {"names": ["hobby"]}, "with the next request"),
]


def test_the_page_says_who_would_get_what(run: Run, fake: FakeDaemon) -> None:
    """Each with the number to say yes or no to."""
    ran = run("requests", "pending")
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    assert said.startswith("2 requests wait for you.")
    assert "3 Send hobby and shoe_size to www.weather.example (and weather.example)," in said
    assert "for 'weather'? +0.123 bits better served, about 7.2 people left (2026-03-02" in said
    assert "4 books.example asks for region" in said
    assert max(map(len, ran.out.splitlines())) <= 80
    fake.handlers["reviews"] = lambda: [changed(REVIEW, recipient=HOSTILE, query=HOSTILE)]
    hostile = run("requests", "pending").out
    assert "\x1b" not in hostile
    assert "What a recipient asks for" not in hostile
    assert "`reticent requests approve ID` sends it with the next request" in said
    assert "If you approve, it gets no more than that" in said
    fake.handlers["reviews"] = lambda: [OFFER]
    said = " ".join(run("requests", "pending").out.split())
    assert said.startswith("1 request waits for you.")
    assert "if you deny, it gets nothing, by a rule" in said
    assert "with the next request" not in said
    assert " for searches at " not in said
    search = "https://books.example/find?q={query}"
    fake.handlers["reviews"] = lambda: [changed(OFFER, search=search)]
    said = " ".join(run("requests", "pending").out.split())
    assert f"books.example asks for region for searches at {search} (" in said
    fake.handlers["reviews"] = list
    assert run("requests", "pending").out == "Nothing waits for you.\n"


@pytest.mark.usefixtures("fake")
def test_the_object_holds_the_messages(run: Run) -> None:
    """As openapi.json describes them."""
    waiting = run("requests", "pending", "--json").record["waiting"]
    assert msgspec.convert(waiting, list[Review]) == [REVIEW, OFFER]


@pytest.mark.parametrize(
    "options", [["3", "--dismiss", "4"], ["3, 4"], ["3,4,3"], ["all"], ["4", "--dismiss", "all"]]
)
def test_what_waits_can_be_dismissed(run: Run, fake: FakeDaemon, options: list[str]) -> None:
    """Which rules nothing; one after the other, or all."""
    assert run("requests", "pending", "--dismiss", *options).code == 0
    looked: tuple[str, dict[str, Any]] = ("reviews", {})
    gone = [("dismiss", {"id": 3}), ("dismiss", {"id": 4})]
    assert fake.calls == [looked, *gone, looked, ("attributes", {})]


def test_of_what_is_not_there_nothing_is_dismissed(run: Run, fake: FakeDaemon) -> None:
    """Before any of it goes; a few of the numbers that there are are said."""
    run("requests", "pending", "--dismiss", "3,9").refusal()
    assert fake.calls == [("reviews", {})]
    fake.handlers["reviews"] = lambda: [changed(REVIEW, id=each) for each in range(10, 20)]
    _, hint = run("requests", "approve", "999").refusal()
    assert hint.endswith(
        "; `reticent requests pending` lists what does wait: 10, 11, 12, 13, 14 and 5 more"
    )
    fake.handlers["reviews"] = list
    assert run("requests", "pending", "--dismiss", "all").out == "Nothing waits for you.\n"


@pytest.mark.parametrize("decided", ["approve", "deny"])
@pytest.mark.parametrize("word", WORDS)
def test_every_word_reaches_the_daemon(
    run: Run,
    fake: FakeDaemon,
    decided: str,
    word: Word,
) -> None:
    """For as long, and about whom and what, as it is said."""
    options, fields, lasting = word
    ran = run("requests", decided, "3", *options)
    assert (ran.code, ran.err) == (0, "")
    shown = {"names": REVIEW.names, "pool": REVIEW.pool}
    expected = msgspec.convert({"decided": decided, **shown, **fields}, Verdict)
    told = ("verdict", {"body": expected, "id": 3})
    assert fake.calls == [("reviews", {}), told, ("attributes", {})]
    names = " and ".join(fields.get("names", REVIEW.names))
    whom = "everyone" if "about" in fields else "weather.example"
    verb = "may be sent to" if decided == "approve" else "will not be sent to"
    assert f"{names} {verb} {whom} {lasting}." in " ".join(ran.out.split())


def test_what_was_written_and_what_it_does_not_reach_is_said(run: Run, fake: FakeDaemon) -> None:
    """A rule of the user's own may decide all the same."""
    ruled = changed(
        RULED, written="weather.example may have hobby", without_effect=["hobby"], decided_by=["no"]
    )
    fake.handlers["verdict"] = says(ruled)
    said = " ".join(run("requests", "approve", "3", "--always").out.split())
    assert "Written into /home/u/policy.toml as 'weather.example may have hobby'." in said
    assert "No effect on hobby: 'no' still wins." in said
    assert run("requests", "approve", "3", "--json").record == msgspec.to_builtins(ruled)
    fake.handlers["verdict"] = says(changed(ruled, blocked=True))
    said = " ".join(run("requests", "approve", "3", "--always").out.split())
    assert "Still nothing is sent: 'no' blocks the recipient" in said


def test_all_that_waits_for_one_recipient_is_settled(run: Run, fake: FakeDaemon) -> None:
    """And for whoever it pools with; what it offers is not: that would be for good."""
    other = changed(REVIEW, id=7, recipient="a.weather.example", names=["region"])
    theirs = changed(OFFER, id=8, pool="weather.example")
    fake.handlers["reviews"] = lambda: [REVIEW, OFFER, theirs, other]
    ran = run("requests", "deny", "--from", "www.weather.example", "--until-restart")
    assert fake.calls == [
        ("knowledge", {"recipient": "www.weather.example"}),
        ("reviews", {}),
        *(
            ("verdict", {"body": word, "id": review.id})
            for review in (REVIEW, other)
            for word in [
                Verdict(
                    decided="deny",
                    lasting="until restart",
                    names=review.names,
                    pool="weather.example",
                )
            ]
        ),
        ("attributes", {}),
    ]
    assert "hobby and shoe_size will not be sent to weather.example until" in ran.out
    assert "region will not be sent to weather.example until the daemon restarts." in ran.out
    assert "What it asks for still waits: settle it by ID: 8." in ran.out
    made = run("requests", "approve", "--from", "weather.example", "--json").record
    assert [each["id"] for each in made["ruled"]] == [3, 7]
    assert made["offers"] == [8]


@pytest.mark.parametrize(
    ("left", "hint"), [([], "`reticent requests pending`"), ([OFFER], "by ID: 4")]
)
def test_where_nothing_waits_for_a_recipient_that_is_said(
    run: Run, fake: FakeDaemon, left: list[Review], hint: str
) -> None:
    """Also where it only offers something."""
    fake.handlers["knowledge"] = says(changed(HELD, pool="books.example"))
    fake.handlers["reviews"] = lambda: [REVIEW, *left]
    said = run("requests", "approve", "--from", "books.example").refusal()
    assert said[0] == "no attribute waits for books.example"
    assert hint in said[1]


@pytest.mark.usefixtures("fake")
def test_an_offer_is_settled_for_good_or_for_some_days(run: Run) -> None:
    """Whatever else is said; and denied, its recipient gets nothing."""
    ran = [
        run("requests", word, "4", *days)
        for days in ([], ["--days", "2"])
        for word in WORDS_OF_OFFERS
    ]
    assert [" ".join(each.out.split()) for each in ran] == [
        "books.example may get region and nothing else from now on, as your rules allow.",
        "books.example gets nothing from now on.",
        (
            "books.example may get region and nothing else for 2 days, then nothing, as your rules "
            "allow."
        ),
        "books.example gets nothing for 2 days.",
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["requests", "approve"], "missing argument 'ID'", "--from HOST"),
        (
            ["requests", "deny", "3", "--from", "weather.example"],
            "--from does not go with an ID",
            "one of",
        ),
        (["requests", "approve", "x"], "'x' is not a whole number", "--help"),
        (["requests", "approve", "7"], "nothing waits under 7", "settled meanwhile"),
        (
            ["requests", "deny", "3", "--once", "--always"],
            "--once does not go with --always",
            "one of them",
        ),
        (
            ["requests", "deny", "3", "--days", "2", "--always"],
            "--days does not go with --always",
            "one",
        ),
        (["requests", "deny", "3", "--days", "0"], "0 is not between 1 and 3650", "--help"),
        (["requests", "deny", "3", "--until_restart"], "unknown option", "'--until-restart'"),
        (["requests", "deny", "4", "--once"], "--once does not go with an offer", "--days N"),
        (
            ["requests", "approve", "4", "--until-restart"],
            "--until-restart does not go with",
            "for good",
        ),
        (
            ["requests", "deny", "4", "region"],
            "an offer is denied as a whole",
            "`reticent requests approve 4 NAME...`",
        ),
        (
            ["requests", "pending", "--dismiss", "3,x"],
            "'3,x' is not a list of IDs",
            "--dismiss all",
        ),
        (["requests", "pending", "--dismiss", ""], "'' is not a list of IDs", "--dismiss 3,4"),
        (
            ["requests", "pending", "--dismiss", "4,9"],
            "nothing waits under 9",
            "lists what does wait: 3 and 4",
        ),
        (["requests", "deny", "3", "hoby"], "unknown attribute of the review 'hoby'", "'hobby'"),
    ],
)
@pytest.mark.usefixtures("fake")
def test_a_mistake_is_one_sentence(run: Run, arguments: list[str], error: str, hint: str) -> None:
    """With what can be said instead."""
    said = run(*arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_what_the_daemon_refuses_is_shown(run: Run, fake: FakeDaemon) -> None:
    """In its words."""

    def refuse(body: Verdict, id: int) -> None:  # noqa: A002  (the route's word)
        raise UsageError(f"{body.names} does not wait", f"{id} waits")

    fake.handlers["verdict"] = refuse
    assert run("requests", "approve", "3", "hobby").refusal() == (
        "['hobby'] does not wait",
        "3 waits",
    )
    fake.handlers["reviews"] = list
    assert run("requests", "approve", "3").refusal()[1].endswith("; nothing else waits")


def test_what_was_taken_back_is_said(run: Run, fake: FakeDaemon) -> None:
    """And that what left stays told."""
    ran = run("requests", "undo")
    assert (ran.code, " ".join(ran.out.split())) == (0, UNDONE.what)
    assert fake.calls == [("undo", {})]
    assert run("requests", "undo", "--json").record == msgspec.to_builtins(UNDONE)
    fake.handlers["undo"] = says(changed(UNDONE, what=HOSTILE))
    assert "\x1b" not in run("requests", "undo").out


def test_what_cannot_be_is_said_too(run: Run, fake: FakeDaemon) -> None:
    """In one sentence."""

    def nothing() -> None:
        raise UsageError("nothing to undo", "edit the policy")

    fake.handlers["undo"] = nothing
    assert run("requests", "undo").refusal() == (
        "nothing to undo",
        "edit the policy",
    )
