"""What another set would bring and cost, at once."""

from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.deciding.weighed import to_weigh
from agent.wire.weighing import Weighed, WhatIf


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Weighed:
    """Return what the daemon answers."""
    return to_weigh(body, now, agent)()
