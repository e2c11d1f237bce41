"""How the daemon reads: by the surest model, once the encoder is there, less what was corrected."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.daemon.model_registry import UNREADABLE, Keys, TextReader
from agent.errors import LockedError, UsageError
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation, normalise, spelling
from agent.vault.profile import Corrections
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.state import NotThat
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

    def read(self, texts: Sequence[str]) -> list[Interpretation]:
        """Return the reading of each text."""
        return [
            Interpretation.of(self.texts.get(normalise(each), ()), self.threshold) for each in texts
        ]


def reading_model(texts: Shares, seed: int = 1, threshold: float = 0.5) -> Model:
    """Return a model of five queries that reads these texts beside its names."""
    made = made_model(seed, queries=5)
    saying = Saying(texts, threshold)
    return replace(made, tables=replace(made.tables, classifier=saying))  # type: ignore[arg-type]


def loaded(models: Sequence[Model]) -> TextReader:
    """Return a reader whose encoder is there."""
    reader = TextReader(lambda: None)
    reader.begin(models)
    asyncio.run(reader.ready("x", models, 5.0))
    assert reader.state == "loaded"
    return reader


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_the_surest_reading_decides(shares: list[float]) -> None:
    """Of equals the first model; the first of all where none is sure."""
    models = [reading_model({TEXT: [share]}, seed) for seed, share in enumerate(shares)]
    model, reading = loaded(models).surest(TEXT, models)
    sure = [share if share >= 0.5 else 0.0 for share in shares]
    assert model is models[sure.index(max(sure))]
    assert reading.probability == max(sure)


def test_an_exact_name_is_the_surest_of_all() -> None:
    """Whatever another model takes it for."""
    models = [reading_model({PYTHON: [0, 1.0]}), made_model(2)]
    models[0] = replace(
        models[0], queries=tuple(replace(q, text=f"x{q.text}") for q in models[0].queries)
    )
    model, reading = loaded(models).surest(PYTHON, models)
    assert (model, reading) == (models[1], Interpretation.exact(0))
    waiting = TextReader(lambda: None)
    assert waiting.surest(PYTHON, models) == (model, reading)  # and so before the encoder is there


def test_only_names_are_read_before_the_encoder_is_there() -> None:
    """A text waits for it a moment, an exact name not at all; others are answered meanwhile."""
    nameless = replace(
        made_model(2), queries=tuple(replace(q, text=f"x{q.text}") for q in made_model(2).queries)
    )
    models, go = [reading_model({TEXT: [0.9]}), nameless], Event()

    def load() -> None:
        assert go.wait(20)

    reader = TextReader(load)
    reader.begin(models)
    reader.begin(models)  # a second unlocking begins nothing

    async def asked() -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await reader.ready(PYTHON, models)
        assert loop.time() - start < 0.5
        late = asyncio.create_task(reader.ready(TEXT, models, 0.05))
        await asyncio.sleep(0)
        assert not late.done()  # it stands aside for others
        await late
        assert reader.state == "loading"
        assert reader.read(TEXT, models[0]) == NOTHING
        assert reader.read(PYTHON, models[0]) == Interpretation.exact(0)
        waits = asyncio.create_task(reader.ready(TEXT, models, 20))
        await asyncio.sleep(0.01)
        go.set()
        await waits
        assert reader.read(TEXT, models[0]).query == 0

    asyncio.run(asked())


def test_a_failure_to_load_is_said_once_and_names_go_on(caplog: pytest.LogCaptureFixture) -> None:
    """The next unlocking tries again."""
    models, tries = [reading_model({TEXT: [0.9]})], list[int]()

    def load() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("/home/somebody")

    reader = TextReader(load)
    reader.begin(models)
    asyncio.run(reader.ready(TEXT, models, 5.0))
    assert reader.problem == "the encoder cannot be loaded: OSError"
    assert [each.getMessage().partition(" in ")[0] for each in caplog.records] == [
        "the encoder cannot be loaded: OSError"
    ]
    assert reader.read(TEXT, models[0]) == NOTHING
    assert reader.read(PYTHON, models[0]) == Interpretation.exact(0)
    reader.begin(models)
    asyncio.run(reader.ready(TEXT, models, 5.0))
    assert reader.state == "loaded"
    assert len(tries) == 2


def test_nothing_is_loaded_that_no_model_needs() -> None:
    """A model that knows names alone needs no encoder."""
    reader = TextReader(lambda: pytest.fail("it was loaded"))
    reader.begin([made_model(1)])
    assert reader.state == "absent"


@settings(max_examples=25)
@given(st.sets(st.integers(0, 4)), st.permutations([0.1, 0.15, 0.2, 0.3]))
def test_corrections_take_candidates_out(gone: set[int], shares: list[float]) -> None:
    """For this model and this text alone, however that is written."""
    model = reading_model({TEXT: shares}, threshold=0.18)
    reader = loaded([model])
    reader.corrections = Corrections(Items(MemoryStore()))
    whole = reader.read(TEXT, model)
    for each in gone:
        reader.corrections.add(f" {TEXT.upper()}", model.id, model.queries[each].text)
    assert reader.read(TEXT, model) == whole.without(gone)
    assert reader.read(PYTHON, model) == Interpretation.exact(0)
    other = replace(model, id="other")
    assert reader.read(TEXT, other) == whole


class Only(OneModel):
    """A registry of one model, by whatever name."""

    def of(self, name: str | None, keys: Keys, now: datetime) -> Model:
        """Return the model."""
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
    agent.reader.corrections = Corrections(agent.vault.items)
    return opened


def test_the_encoder_loads_once_the_vault_is_open(reads: Home) -> None:
    """Whoever only looks needs none; it stays for the next unlocking, and the status says so."""
    calls, agent, loads = reads.calls, reads.agent, list[int]()
    agent.reader = TextReader(lambda: loads.append(1))
    calls.lock()
    calls.models()
    assert (calls.status().encoder, loads) == ("absent", [])
    for _ in range(2):
        asyncio.run(calls.unlock(OPEN))
        asyncio.run(agent.reader.ready(TEXT, agent.usable_models(reads.now), 5.0))
        assert calls.lock().encoder == "loaded"
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
    site = agent.vault.ledger.disclosures.queries(SHOP, lambda site: site)
    assert site == {PYTHON: 0.62, "restaurants today": 0.2}
    found = calls.not_that(NotThat(entry=answer.id))
    assert (found.done, found.query, found.read_as, found.now) == (True, TEXT, [meant], None)
    assert corrected(found).startswith(f"It will not be read as '{PYTHON}' again. ")
    again = calls.decide(Ask(query=TEXT.title(), recipient=SHOP))
    assert (again.code, again.attributes) == ("unknown query", {})
    assert not calls.not_that(NotThat(entry=answer.id)).done
    with pytest.raises(UsageError, match="not understood"):
        calls.not_that(NotThat(query=TEXT))
    assert calls.decide(Ask(query=PYTHON, recipient=SHOP)).code == "answered"
    calls.undo()
    assert calls.decide(Ask(query=TEXT, recipient=SHOP)).code == "answered"
    assert calls.not_that(NotThat(query=TEXT, recipient=SHOP)).done
    back = calls.not_that(NotThat(query=TEXT, undo=True))
    assert (back.done, back.now) == (True, meant)


def test_it_lasts_beyond_a_lock_and_stands_in_no_file(reads: Home) -> None:
    """Sealed in the vault: no policy, log or other file has the text."""
    calls, agent = reads.calls, reads.agent
    assert calls.not_that(NotThat(query=TEXT)).done
    [kept] = calls.corrections()
    assert (kept.text, kept.query) == (spelling(TEXT), PYTHON)
    assert TEXT not in repr(kept)
    calls.lock()
    for call in (calls.corrections, partial(calls.not_that, NotThat(query=TEXT))):
        with pytest.raises(LockedError):
            call()
    places = [each.parent for each in (reads.paths.policy, reads.paths.log, agent.place.vault)]
    files = [path for place in {*places, reads.paths.state} for path in place.rglob("*")]
    for path in filter(Path.is_file, files):
        assert b"zqxj" not in path.read_bytes(), path
    asyncio.run(calls.unlock(OPEN))
    assert calls.decide(Ask(query=TEXT, recipient=SHOP)).code == "unknown query"


def test_there_is_one_text_to_correct(reads: Home) -> None:
    """An entry that discloses something, or a text."""
    for wrong in (NotThat(), NotThat(entry=1, query=TEXT), NotThat(entry=9)):
        with pytest.raises(UsageError):
            reads.calls.not_that(wrong)


def test_the_status_says_that_texts_are_not_read(reads: Home) -> None:
    """And so does `doctor`, which shows the notes."""

    def fail() -> None:
        raise OSError

    models = reads.agent.usable_models(reads.now)
    reads.agent.reader = reader = TextReader(fail)
    reader.begin(models)
    asyncio.run(reader.ready(TEXT, models, 5.0))
    assert f"{UNREADABLE}the encoder cannot be loaded: OSError" in reads.calls.status().notes
