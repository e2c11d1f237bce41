"""What the user consents to, with a policy file, and requests as the daemon has them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from hypothesis import settings

from agent.daemon.consent import Consent
from agent.daemon.instructions import applied
from agent.daemon.policy_file import ActivePolicy
from agent.daemon.request_log import Asker
from agent.decision.context import Terms, terms_under
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.model.model import Model
from agent.wire.decide import Ask
from agent.wire.policy import Review, Word
from policy.match import Ruling
from policy.read import load
from policy.rules import Policy
from tests.decision.made import CACHE, decide, made_model

MODEL = made_model(1)
FEW = settings(max_examples=settings().max_examples // 3, deadline=None)  # each with files
START = datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=1)))
TEXT = (
    'preset = "none"\ndisclose = "ask"  # all\nanonymity_price = 1e-05\n'
    '[daemon]\nquestions_per_day = 100\n[groups]\nshops = ["s1.example", "s2.example"]\n'
)


@dataclass
class Office:
    """What the user consents to, with a policy file, and requests as the daemon has them."""

    path: Path
    models: tuple[Model, ...] = (MODEL,)
    consent: Consent = field(init=False)
    now: datetime = START
    _active: ActivePolicy = field(default_factory=lambda: ActivePolicy(None), init=False)
    _content: bytes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.consent = Consent(self.path, self.active)

    def active(self) -> ActivePolicy:
        """Return the rules in use, the same while the file and the models stay."""
        content = self.path.read_bytes() if self.path.exists() else None
        if content != self._content or self.models != self._active.models:
            policy = None if content is None else load(self.path)
            self._active, self._content = ActivePolicy(policy, self.models, Model.read), content
        return self._active

    def policy(self) -> Policy | None:
        return self.active().policy

    def request(
        self, host: str, query: str = "python today", model: Model = MODEL, by: Asker = "command"
    ) -> tuple[Decision, Review | None]:
        """Decide a request of a recipient that holds nothing, and note it."""
        decision, _, ruling = self.decided(host, query, model)
        ask = Ask(query=query, recipient=host)
        new = self.consent.note(decision, ruling, ask, self.now, by)
        self.consent.answered(decision, ruling)
        return decision, new

    def decided(
        self, host: str, query: str = "python today", model: Model = MODEL
    ) -> tuple[Decision, Terms, Ruling]:
        """Return what would be decided, by which terms, and what is ruled; nothing is noted."""
        book = self.active().book(model)
        assert book is not None
        ruling = book.match(host, query, self.now.date(), self.active().topics(query))
        terms = applied(terms_under(ruling, model), self.consent.preferences)
        decision = decide(Request(query, ruling.host), terms, Knowledge(), model, cache=CACHE)
        return decision, terms, ruling

    def review(self, host: str) -> Review:
        """Return what waits once a host has asked."""
        self.request(host)
        return self.consent.reviews(self.now)[-1]

    def offered(self, site: str, names: list[str], **more: Any) -> Review | None:  # noqa: ANN401  (of any field)
        fields = {"pool": site, **more, "recipient": site, "names": names}
        return self.consent.offer(Review(id=0, kind="offer", at=self.now, **fields))

    def offer(self, site: str, names: list[str], **more: Any) -> Review:  # noqa: ANN401  (as above)
        new = self.offered(site, names, **more)
        assert new is not None
        return new

    def say(self, review: Review, decided: str, lasting: str = "once", **more: Any) -> Any:  # noqa: ANN401  (of any field)
        disclose = "auto" if decided == "approve" else "never"
        verdict: Any = {"disclose": disclose, "lasting": lasting, **more}
        return self.consent.answer(review.id, Word(**verdict), self.now)


def open_office(folder: Path, models: tuple[Model, ...] = (MODEL,)) -> Office:
    """Return one whose policy asks for everything."""
    path = folder / "policy.toml"
    path.write_text(TEXT)
    return Office(path, models)
