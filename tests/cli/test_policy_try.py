"""`reticent policy try`: the user's own ledger under another policy."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.decision.values import ReplayedRequest
from agent.wire.policy import Tried, TryPolicy
from tests.cli.conftest import Run
from tests.wire.fake import FakeDaemon, says
from tests.worlds.people import MONDAY

TEXT = 'preset = "strict"\n'
SAME = ReplayedRequest(
    at=MONDAY,
    recipient="www.weather.example",
    pool="weather.example",
    query="weather",
    model="village",
    disclosed=("region",),
    would_disclose=("region",),
    would_ask=(),
    utility_was=0.25,
    utility=0.25,
    people_left_was=12.0,
    people_left=12.0,
)
OTHER = replace(
    SAME,
    disclosed=("region",),
    would_disclose=(),
    would_ask=("hobby",),
    utility=0.0,
    people_left=90.0,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a policy to be tried."""
    path = tmp_path / "other.toml"
    path.write_text(TEXT)
    return path


def test_what_would_differ_is_said(run: Run, fake: FakeDaemon, file: Path) -> None:
    """The verdict on top; the bits only where they are asked for."""
    fake.handlers["try_policy"] = says(Tried(requests=[SAME, OTHER], kept=1))
    ran = run("policy", "try", file)
    assert fake.calls[0] == ("try_policy", {"body": TryPolicy(text=TEXT)})
    said = ran.page
    assert said.startswith("1 of 2 requests would have sent something else;")
    assert "you would have been served worse." in said
    assert "no longer sent region (to www.weather.example)" in said
    assert "would have asked hobby (to www.weather.example)" in said
    assert "would have asked for 1 of 2 requests" in said
    assert "kept as they were 1 request" in said
    assert "mean bits" not in said
    assert "mean bits" in run("policy", "try", file, "--explain").page
    record = run("policy", "try", file, "--json").record
    assert record["requests"][1]["would_ask"] == ["hobby"]


def test_nothing_differs_or_is_there(run: Run, fake: FakeDaemon, file: Path) -> None:
    """Each in one sentence; a wrong policy is refused before anything is asked."""
    fake.handlers["try_policy"] = says(Tried(requests=[SAME], kept=0))
    assert run("policy", "try", file).page.startswith("Nothing would change:")
    fake.handlers["try_policy"] = says(Tried(requests=[], kept=0))
    assert run("policy", "try", file).page.startswith("The ledger is empty")
    fake.calls.clear()
    file.write_text("lamda = 1\n")
    assert run("policy", "try", file).code != 0
    assert fake.calls == []
