"""`reticent status`: what it says of a daemon, and of none; and what it imports."""

import msgspec
import pytest

from agent.paths import paths
from agent.wire.state import Status
from tests.cli.conftest import Run
from tests.cli.daemon import AT, HOSTILE, LOCKED, LONG, POLICY, STATUS, VILLAGE, changed
from tests.house.test_imports import imported
from tests.wire.fake import FakeDaemon

HEAVY = {"numpy", "aiohttp", "asyncio", "cryptography", "safetensors", "tomlkit", "textual"}


def page(run: Run, fake: FakeDaemon, status: Status) -> str:
    """Return what is said of a status, after checking that it fits the terminal."""
    fake.handlers["status"] = lambda: status
    ran = run("status")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "\x1b" not in ran.out
    return ran.out


@pytest.mark.usefixtures("home")
def test_no_daemon_is_one_sentence_and_a_way_out(run: Run) -> None:
    """With or without --json, and the exit code tells a script."""
    for arguments in (["status"], ["status", "--json"]):
        error, hint = run(*arguments).refusal(code=1)
        assert error == "the daemon is not running"
        assert hint.startswith("make a vault with `reticent init`, then ")
        assert "`reticent daemon`" in hint
    paths().vault.parent.mkdir(parents=True)
    paths().vault.touch()
    assert run("status").refusal(code=1)[1].startswith("start it with `reticent daemon`")


@pytest.mark.usefixtures("home")
def test_where_programs_ask_is_said_whether_it_runs_or_not(run: Run) -> None:
    """As it is, for `curl --unix-socket`."""
    place = str(paths().query)
    assert run("status", "--socket").out == f"{place}\n"
    assert run("status", "--socket", "--json").record == {"socket": place}


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (STATUS, "Unlocked: requests are answered."),
        (LOCKED, "Locked: nothing is attached to requests until you run `reticent unlock`."),
        (changed(LOCKED, vault=False), "No vault yet: `reticent init` creates one."),
        (changed(LOCKED, notice="it was replaced"), "Locked: it was replaced."),
        (changed(LOCKED, vault=False, notice="it was removed"), "Locked: it was removed."),
        (
            changed(STATUS, policy=changed(POLICY, in_use=False, rules=0, loaded_at=None)),
            "Unlocked, but nothing is attached: no policy in use.",
        ),
    ],
)
def test_whether_requests_are_answered_stands_on_top(
    run: Run, fake: FakeDaemon, status: Status, sentence: str
) -> None:
    """And what to do where they are not."""
    assert page(run, fake, status).splitlines()[0] == sentence


def test_the_page_says_what_there_is(run: Run, fake: FakeDaemon) -> None:
    """The ledger, the lock, the policy, the models, what waits, and the daemon."""
    said = " ".join(page(run, fake, changed(STATUS, waiting=2)).split())
    assert "ledger 12 entries" in said
    assert "locks itself after 15 minutes without a command" in said
    assert "policy /home/u/policy.toml: 4 rules, read 20" in said
    assert "model village: 4 attributes, 2 queries; comes with reticent" in said
    assert "waits for you 2; `reticent requests pending` lists them" in said
    assert "version 0.1.0, process 4711" in said


def test_what_is_wrong_is_said(run: Run, fake: FakeDaemon) -> None:
    """Of the policy, of each model, and what the vault noticed; none of it steers the terminal."""
    broken = changed(POLICY, problems=["3: lambda: no number", HOSTILE])
    models = [
        changed(VILLAGE, shipped=False, name=LONG, problem="altered"),
        changed(VILLAGE, shipped=False, name="town", maker="ed25519:00"),
        changed(VILLAGE, shipped=False, name="field"),
    ]
    never = changed(
        STATUS, policy=broken, models=models, notes=["no witness"], lock_after_minutes=0
    )
    said = " ".join(page(run, fake, never).split())
    assert "its last good version is in use problem 3: lambda: no number problem" in said
    assert f"model {LONG}cannotbeused:altered".replace(" ", "") in said.replace(" ", "")
    assert "town: 4 attributes, 2 queries; signed with ed25519:00" in said
    assert "field: 4 attributes, 2 queries; not signed" in said
    assert "locks itself eight hours after the last command" in said
    assert "note no witness" in said
    unused = changed(never, policy=changed(broken, in_use=False))
    assert "policy.toml: not in use problem" in " ".join(page(run, fake, unused).split())


@pytest.mark.usefixtures("fake")
def test_the_object_is_the_message(run: Run) -> None:
    """As openapi.json describes it."""
    record = run("status", "--json").record
    assert msgspec.convert(record, Status) == STATUS
    assert record["started_at"] == AT.isoformat().replace("+00:00", "Z")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "command", [("status",), ("requests", "pending"), ("lock",), ("requests", "ledger")]
)
def test_what_is_run_often_imports_no_more_than_it_needs(command: tuple[str, ...]) -> None:
    """No mathematics, no server, no cryptography: it is there in a tenth of a second."""
    printed, modules = imported(*command)
    assert "exit 1" in printed
    assert "agent.wire.client" in modules
    assert modules.isdisjoint(HEAVY)


def test_a_vault_without_a_policy_needs_one_line(run: Run, fake: FakeDaemon) -> None:
    """`reticent init` would refuse: there is a vault."""
    none = changed(POLICY, in_use=False, rules=0, loaded_at=None)
    said = " ".join(page(run, fake, changed(STATUS, policy=none)).split())
    assert f'policy none: write `preset = "balanced"` into {POLICY.path}' in said
    said = " ".join(page(run, fake, changed(LOCKED, vault=False, policy=none)).split())
    assert f"policy none; it would be {POLICY.path}" in said
