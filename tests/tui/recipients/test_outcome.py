"""What a person's word on a recipient forgetting, and what became of it."""

from msgspec.structs import replace

from agent.tui.screens.recipients_view import are, forgetting, unblocked
from agent.wire.decide import Allowed


def test_what_still_blocks_is_named() -> None:
    """Of several sites each on its own."""
    still = Allowed(done=False, rule="my own", line=3)
    assert unblocked(["a.example"], [Allowed()]) == "a.example is treated like any other again."
    assert "nothing changed" in unblocked(["a.example"], [Allowed(done=False)])
    both = unblocked(["a.example", "b.example"], [Allowed(), still])
    assert both.startswith("a.example is treated like any other again. b.ex")
    assert "'my own', line 3" in both
    assert "line" not in unblocked(["a.example"], [replace(still, line=None)])
    assert are(["a.example", "b.example"]) == "a.example and b.example are"


def test_forgetting_is_called_a_statement() -> None:
    """That nobody takes it for a deletion."""
    said = forgetting("shop.example")
    assert "you state that" in said
    assert "makes nobody forget" in said
