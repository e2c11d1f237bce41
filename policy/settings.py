"""Every setting of the policy language, in one table (FORMAT.md, "Settings", "The daemon")."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import float_info
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

About = Literal["attribute", "request", "recipient", "daemon"]
Disclose = Literal["always", "auto", "ask", "never"]
Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
Mode = Literal["dynamic", "standing", "planned"]
Algorithm = Literal["lls", "ls", "greedy", "exact", "exhaustive"]
Protect = Literal["everyone", "me"]
Unknown = Literal["standing", "nothing"]
Memory = Literal["forgets", "remembers"]
FINITE = float_info.max
FromZero = Annotated[float, Meta(ge=0, le=FINITE)]
Whole = Annotated[int, Meta(ge=0, le=10**9)]
Count = Annotated[int, Meta(ge=1, le=10**9)]
Share = Annotated[float, Meta(ge=0, lt=1)]
Risk = Annotated[float, Meta(gt=0, le=1)]
Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]*\Z", max_length=100)]
SEALED = (  # how an address begins that nobody reads on its way: https, or this machine
    r"(https://|http://(([a-z0-9-]+[.])*localhost|127([.][0-9]{1,3}){3}|\[::1\])[:/?])"
)
_ADDRESS = rf"^{SEALED}[^\s{{}}]+\{{query\}}[^\s{{}}]*\Z"
Address = Annotated[str, Meta(pattern=_ADDRESS, max_length=2000)]
NAMED = (Disclose, Metric, Mode, Algorithm, Protect, Unknown, Memory)
FROM_ZERO = "a number from 0"
WHOLE_FROM_0 = "a whole number from 0"
WHOLE_FROM_1 = "a whole number from 1"
LONGEST_MINUTES = 480  # that a vault stays open after the last command, whatever is ruled
Minutes = Annotated[float, Meta(ge=0, le=LONGEST_MINUTES)]


Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its key, the type and the range of its value, and what it is about.

    ``demand``: the range in words; ``means``: what it does, in a line; ``rank``: of a value, the
    larger the stricter, None where values have no order; ``default``: None where there is none.
    """

    key: str
    kind: Any
    demand: str
    about: About
    means: str
    rank: Callable[[Any], float] | None = None
    default: Value | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The values it can have, where these are names."""
        return get_args(self.kind) if self.kind in NAMED else ()

    @property
    def closers(self) -> tuple[str, ...]:
        """The choices that may be taken for another word: none that opens more than most."""
        if self.rank is None:
            return self.choices
        strictest = sorted(self.choices, key=self.rank, reverse=True)
        return tuple(strictest[: (len(strictest) + 1) // 2])


def _larger(value: float) -> float:
    return value


def _smaller(value: float) -> float:
    return -value


def _place(names: object) -> Callable[[str], float]:
    """Return the order of names that are listed from the most open to the strictest."""
    return {name: float(place) for place, name in enumerate(get_args(names))}.__getitem__


_TABLE = (
    Setting(
        "disclose",
        Disclose,
        "",
        "attribute",
        "What may happen to an attribute.",
        _place(Disclose),
        "auto",
    ),
    Setting(
        "sensitivity",
        FromZero,
        FROM_ZERO,
        "attribute",
        "Bits of help that an attribute must bring before it may leave.",
        _larger,
    ),
    Setting(
        "guard",
        FromZero,
        FROM_ZERO,
        "attribute",
        "Above 0: never leaves, and what others tell about it costs, by this weight.",
        _larger,
    ),
    Setting(
        "lambda",
        FromZero,
        FROM_ZERO,
        "request",
        "Bits of help demanded for being recognised with certainty.",
        _larger,
        5.12,
    ),
    Setting("cost", Metric, "", "request", "How being recognised is measured.", default="maxprob"),
    Setting(
        "cost_k",
        Count,
        WHOLE_FROM_1,
        "request",
        "The k of the cost k-anonymity.",
        _larger,
        100,
    ),
    Setting(
        "mode",
        Mode,
        "",
        "request",
        "Decide for each query, once for all, or by a plan for all that is asked.",
        default="dynamic",
    ),
    Setting("algorithm", Algorithm, "", "request", "How the best set is searched.", default="lls"),
    Setting(
        "k", Count, WHOLE_FROM_1, "request", "So many people must still look like you.", _larger
    ),
    Setting(
        "violations",
        Share,
        "a share from 0 to below 1",
        "request",
        "The share of people for whom k may fail.",
        _smaller,
        0.0,
    ),
    Setting(
        "risk",
        Risk,
        "above 0 and at most 1",
        "request",
        "The largest expected success of one guess at who you are.",
        _smaller,
    ),
    Setting(
        "attributes_per_request",
        Whole,
        WHOLE_FROM_0,
        "request",
        "No answer carries more attributes.",
        _smaller,
    ),
    Setting(
        "new_facts_per_week",
        Whole,
        WHOLE_FROM_0,
        "recipient",
        "A recipient learns no more within seven days.",
        _smaller,
    ),
    Setting(
        "page_requests_per_minute",
        Whole,
        WHOLE_FROM_0,
        "recipient",
        "So many requests in a minute are decided that a page led to, and not you.",
        _smaller,
        30,
    ),
    Setting(
        "protect",
        Protect,
        "",
        "request",
        "For whom k and risk are kept.",
        default="everyone",
    ),
    Setting(
        "nothing",
        bool,
        "true or false",
        "request",
        "Whether the answer is empty, whatever else is ruled.",
        _larger,
        default=False,
    ),
    Setting(
        "unknown_queries",
        Unknown,
        "",
        "recipient",
        "What goes with a query that the model does not know.",
        _place(Unknown),
        "nothing",
    ),
    Setting(
        "memory",
        Memory,
        "",
        "recipient",
        "Whether a recipient keeps what it was told.",
        _place(Memory),
        "remembers",
    ),
    Setting("model", Name, "a name such as 'so2017'", "request", "Which model decides."),
    Setting(
        "search",
        Address,
        "an https address with {query} in it, such as 'https://search.example/find?q={query}'",
        "recipient",
        "Where a browser finds the words of a search.",
    ),
)


SETTINGS: Mapping[str, Setting] = MappingProxyType({each.key: each for each in _TABLE})


DEFAULTS: Mapping[str, Value] = MappingProxyType(
    {each.key: each.default for each in _TABLE if each.default is not None}
)


def stricter(setting: Setting, one: Value, other: Value) -> bool:
    """Say whether one value is stricter than the other; never where values have no order."""
    return setting.rank is not None and setting.rank(one) > setting.rank(other)


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


_DAEMON_DEFAULTS = DaemonSettings()


_DAEMON_TABLE = (
    Setting(
        "lock_after_minutes",
        Minutes,
        f"a number from 0 to {LONGEST_MINUTES}",
        "daemon",
        "Minutes without a command or a search of yours until the vault locks; 0 as 480.",
        default=_DAEMON_DEFAULTS.lock_after_minutes,
    ),
    Setting(
        "prompts_per_hour",
        Whole,
        WHOLE_FROM_0,
        "daemon",
        "How often in an hour you are asked by itself; the rest is listed.",
        default=_DAEMON_DEFAULTS.prompts_per_hour,
    ),
    Setting(
        "clicks",
        bool,
        "true or false",
        "daemon",
        "Whether browsers may tell which results you visit.",
        default=_DAEMON_DEFAULTS.clicks,
    ),
)


DAEMON: Mapping[str, Setting] = MappingProxyType({each.key: each for each in _DAEMON_TABLE})
