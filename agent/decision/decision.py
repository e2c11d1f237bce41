"""The decision as a value: what leaves, what stays, and why."""

from dataclasses import dataclass
from typing import Literal

from agent.decision.request import Request
from agent.decision.terms import Terms
from agent.tradeoff.anonymity_set import Metric
from agent.tradeoff.search import Proof
from policy.settings import Mode

Status = Literal[
    "decided",
    "unknown query",
    "blocked",
    "recognised",
    "outside the model",
    "past a limit already",
]
Reason = Literal[
    "worth it",
    "always",
    "waits for you",
    "in the standing set",
    "not in the standing set",
    "in the plan",
    "planned for other requests",
    "not in the plan",
    "known to the recipient",
    "costs more than it helps",
    "would break a limit",
    "not asked for",
    "not allowed",
    "not set",
    "never",
    "guarded",
    "recognised",
    "outside the model",
    "too many combinations",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One attribute, beside the set that was chosen.

    ``gain_bits``: the utility it adds to the rest of the set (or would add); ``cost_bits``: what
    it adds to the cost, in bits; both None where it never was a candidate. ``limit``: the limit
    that it would break, by its key in a policy; ``serves``: the known queries that the plan has
    it for, those asked most first.
    """

    name: str
    disclosed: bool
    reason: Reason
    gain_bits: float | None = None
    cost_bits: float | None = None
    limit: str | None = None
    serves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guarded:
    """A guarded attribute: ``bits`` the answer tells about it, and the best guess's success."""

    name: str
    bits: float
    best_guess: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the search knows of its answer; see ``agent.tradeoff.search.Result``."""

    evaluations: int = 0
    violations: int = 0
    proof: Proof = "none"
    bound: float | None = None
    certified: float | None = None
    node_limit_hit: bool = False

    @property
    def exact(self) -> bool:
        """Whether no permitted set is better, whatever the objective looks like."""
        return self.proof == "enumerated"


@dataclass(frozen=True, slots=True)
class Figures:
    """The terms of the objective at the disclosed set.

    Bits, but ``identifiability`` (I(A u D|d)) and ``identifiability_cost`` (less I(0|d)), which
    are in the unit of ``metric``; ``people`` agree with what is known, ``people_left`` is how many
    are expected to agree with the answer too. In standing mode ``utility`` is a mean of queries.
    """

    metric: Metric
    utility: float
    identifiability: float
    identifiability_cost: float
    guard: float
    sensitivity: float
    objective: float
    people: int
    people_left: float


@dataclass(frozen=True, slots=True)
class Pending:
    """What waits for the user: the names, in the order chosen, and the figures with all of them."""

    names: tuple[str, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Decision:
    """What is disclosed for one request (names, in the order chosen), and everything about it.

    ``status``: only "decided" is the ordinary case. Else the query is unknown; or a rule blocks
    the request; or one person ("recognised") or nobody ("outside the model") agrees with what the
    recipient holds, and nothing new leaves; or what it holds breaks a limit, before anything is
    added. ``query``, ``matched_query``: the known query that was meant, by index and as its text,
    None where there is none. ``candidates``: all attributes of the model, in its order; in brief
    only what is disclosed, where anything is; none where a rule blocks the request, or nothing is
    done for a query that is not known. ``pending``: what is worth disclosing beside this, but waits
    for the user; None where nothing.
    """

    request: Request
    terms: Terms
    status: Status
    mode: Mode
    query: int | None
    matched_query: str | None
    disclosed: tuple[str, ...]
    figures: Figures
    evidence: Evidence
    candidates: tuple[Candidate, ...]
    guarded: tuple[Guarded, ...]
    pending: Pending | None = None
