"""What a person's word on a recipient means, and what became of it."""

from msgspec.structs import replace

from agent.tui.screens.recipients_view import blocked, means, unblocked
from agent.wire.decide import Allowed


def test_what_still_blocks_is_named() -> None:
    """Of several sites each on its own."""
    still = Allowed(done=False, rule="my own", line=3)
    assert unblocked(["a.example"], [Allowed()]) == "a.example is treated like others again."
    assert "was changed" in unblocked(["a.example"], [Allowed(done=False)])
    both = unblocked(["a.example", "b.example"], [Allowed(), still])
    assert both.startswith("a.example is treated like others again. b.example still gets nothing")
    assert "'my own', line 3" in both
    assert "line" not in unblocked(["a.example"], [replace(still, line=None)])
    assert blocked(["a.example", "b.example"]).startswith("a.example, b.example are blocked")


def test_forgetting_is_called_a_statement() -> None:
    """That nobody takes it for a deletion."""
    said = means("shop.example")
    assert "your statement" in said
    assert "makes nobody forget" in said
