"""Every setting of the policy language, in one table (FORMAT.md, "Settings", "The daemon")."""

from collections.abc import Mapping
from dataclasses import dataclass
from sys import float_info
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Meta

About = Literal["attribute", "request", "recipient", "daemon"]
Disclose = Literal["always", "auto", "ask", "never"]
Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
Mode = Literal["dynamic", "standing", "planned"]
Algorithm = Literal["lls", "ls", "greedy", "exact", "exhaustive"]
Protect = Literal["everyone", "me"]
Unknown = Literal["standing", "nothing"]
Memory = Literal["forgets", "remembers"]
Value = str | int | float | bool

LONGEST_MINUTES = 480  # that a vault stays open after the last command, whatever the policy says
SEALED = (  # how an address begins that nobody reads on its way: https, or this machine
    r"(https://|http://(([a-z0-9-]+[.])*localhost|127([.][0-9]{1,3}){3}|\[::1\])[:/?])"
)
# Each description completes "is not", in the error for a value outside the range.
FromZero = Annotated[float, Meta(ge=0, le=float_info.max, description="a number from 0")]
Whole = Annotated[int, Meta(ge=0, le=10**9, description="a whole number from 0")]
Count = Annotated[int, Meta(ge=1, le=10**9, description="a whole number from 1")]
Share = Annotated[float, Meta(ge=0, lt=1, description="a share from 0 to below 1")]
Risk = Annotated[float, Meta(gt=0, le=1, description="above 0 and at most 1")]
Minutes = Annotated[
    float, Meta(ge=0, le=LONGEST_MINUTES, description=f"a number from 0 to {LONGEST_MINUTES}")
]
Switch = Annotated[bool, Meta(description="true or false")]
Name = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9][a-z0-9._-]*\Z", max_length=100, description="a name such as 'so2017'"),
]
Address = Annotated[
    str,
    Meta(
        pattern=rf"^{SEALED}[^\s{{}}]+\{{query\}}[^\s{{}}]*\Z",
        max_length=2000,
        description="an https address with {query} in it,"
        " such as 'https://search.example/find?q={query}'",
    ),
]
UNORDERED, LARGER, SMALLER = 0, 1, -1  # which values are stricter; of choices, the later are larger


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its key, the type and the range of its value, and what it is about.

    ``means``: what it does, in a line; ``order``: which values are stricter.
    """

    key: str
    kind: Any
    about: About
    means: str
    order: int = UNORDERED

    @property
    def choices(self) -> tuple[str, ...]:
        """The values it can have, where these are names."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def demand(self) -> str:
        """The values it can have, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return str(self.kind.__metadata__[0].description)

    @property
    def closers(self) -> tuple[str, ...]:
        """The choices to suggest for a misspelt one: none that opens more than most."""
        return self.choices[len(self.choices) // 2 :] if self.order else self.choices

    def strictness(self, value: Value) -> float:
        """Return how strict a value is: the larger the stricter, 0 for all without an order."""
        if not self.order:
            return 0.0
        return self.order * float(self.choices.index(str(value)) if self.choices else value)


def _by_key(*table: Setting) -> Mapping[str, Setting]:
    return MappingProxyType({each.key: each for each in table})


SETTINGS = _by_key(
    Setting("disclose", Disclose, "attribute", "Whether an attribute may be sent.", LARGER),
    Setting(
        "sensitivity", FromZero, "attribute", "Bits an attribute must help to be sent.", LARGER
    ),
    Setting(
        "guard",
        FromZero,
        "attribute",
        "Above 0: never sent; a bit revealed costs this many.",
        LARGER,
    ),
    Setting(
        "lambda", FromZero, "request", "The price of certain recognition, in bits of help.", LARGER
    ),
    Setting("cost", Metric, "request", "How the risk of being recognised is measured."),
    Setting("cost_k", Count, "request", "The k of the cost k-anonymity.", LARGER),
    Setting("mode", Mode, "request", "Decide for each query, once for all, or by a plan."),
    Setting("algorithm", Algorithm, "request", "How to search for the best set."),
    Setting("k", Count, "request", "How many people must still look like you.", LARGER),
    Setting("violations", Share, "request", "The share of people for whom k may fail.", SMALLER),
    Setting("risk", Risk, "request", "The highest chance that one guess finds you.", SMALLER),
    Setting("attributes_per_request", Whole, "request", "The most facts in one answer.", SMALLER),
    Setting(
        "new_facts_per_week", Whole, "recipient", "The most new facts within seven days.", SMALLER
    ),
    Setting(
        "page_requests_per_minute",
        Whole,
        "recipient",
        "Requests of pages decided per minute.",
        SMALLER,
    ),
    Setting("protect", Protect, "request", "For whom k and risk hold."),
    Setting("nothing", Switch, "request", "Whether the answer is always empty.", LARGER),
    Setting(
        "unknown_queries",
        Unknown,
        "recipient",
        "What to send with a query unknown to the model.",
        LARGER,
    ),
    Setting("memory", Memory, "recipient", "Whether a recipient keeps what it learns.", LARGER),
    Setting("model", Name, "request", "Which model decides."),
    Setting("search", Address, "recipient", "Where browsers find the words of a search."),
)
DEFAULTS: Mapping[str, Value] = MappingProxyType(
    {
        "disclose": "auto",
        "lambda": 5.12,
        "cost": "maxprob",
        "cost_k": 100,
        "mode": "dynamic",
        "algorithm": "lls",
        "violations": 0.0,
        "page_requests_per_minute": 30,
        "protect": "everyone",
        "nothing": False,
        "unknown_queries": "nothing",
        "memory": "remembers",
    }
)


def stricter(setting: Setting, one: Value, other: Value) -> bool:
    """Say whether one value is stricter than the other; never where values have no order."""
    return setting.strictness(one) > setting.strictness(other)


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """The settings in `[daemon]`, or the defaults.

    ``lock_after_minutes``: without a command or a search of the user's; 0 means `LONGEST_MINUTES`;
    ``prompts_per_hour``: how many reviews may open by themselves; ``clicks``: whether browsers may
    tell which results are visited.
    """

    lock_after_minutes: float = 15.0
    prompts_per_hour: int = 6
    clicks: bool = False


DAEMON = _by_key(
    Setting(
        "lock_after_minutes", Minutes, "daemon", "Minutes until an idle vault locks; 0 means 480."
    ),
    Setting("prompts_per_hour", Whole, "daemon", "How often per hour you are asked."),
    Setting("clicks", Switch, "daemon", "Whether browsers tell which results you visit."),
)
