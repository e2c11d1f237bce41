"""A whole daemon and its policy file: what stands there is in force when a call is answered."""

import os

from agent.wire.decide import Allow, Answer, Ask, Refuse
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import BALANCED, living

CLOSED = f"nothing = true\n{BALANCED}"
SITE = "shop.example"
ASK = Ask(query="editor", recipient=SITE)


def test_an_edit_is_in_force_for_the_next_request() -> None:
    """Whether by a command or by hand; facts left for half a second by the rules before."""
    with living() as live, live.client() as client, live.client(QUERY) as query:
        for text, code in ((CLOSED, "blocked"), (BALANCED, "answered")):
            live.paths.policy.write_text(text)
            answer: Answer = query.call("decide", ASK)
            assert (answer.code, answer.stale_rules) == (code, False)
        client.call("refuse", Refuse(recipient=SITE))
        assert query.call("decide", ASK).code == "blocked"
        client.call("allow", Allow(recipient=SITE))
        assert query.call("decide", ASK).code == "answered"
        client.call("refuse", Refuse(recipient=SITE))
        live.paths.policy.write_text("lamda = 3\n")
        answer = query.call("decide", ASK)
        assert (answer.code, answer.stale_rules) == ("blocked", True)


def test_a_pipe_in_the_place_of_the_policy_holds_up_nothing() -> None:
    """Requests are answered by the rules before, a lock locks, and a signal ends it."""
    with living() as live, live.client() as client:
        live.paths.policy.unlink()
        os.mkfifo(live.paths.policy)
        answer: Answer = client.call("decide", ASK)
        assert (answer.code, answer.stale_rules) == ("answered", True)
        [problem] = live.status().policy.problems
        assert "not a regular file" in problem
        assert client.call("lock").locked
        assert live.stop() == 0
