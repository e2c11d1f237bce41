"""`reticent policy show`: what holds, by which rule, and over which."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import agent
from tests.cli.conftest import Run

ORIGIN = ("rule", "from", "source", "line")


def fits(page: str) -> bool:
    """Say whether a page fits a terminal, and has no line that ends in white space."""
    return all(len(line) <= 80 and line == line.rstrip() for line in page.splitlines())


def test_a_request_is_explained(asked: Run) -> None:
    """Who decided each value, which rules lost, and why."""
    said = asked("show", "--recipient", "www.books.example", "--query", "a Novella")
    assert (said.code, said.err, fits(said.out)) == (0, "", True)
    page = " ".join(said.out.split())
    assert page.startswith("Nothing is sent to www.books.example: not recognised")
    lost = "more specific than preset strict (5), the top of the file (line 2: 25)"
    assert f"lambda 30 rule 2 (line 23); {lost}; stricter than books (line 18: 3)" in page
    assert "ask, for 0.25 bits or more: Hobby by attributes.hobby (line 12)" in page
    assert "guarded (weight 1): Size by attributes.shoe_size (line 13)" in page
    assert "auto: At work by books (line 19); more specific than preset strict (ask)" in page
    assert "books 15 disclose of at_work" in page
    assert "adverts" not in page
    said = asked("show", "--recipient", "www.books.example", "--query", "weather")
    page = " ".join(said.out.split())
    assert page.startswith("Of 4 facts, 2 may be sent to www.books.example; waiting for your")
    assert "read as 'weather'" in page
    misspelt = asked("show", "--recipient", "books.example", "--query", "wether")
    assert misspelt.err.endswith("does not cover 'wether'; did you mean 'weather'?\n")


def test_an_explanation_has_these_keys(asked: Run) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    record = asked("show", "--recipient", "ads.example", "--query", "my debt", "--json").record
    assert [*record] == [
        *("policy", "recipient", "pool", "query", "today", "matching", "settings", "attributes")
    ]
    assert record["pool"] == "@adverts"
    nothing = record["settings"]["nothing"]
    assert [*nothing] == ["value", *ORIGIN, "lost"]
    assert [nothing[key] for key in ORIGIN] == ["queries.block", "file", "policy.toml", 8]
    reasons = [(each["rule"], each["because"]) for each in nothing["lost"]]
    assert reasons == [("the defaults", "block"), ("rule 3", "block")]
    assert [*record["attributes"]["hobby"]] == ["disclose", "sensitivity"]
    assert [*record["matching"][0]] == [*ORIGIN, "for", "expired", "settings"]


def test_a_blocked_request_says_so_first(asked: Run) -> None:
    """And which rule it is that blocks."""
    page = asked("show", "--recipient", "books.example", "--query", "my debt").out
    assert page.startswith("Nothing is sent to books.example: queries.block (line 8) says so.")


def test_what_holds_is_shown_with_its_origin(asked: Run) -> None:
    """The file, the preset or the defaults; and what some requests have beside."""
    said = asked("show")
    assert (said.code, said.err, fits(said.out)) == (0, "", True)
    page = " ".join(said.out.split())
    assert "lambda 25 the top of the file, policy.toml:2" in page
    assert "k 100 preset strict" in page
    assert "protect everyone the defaults" in page
    assert "auto: Region from attributes.region, policy.toml:11" in page
    assert "ask: At work from preset strict" in page
    assert "groups adverts (ads.example)" in page
    assert "daemon locks after 15 minutes without use, and asks at most 6 times" in page
    assert "books, policy.toml:15 recipient books.example: lambda 3, disclose auto" in page
    assert "queries.block, policy.toml:8 query debt: nothing true" in page


def test_what_browsers_may_tell_is_shown(asked: Run, folder: Path) -> None:
    """Where it is more than by default."""
    (folder / "clicks.toml").write_text("[daemon]\nclicks = true\n")
    told = "browsers may tell which results you visit"
    said = [asked("show", "--policy", f"{name}.toml").out for name in ("clicks", "policy")]
    assert [told in " ".join(each.split()) for each in said] == [True, False]


def test_what_holds_for_a_recipient_is_shown(asked: Run) -> None:
    """Its own rules are in what holds, and only those for queries are left to list."""
    record = asked("show", "--recipient", "https://www.books.example/x", "--json").record
    assert [*record] == [
        *("policy", "recipient", "pool", "today", "trusted_keys", "daemon", "groups"),
        *("settings", "attributes", "rules"),
    ]
    usual = {"lock_after_minutes": 15, "prompts_per_hour": 6, "clicks": False}
    assert record["daemon"] == {**usual, "prompt": "terminal", "pinentry": ""}
    assert (record["recipient"], record["pool"]) == ("www.books.example", "books.example")
    value: dict[str, Any] = record["settings"]["lambda"]
    assert [value[key] for key in ("value", *ORIGIN)] == [3, "books", "file", "policy.toml", 18]
    assert record["attributes"]["at_work"]["disclose"]["rule"] == "books"
    assert [each["rule"] for each in record["rules"]] == ["queries.block", "rule 2"]
    page = " ".join(asked("show", "--recipient", "ads.example").out.split())
    assert "remembered by the whole group adverts" in page
    assert "nothing true rule 3, policy.toml:27" in page


def test_rules_that_are_over_count_for_nothing(asked: Run, folder: Path) -> None:
    """By the day of the machine; they are listed all the same."""
    today = datetime.now().astimezone().date()
    for days, value in ((1, 3), (-1, 5.12)):
        last = today + timedelta(days=days)
        rule = f'[[rule]]\nquery = "flu"\nlambda = 3\nexpires = {last}\n'
        (folder / "ends.toml").write_text(rule)
        ends = ("--policy", "ends.toml", "--json")
        request = ("--recipient", "a.test", "--query", "flu")
        record = asked("show", *request, *ends).record
        assert record["settings"]["lambda"]["value"] == value
        assert len(record["matching"]) == (days > 0)
        (listed,) = asked("show", *ends).record["rules"]
        assert listed["expired"] == (days < 0)
    assert "rule 1, ends.toml:1 (expired)" in asked("show", "--policy", "ends.toml").out


def test_a_rule_holds_at_every_door_by_what_another_model_calls_the_fact(
    run: Run, tmp_path: Path
) -> None:
    """One on `gender`, by its name in so2017, is one on `sex` in atus; and it is named."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[attributes]\ngender = "never"\n')
    asked = ("--policy", policy, "--recipient", "a.example", "--query", "find work as a nurse")
    record = run("policy", "show", *asked, "--json").record
    assert record["attributes"]["sex"]["disclose"]["value"] == "never"
    assert [each["rule"] for each in record["matching"]] == ["attributes.gender"]
    shown = run("policy", "show", "--policy", policy, "--json").record
    assert shown["attributes"]["sex"]["disclose"]["rule"] == "attributes.gender"
    [checked] = run("policy", "check", policy, "--model", "atus", "--json").record["files"]
    assert checked["remarks"] == []
    changed = ("disclose=auto", "--attribute", "sex", "--policy", policy, "--json")
    [wins] = run("policy", "set", *changed).record["wins"]
    assert wins["by"]["rule"] == "attributes.gender"
    decision = agent.open().decide("find work as a nurse", "a.example", policy=policy)
    assert {each.name: each.reason for each in decision.outcomes}["sex"] == "never"
