"""Every setting of the policy language, in one table (FORMAT.md, "Settings", "The daemon")."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from agent.errors import UsageError, nearest

About = Literal["attribute", "request", "recipient", "daemon", "judge", "together"]
Disclose = Literal["always", "auto", "ask", "never"]
OwnWords = Literal["auto", "ask", "never"]
Relevance = Literal["fact", "kind"]
Mode = Literal["dynamic", "standing", "planned"]
Protect = Literal["everyone", "me"]
Unknown = Literal["standing", "nothing"]
Memory = Literal["forgets", "remembers"]
Reranking = Literal["send", "both", "rerank"]
Prompt = Literal["terminal", "pinentry"]
Carry = Literal["header", "words", "parameters"]
Engine = Literal["bing", "brave", "duckduckgo", "google", "searxng"]  # those of engines.toml
Whom = Literal["anybody", "most people", "some people", "few people", "nobody"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
# The programs that an assistant over MCP may be in, each a door of its own.
HostProgram = Literal["claude-desktop", "claude-code", "vscode", "cursor"]
# The user's own requests in a browser, pages there, assistants over MCP, programs by way of the
# proxy, the command line and the screens, any other program.
Door = Literal["browser", "page", "mcp", "proxy", "cli", "program", HostProgram]
HOSTED: tuple[HostProgram, ...] = get_args(HostProgram)
DAYS: tuple[Day, ...] = get_args(Day)
Value = str | int | float | bool

LONGEST_MINUTES = 480  # that a vault stays open unused, where idle time locks it
MACHINE = r"(([a-z0-9-]+[.])*localhost|127([.][0-9]{1,3}){3}|\[::1\])"
# How an address begins that nobody reads on its way: https, or this machine.
SEALED = rf"(https://|http://{MACHINE}[:/?])"
# Each description completes "is not", in the error for a value outside the range.
FromZero = Annotated[float, Meta(ge=0, le=1e9, description="a number from 0 to a billion")]
Whole = Annotated[int, Meta(ge=0, le=10**9, description="a whole number from 0")]
Count = Annotated[int, Meta(ge=1, le=10**9, description="a whole number from 1")]
Share = Annotated[float, Meta(ge=0, lt=1, description="a share from 0 to below 1")]
Risk = Annotated[float, Meta(gt=0, le=1, description="above 0 and at most 1")]
Minutes = Annotated[
    float, Meta(ge=0, le=LONGEST_MINUTES, description=f"a number from 0 to {LONGEST_MINUTES}")
]
Switch = Annotated[bool, Meta(description="true or false")]
Hours = Annotated[
    str,
    Meta(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)\Z",
        description="a part of the day such as '22:00-07:00'",
    ),
]
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
Home = Annotated[
    str,
    Meta(
        pattern=rf"^(https://[^\s/?#@{{}}]+|http://{MACHINE}(:[0-9]+)?)/?\Z",
        max_length=300,
        description="the https address of a whole site, such as 'https://chat.example/'",
    ),
]
Program = Annotated[
    str,
    Meta(
        pattern=r"^(/.{1,1000})?\Z",
        description="an absolute path such as '/usr/bin/pinentry-gtk-2'",
    ),
]
Loopback = Annotated[
    str,
    Meta(
        pattern=r"^http://(localhost|127([.][0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?(/[A-Za-z0-9_.~-]+)*/?\Z",
        max_length=300,
        description="an address of this machine, such as 'http://127.0.0.1:11434/v1'",
    ),
]
Served = Annotated[str, Meta(pattern=r"^[!-~]{1,200}\Z", description="a model's name")]
# How sensitive a fact is, in bits, by whom one would tell it: the levels 1 to 5.
LEVELS = dict(zip(get_args(Whom), (0.02, 0.05, 0.12, 0.3, 0.6), strict=True))
Bits = Annotated[FromZero | Whom, Meta(description=f"bits from 0, or one of {', '.join(LEVELS)}")]
# How facts reach a host, and what is there: not of its whole pool.
OF_HOSTS = frozenset({"search", "carry", "engine", "assistant", "address"})
LONGEST_NAME = 200
LONGEST, CUT = 60, "..."  # characters of a value in a sentence
PER_CENT = 100
HUGE = 4000  # bits: Python refuses to write larger numbers in decimal
ADDRESSES = {"search", "address"}  # settings that are addresses of the recipients of their rule
LARGER, SMALLER = 1, -1  # which values are stricter; of choices, the later are larger


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its key, the type and the range of its value, and what it is about.

    ``order``: which values are stricter; ``default``: None where there is none, and where
    `DaemonSettings` has it; ``means``: what it does, in a line.
    """

    key: str
    kind: Any
    about: About
    order: int | None
    default: Value | None
    means: str

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

    def strictness(self, value: Value) -> float:
        """How strict a value is: the larger the stricter, 0 for all without an order."""
        if not self.order:
            return 0.0
        return self.order * float(self.choices.index(str(value)) if self.choices else value)


def _by_key(*rows: tuple[str, Any, About, int | None, Value | None, str]) -> Mapping[str, Setting]:
    return MappingProxyType({row[0]: Setting(*row) for row in rows})


SETTINGS = _by_key(
    ("disclose", Disclose, "attribute", LARGER, "auto", "Whether an attribute may be sent."),
    ("sensitivity", Bits, "attribute", LARGER, None, "Bits an attribute must help to be sent."),
    ("guard", FromZero, "attribute", LARGER, None, "Above 0: never sent, and costly to reveal."),
    ("own", OwnWords, "attribute", LARGER, None, "Whether facts in own words may be sent."),
    ("relevance", Relevance, "attribute", LARGER, None, "Whether own words count, or the kind."),
    ("coarse", Switch, "attribute", LARGER, None, "Whether only its coarse version may be sent."),
    ("anonymity_price", FromZero, "request", LARGER, 0.5, "Bits it costs to leave 1,000 alike."),
    ("mode", Mode, "request", None, "dynamic", "Decide for each query, once, or by a plan."),
    ("horizon", Whole, "recipient", SMALLER, 20, "How many more requests a plan counts on."),
    ("k", Count, "request", LARGER, None, "How many people must still look like you."),
    ("people", Count, "request", LARGER, None, "How many, by a model that counts real people."),
    ("violations", Share, "request", SMALLER, None, "The share for whom k may fail, in all."),
    ("risk", Risk, "request", SMALLER, None, "The highest chance that one guess finds you."),
    ("attributes_per_request", Whole, "request", SMALLER, None, "The most facts in one answer."),
    ("new_facts_per_week", Whole, "recipient", SMALLER, None, "The most new facts in seven days."),
    ("new_facts_per_day", Whole, "recipient", SMALLER, None, "The most new facts in 24 hours."),
    ("requests_per_day", Whole, "recipient", SMALLER, None, "Requests with facts a day, to all."),
    ("page_requests_per_minute", Whole, "recipient", SMALLER, 30, "Page requests per minute."),
    ("protect", Protect, "request", LARGER, "everyone", "For me: stop if I would stand out."),
    ("nothing", Switch, "request", LARGER, False, "Whether the answer is always empty."),
    ("unknown_queries", Unknown, "recipient", LARGER, "nothing", "What an unknown query carries."),
    ("memory", Memory, "recipient", LARGER, "remembers", "Whether a recipient keeps what it gets."),
    ("results", Reranking, "recipient", LARGER, "send", "Whether its results are ordered here."),
    ("population", Name, "recipient", None, None, "Which model alone decides and counts people."),
    ("search", Address, "recipient", None, None, "Where browsers find a search."),
    ("carry", Carry, "recipient", None, "header", "How a search carries facts."),
    ("engine", Engine, "recipient", None, None, "Which engine it is, by whose parameters."),
    ("assistant", Switch, "recipient", SMALLER, None, "Whether the popup works in its chat box."),
    ("address", Home, "recipient", None, None, "Where browsers find an assistant."),
)
# When, and at which doors, a rule holds.
WHEN = _by_key(
    ("hours", Hours, "request", None, None, "A part of every day, by your clock."),
    ("days", Day, "request", None, None, "Days of the week."),
    ("door", Door, "request", None, None, "What asks."),
)
DEFAULTS: Mapping[str, Value] = MappingProxyType(
    {key: each.default for key, each in SETTINGS.items() if each.default is not None}
)


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """The settings in `[daemon]`, or the defaults.

    ``lock_after_minutes``: without a command or a search of the user's; 0: with the session alone;
    ``questions_per_day``: how many reviews the user is notified of; ``clicks``: whether browsers
    may tell which results are visited; ``prompt``: where the user is asked;
    ``keep_texts_days``: after which the ledger keeps no text, 0 for never; ``pinentry``: the
    program of its dialogs, empty for the first that is found.
    """

    lock_after_minutes: float = 0.0
    questions_per_day: int = 1
    clicks: bool = False
    prompt: Prompt = "terminal"
    keep_texts_days: int = 0
    pinentry: str = ""


DAEMON = _by_key(
    ("lock_after_minutes", Minutes, "daemon", None, None, "Idle minutes until it locks; 0: none."),
    ("questions_per_day", Whole, "daemon", None, None, "Questions a day that you are told of."),
    ("clicks", Switch, "daemon", None, None, "Whether browsers tell which results you visit."),
    ("prompt", Prompt, "daemon", None, None, "Whether dialogs ask you, or the terminal alone."),
    ("keep_texts_days", Whole, "daemon", None, None, "Days that texts are kept; 0: for good."),
    ("pinentry", Program, "daemon", None, None, "The program of these dialogs."),
)


# Of facts that reveal more together than each alone.
TOGETHER = _by_key(
    ("price", FromZero, "together", None, None, "Bits it costs more to tell all of them."),
)
# Of the server that says which facts in own words help.
JUDGE = _by_key(
    ("url", Loopback, "judge", None, None, "Where an OpenAI-compatible server answers."),
    ("model", Served, "judge", None, None, "The model that it is to use."),
)


def shown(given: object) -> str:
    """A value as it may stand in a sentence, cut where it is long."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, dict | list):
        return "a table" if isinstance(given, dict) else "a list"
    if isinstance(given, int) and given.bit_length() > HUGE:
        return "a huge number"
    text = repr(given) if isinstance(given, str) else str(given)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - len(CUT)]}{CUT}"


def fitting(of: Setting, given: object) -> Value:
    """The value of a setting, a sensitivity in bits; UsageError if it cannot have this one."""
    try:
        value: Value = msgspec.convert(given, of.kind)
    except (msgspec.ValidationError, OverflowError):
        raise UsageError(f"{shown(given)} is not {of.demand}", _way_out(of, given)) from None
    return LEVELS[value] if isinstance(value, str) and of.key == "sensitivity" else value


def _way_out(of: Setting, given: object) -> str:
    """How to write what was probably meant."""
    if of.choices:
        offered = of.choices[len(of.choices) // 2 if of.order else 0 :]  # the stricter half
        near = nearest(given, offered) if isinstance(given, str) else None
        return f"did you mean {near!r}?" if near else "write one of them in quotes"
    if isinstance(given, str) and given.strip().replace(".", "", 1).isdigit():
        return f"write {given.strip()} without quotes"
    if "whole" in of.demand and isinstance(given, float) and given.is_integer() and given >= 0:
        return f"write {int(given)} without decimals"
    of_share = of.key in ("violations", "risk") and not isinstance(given, bool)
    if of_share and isinstance(given, float | int) and 1 <= given <= PER_CENT:
        return f"for {given:g} % write {given / PER_CENT:g}"
    return f"write {of.key} = {of.demand}" if of.key in ADDRESSES else f"{of.key} is {of.demand}"


def checking(fits: Callable[[Any], object], what: str, hint: str) -> Callable[[Any], Any]:
    """Make a function that checks a value; its UsageError where the value does not fit."""

    def parse(given: object) -> object:
        if not fits(given):
            raise UsageError(f"{shown(given)} is not {what}", hint)
        return given

    return parse


LINE = checking(
    lambda given: (
        isinstance(given, str) and 0 < len(given.strip()) <= LONGEST_NAME and given.isprintable()
    ),
    "a name",
    f"a name is one line of up to {LONGEST_NAME} characters",
)
DAY = checking(lambda day: type(day) is date, "a date", "write it as 2027-03-01, without quotes")
PUBLIC_KEY = checking(
    lambda given: re.fullmatch("ed25519:[0-9a-f]{64}", given),
    "a public key",
    "`reticent model sign` prints it: ed25519: and 64 hexadecimal digits",
)
