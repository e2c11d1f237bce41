"""What another set would bring and cost, at once."""

from datetime import datetime

from agent.daemon import what_if as daemon
from agent.daemon.agent import Agent
from agent.decision.tradeoff_curve import taken
from agent.wire.what_if import Weighed, WhatIf


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Weighed:
    """Return what the daemon answers."""
    return taken(daemon.weighed(body, now, agent))
