"""How the daemon behaves, whatever is asked: the table `[daemon]` (FORMAT.md, "The daemon")."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from msgspec import Meta

from policy.settings import WHOLE_FROM_0, Setting, Whole

LONGEST_MINUTES = 480  # that a vault stays open after the last command, whatever is ruled
Minutes = Annotated[float, Meta(ge=0, le=LONGEST_MINUTES)]


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """What `[daemon]` says, or else the defaults.

    ``lock_after_minutes``: without a command or a search of the user's, 0 for as long as it may
    be, `LONGEST_MINUTES` after the last command; ``prompts_per_hour``: how
    many reviews may be shown by themselves; ``clicks``: whether browsers may tell which results
    are visited.
    """

    lock_after_minutes: float = 15.0
    prompts_per_hour: int = 6
    clicks: bool = False


_USUAL = DaemonSettings()
_TABLE = (
    Setting(
        "lock_after_minutes",
        Minutes,
        f"a number from 0 to {LONGEST_MINUTES}",
        "daemon",
        "Minutes without a command or a search of yours until the vault locks; 0 as 480.",
        default=_USUAL.lock_after_minutes,
    ),
    Setting(
        "prompts_per_hour",
        Whole,
        WHOLE_FROM_0,
        "daemon",
        "How often in an hour you are asked by itself; the rest is listed.",
        default=_USUAL.prompts_per_hour,
    ),
    Setting(
        "clicks",
        bool,
        "true or false",
        "daemon",
        "Whether browsers may tell which results you visit.",
        default=_USUAL.clicks,
    ),
)
DAEMON: Mapping[str, Setting] = MappingProxyType({each.key: each for each in _TABLE})
