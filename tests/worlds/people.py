"""An agent of which only the files are not real: vault, model and policy stand in memory."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.daemon.artifacts import Machine
from agent.daemon.consent import Consent
from agent.daemon.events import Bus
from agent.daemon.model_registry import Keys, ModelRegistry
from agent.daemon.policy_file import ActivePolicy, PolicyFile
from agent.daemon.request_log import RECORD, Sources
from agent.errors import UsageError, VaultError
from agent.model.attributes import Attribute
from agent.model.model import Model
from agent.paths import paths
from agent.vault.ledger import Disclosure, Ledger, Record
from agent.vault.profile import Profile
from agent.vault.store import Items
from agent.vault.vault import Vault
from agent.vault.vault_files import Location
from agent.wire.decide import Ask
from agent.wire.state import Event, EventKind
from policy.read import preset, read
from tests.decision.made import NAMES, made_model
from tests.decision.transcripts import HOSTS, QUERIES
from tests.vault.doubles import MemoryStore
from tests.vault.values import change
from tests.wire.fake import short_folder

NOWHERE = Path("/nowhere")
MONDAY = datetime(2027, 3, 1, 9, tzinfo=UTC)


@dataclass
class Memory(Items):
    """The records of a vault, in memory, and how often they were written."""

    records: dict[str, bytes] = field(default_factory=dict)
    writes: int = 0
    full: bool = False

    def get(self, name: str) -> bytes | None:
        return self.records.get(name)

    def put(self, name: str, payload: bytes, *, durable: bool = True) -> None:
        """Set a record, unless the disk is full; what is worth no wait is the history alone."""
        assert durable == (name != RECORD)
        if self.full:
            raise VaultError("the disk is full", "make room")
        self.records[name] = payload
        self.writes += 1

    def names(self, prefix: str) -> list[str]:
        return sorted(name for name in self.records if name.startswith(prefix))

    def delete(self, name: str) -> None:
        self.records.pop(name, None)
        self.writes += 1


class MemoryVault(Vault):
    def __init__(self, values: Mapping[str, str], model: Model) -> None:
        self.records = MemoryStore()
        self.ledger = Ledger(self.records)
        self.profile, self.items = Profile(self.records), Memory()
        change(self.profile, values, [], [model])

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing is to be said."""
        return ()

    @property
    def intact(self) -> bool:
        return True

    def close(self) -> None:
        """Do nothing: it can be opened again."""

    @property
    def disclosures(self) -> list[Disclosure]:
        found: list[Record] = [record for _, record in self.ledger.read()]
        return [each for each in found if isinstance(each, Disclosure)]


class FixedRules(PolicyFile):
    """Rules that stand in no file, and stay."""

    def __init__(self, text: str | None) -> None:
        super().__init__(NOWHERE / "policy.toml")
        self.active = ActivePolicy(None if text is None else read(text, "test", preset))

    def check(self, now: datetime) -> bool:  # noqa: ARG002  (as in what it stands for)
        """Say that nothing changed."""
        return False

    def reload(self, now: datetime) -> bool:  # noqa: ARG002  (what it says hangs on no time)
        """Leave them as they are."""
        return False


class OneModel(ModelRegistry):
    """A registry with one model on it, or none."""

    def __init__(self, model: Model | None) -> None:
        super().__init__(NOWHERE)
        self.model = model

    def of(self, name: str | None, keys: Keys, now: datetime) -> Model:  # noqa: ARG002  (as in what it stands for)
        """Return the model if it has the name, or none is asked for."""
        if self.model is None or name not in (None, self.model.id):
            raise UsageError.unknown("model", str(name), [])
        return self.model

    def usable(self, keys: Keys, now: datetime) -> list[Model]:  # noqa: ARG002  (as in what it stands for)
        return [] if self.model is None else [self.model]

    def names(self) -> list[str]:
        return [] if self.model is None else [self.model.id]


class Within(Sources):
    """Sources to which every request is made within hours."""

    def available(self, attributes: Iterable[Attribute]) -> frozenset[str]:
        """Return all: each can be said of any request."""
        return frozenset(each.name for each in attributes)

    def values(
        self,
        names: Iterable[str],
        ask: Ask,  # noqa: ARG002  (as in what it stands for)
        now: datetime,  # noqa: ARG002  (as in what it stands for)
    ) -> Mapping[str, str]:
        """Return the one value of the one request attribute of a made model."""
        return dict.fromkeys(names, "hours1")


class Heard(Bus):
    """A bus that remembers what was told."""

    def __init__(self) -> None:
        super().__init__(lambda: MONDAY)
        self.kinds: list[EventKind] = []
        self.ids: list[int | None] = []

    def publish(self, kind: EventKind, about: int | None = None) -> Event:
        self.kinds.append(kind)
        self.ids.append(about)
        return super().publish(kind, about)


def agent_of(rules: PolicyFile, model: Model | None, vault: Vault | None) -> Agent:
    """Return an agent by these rules; its vault is open where one is given."""
    made = Agent(
        place=Location(NOWHERE / "vault.db", NOWHERE / "witness.json"),
        started_at=MONDAY,
        rules=rules,
        registry=OneModel(model),
        consent=Consent(rules.path, lambda: rules.active),
        sources=Within(),
        bus=Heard(),
    )
    if vault is not None:
        made.opened(vault, MONDAY)
        made.vault = vault
    return made


MODEL = made_model(1, people=300)
OPEN = "preset = 'none'\nanonymity_price = 0\n"
SHOP = Ask(query="python today", recipient="shop.example")
ROWS = MODEL.population.codes
SECOND = timedelta(seconds=1)
PEOPLE = st.integers(0, len(ROWS) - 1)
ASKS = st.builds(
    Ask,
    query=st.sampled_from(QUERIES),
    recipient=st.sampled_from(HOSTS),
    asked=st.none() | st.none() | st.lists(st.sampled_from([*NAMES, "shoe_size"])),
)
STEPS = st.tuples(st.sampled_from([1, 1, 60, 200]), ASKS)  # hours later


def values_of(row: int, model: Model = MODEL) -> dict[str, str]:
    return {
        each.name: each.values[code]
        for each, code in zip(model.attributes, ROWS[row].tolist(), strict=False)
    }


def living(policy: str | None, row: int = 0, model: Model = MODEL) -> tuple[Agent, MemoryVault]:
    """Return the unlocked agent of one of the model's people, and their vault."""
    vault = MemoryVault(values_of(row, model), model)
    return agent_of(FixedRules(policy), model, vault), vault


def machine_at(home: Path, /, *mac: bool, **more: str) -> Machine:
    """Return a machine with a home of its own, perhaps a Mac; ``more``: of its environment."""
    environment = {"HOME": str(home), "PATH": "", "RETICENT_HOME": str(home / "r"), **more}
    environment = {name: value for name, value in environment.items() if value or name == "PATH"}
    return Machine(paths(environment), environment, MONDAY, "/usr/bin/python3", any(mac))


def started_by(machine: Machine, interpreter: str) -> Machine:
    """Return the same machine with another Python."""
    return replace(machine, interpreter=interpreter)


@contextmanager
def new_machine() -> Iterator[Machine]:
    """Yield a machine on which nothing is installed, and no browser is."""
    with short_folder() as home, pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.daemon.programs.SYSTEM_WIDE", home / "system")
        yield machine_at(home)
