"""A warm decision touches nothing outside: no file, no socket, no import."""

import sys

from tests.house.tree import ran

SCRIPT = """
import sys

from tests.house.tree import ran
from agent.decision.decide import decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from tests.decision.made import made_model

model = made_model(1)
events = []

def run():
    for limits in (Limits(), Limits(k=2), Limits(max_risk=0.5)):
        for algorithm in ("lls", "ls", "greedy", "exact", "exhaustive"):
            for mode in ("dynamic", "standing", "planned"):
                terms = Terms(trade_off=weight, limits=limits, algorithm=algorithm, mode=mode)
                decide(Request("python today"), terms, Knowledge(), model)
                decide(Request("nothing known"), terms, Knowledge((("age", 1),)), model)

weight = 0.3
run()
recording = []
sys.addaudithook(lambda event, _: recording and events.append(event))
recording.append(True)
open(sys.argv[1]).close()
assert events, "the hook hears nothing"
events.clear()
weight = 0.2
run()
recording.clear()
print(*events)
"""


def test_a_warm_decision_raises_no_audit_event() -> None:
    """Fresh decisions in a warmed-up process, every algorithm and mode, raise no event."""
    assert ran(sys.executable, "-c", SCRIPT, __file__).stdout.split() == []
