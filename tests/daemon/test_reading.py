"""How the daemon reads: by the surest model, once the encoder is there, less what was corrected."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.daemon.model_registry import UNREADABLE, Keys, TextReader
from agent.errors import UsageError, normalise
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.model.world import world_of
from agent.vault.corrections import Corrections
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.state import ReadingEdit
from agent.words.notices import corrected
from tests.decision.made import made_model
from tests.vault.doubles import MemoryStore
from tests.worlds.homes import OPEN, Home
from tests.worlds.people import OneModel

PYTHON = "python today"  # the first query of every made model
TEXT = "how do i sort a list zqxj"
SHOP = "shop.example"
Shares = Mapping[str, Sequence[float]]


@dataclass(eq=False)
class Saying:
    """Stands for a classifier: knows these texts, and what each means by query."""

    texts: Shares
    threshold: float = 0.5

    def read(self, text: str) -> Interpretation:
        return Interpretation.of(self.texts.get(normalise(text), ()), self.threshold)


def reading_model(texts: Shares, seed: int = 1, threshold: float = 0.5) -> Model:
    """Return a model of five queries that reads these texts beside its names."""
    made, saying = made_model(seed, queries=5), Saying(texts, threshold)
    return replace(made, tables=replace(made.tables, classifier=saying))  # type: ignore[arg-type]


def loaded(models: Sequence[Model]) -> TextReader:
    reader = TextReader(lambda: None)
    asyncio.run(reader.prepare(models))
    assert reader.loaded
    return reader


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_the_surest_reading_decides(shares: list[float]) -> None:
    """Of equals that of the first model; and so where none is sure."""
    models = [reading_model({TEXT: [share]}, seed) for seed, share in enumerate(shares)]
    world = world_of(models)
    reading = loaded([world]).read(world, TEXT)
    shares = [shares[models.index(each)] for each in world.every]
    sure = [share if share >= 0.5 else 0.0 for share in shares]
    if reading.query is not None:
        assert world.owners[reading.query][0] is world.members[sure.index(max(sure))]
    assert max((each.probability for each in reading.accepted), default=0.0) == max(sure)


def test_an_exact_name_is_the_surest_of_all() -> None:
    """Whatever another model takes it for, and so before the encoder is there."""
    models = [reading_model({PYTHON: [0, 1.0]}), made_model(2)]
    queries = tuple(replace(each, text=f"x{each.text}") for each in models[0].queries)
    models[0] = replace(models[0], queries=queries)
    world = world_of(models)
    [first] = [each.first for each in world.members if each.model is models[1]]
    for reader in (loaded([world]), TextReader(lambda: None)):  # before the encoder is there, too
        assert reader.read(world, PYTHON) == Interpretation.exact(first)


def test_a_failure_to_load_is_said_once_and_names_go_on(caplog: pytest.LogCaptureFixture) -> None:
    """The next unlocking tries again, and one after that has nothing to do."""
    models, tries = [reading_model({TEXT: [0.9]})], list[int]()

    def load() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("/home/somebody")

    reader = TextReader(load)
    asyncio.run(reader.prepare([made_model(1)]))  # which knows names alone
    assert tries == []
    asyncio.run(reader.prepare(models))
    assert str(reader.problem) == "the encoder cannot be loaded: OSError"
    messages = [each.getMessage().partition(" in ")[0] for each in caplog.records]
    assert messages == ["the encoder cannot be loaded: OSError"]
    assert reader.read(models[0], TEXT) == NOTHING
    assert reader.read(models[0], PYTHON) == Interpretation.exact(0)
    for _ in range(2):
        asyncio.run(reader.prepare(models))
    assert (reader.loaded, len(tries)) == (True, 2)
    assert reader.problem is None


@settings(max_examples=25)
@given(st.sets(st.integers(0, 4)), st.permutations([0.1, 0.15, 0.2, 0.3]))
def test_corrections_take_candidates_out(gone: set[int], shares: list[float]) -> None:
    """For this text alone, however that is written, in every model that has the query."""
    model = reading_model({TEXT: shares}, threshold=0.18)
    reader = loaded([model])
    reader.corrections = Corrections(Items(MemoryStore()), [model])
    whole = reader.read(model, TEXT)
    for each in gone:
        reader.corrections.add(f" {TEXT.upper()}", model.id, model.queries[each].text)
    assert reader.read(model, TEXT) == whole.without(gone)
    assert reader.read(model, PYTHON) == Interpretation.exact(0)
    queries = tuple(replace(each, text=f"x{each.text}") for each in model.queries)
    assert reader.read(replace(model, id="other"), TEXT) == whole.without(gone)
    assert reader.read(replace(model, queries=queries), TEXT) == whole


def test_where_the_surest_reading_is_wrong_the_next_model_decides() -> None:
    """The user said "not that" of the first; of both, nothing is left."""
    one, other = (reading_model({TEXT: [share]}, seed) for seed, share in enumerate((0.9, 0.6)))
    queries = tuple(replace(each, text=f"x{each.text}") for each in other.queries)
    world = world_of([one, replace(other, queries=queries)])
    reader, chances = loaded([world]), list[float]()
    reader.corrections = Corrections(Items(MemoryStore()), [world])
    while (reading := reader.read(world, TEXT)).query is not None:
        chances.append(reading.candidates[0].probability)
        reader.corrections.add(TEXT, world.id, world.queries[reading.query].text)
    assert chances == [0.9, 0.6]


class Only(OneModel):
    """A registry of one model, by whatever name."""

    def of(self, name: str | None, keys: Keys, now: datetime) -> Model:
        del name
        return super().of(None, keys, now)


@pytest.fixture
def reads(opened: Home) -> Home:
    """An open vault, and a model that reads texts."""
    agent = opened.agent
    model = agent.registry.of("mine", (), opened.now)
    saying = Saying({TEXT: [0.62, 0.2]})
    able = replace(model, tables=replace(model.tables, classifier=saying))  # type: ignore[arg-type]
    agent.registry, agent.reader = Only(able), loaded([able])
    assert agent.vault is not None
    agent.reader.corrections = Corrections(agent.vault.items, [able])
    return opened


def test_the_encoder_loads_as_the_vault_opens(reads: Home) -> None:
    """Whoever only looks needs none; it stays for the next unlocking."""
    calls, agent, loads = reads.calls, reads.agent, list[int]()
    agent.reader = TextReader(lambda: loads.append(1))
    calls.lock()
    calls.models()
    assert loads == []
    for _ in range(2):
        asyncio.run(calls.unlock(OPEN))
        calls.lock()
    assert loads == [1]


def test_a_text_is_answered_recorded_and_corrected(reads: Home) -> None:
    """From the answer to the ledger; then never again, until that is taken back."""
    calls, agent = reads.calls, reads.agent
    answer = calls.decide(Ask(query=TEXT, recipient=SHOP))
    assert answer.summary is not None
    meant = answer.summary.read_as
    assert meant is not None
    assert (meant.query, meant.title, meant.probability, meant.model) == (
        PYTHON,
        PYTHON,
        0.62,
        "made-1",
    )
    assert answer.id is not None
    [entry] = calls.ledger()
    assert entry.read_as == meant
    assert calls.requests()[-1].read_as == meant
    assert agent.vault is not None
    site = agent.vault.ledger.disclosures.pool(SHOP, lambda site: site).times
    assert site == {PYTHON: 0.62, "restaurants today": 0.2}
    found = calls.correct(ReadingEdit(entry=answer.id))
    assert (found.done, found.query, found.read_as, found.now) == (True, TEXT, [meant], None)
    text = corrected(found, ReadingEdit(entry=answer.id))
    assert text.startswith(f"It will not be read as '{PYTHON}' again. ")
    again = calls.decide(Ask(query=TEXT.title(), recipient=SHOP))
    assert (again.code, again.attributes) == ("unknown query", {})
    assert not calls.correct(ReadingEdit(entry=answer.id)).done
    with pytest.raises(UsageError, match="not understood"):
        calls.correct(ReadingEdit(query=TEXT))
    assert calls.decide(Ask(query=PYTHON, recipient=SHOP)).code == "answered"
    calls.undo()
    assert calls.decide(Ask(query=TEXT, recipient=SHOP)).code == "answered"
    assert calls.correct(ReadingEdit(query=TEXT, recipient=SHOP)).done
    back = calls.correct(ReadingEdit(query=TEXT, undo=True))
    assert (back.done, back.now) == (True, meant)


def test_the_status_says_that_texts_are_not_read(reads: Home) -> None:
    """And so does `doctor`, which shows the notes."""
    reads.agent.reader = TextReader(Mock(side_effect=OSError))
    asyncio.run(reads.agent.reader.prepare(reads.agent.usable_models(reads.now)))
    assert f"{UNREADABLE}the encoder cannot be loaded: OSError" in reads.calls.status().notes


@pytest.mark.parametrize("topic", [PYTHON.upper(), "restaurants_today", "bees"])
def test_a_topic_that_is_blocked_carries_nothing(reads: Home, topic: str) -> None:
    """If a text is possibly about it, or one said before, until the user says that it is not."""
    agent, ask = reads.agent, Ask(query=TEXT, recipient=SHOP)
    agent.use_models(agent.vault, reads.now)
    reads.rule(f'preset = "none"\nanonymity_price = 0.0\n[queries]\nblock_topics = "{topic}"\n')
    codes = [reads.calls.decide(ask).code]
    other = Ask(query="restaurants today" if topic == PYTHON.upper() else PYTHON, recipient=SHOP)
    later = [reads.calls.decide(structs.replace(other, earlier=e)).code for e in ([], [TEXT])]
    assert later == ["answered", codes[0]]
    for name in (PYTHON, "restaurants today"):
        assert agent.reader.corrections is not None
        agent.reader.corrections.add(TEXT, "made-1", name)
        codes.append(reads.calls.decide(ask).code)
    assert (
        codes
        == {
            PYTHON.upper(): ["blocked", "unknown query", "unknown query"],
            "restaurants_today": ["blocked", "blocked", "unknown query"],
            "bees": ["answered", "unknown query", "unknown query"],
        }[topic]
    )
