"""A model of 60 people, made by arithmetic; policy files; vaults that are fast to open."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.model.attributes import Attribute, Query
from agent.model.model import Model
from agent.model.tables import gather
from agent.paths import paths
from agent.tradeoff.tables import Kinds, Population, QueryRows
from agent.vault.seal import Derivation
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.decision.made import SHRINKAGE, singles_of
from tests.vault.worlds import create

PEOPLE = 60
INTENTS = {"weather": ("rain", "snow", "tides"), "music": ("choir", "club")}
ATTRIBUTES = (
    Attribute("region", "Region", "person", ("unspecified", "coast", "hills", "town")),
    Attribute("hobby", "Hobby", "person", ("unspecified", "no", "yes")),
    Attribute("shoe_size", "Size", "person", ("unspecified", *(f"s{each}" for each in range(30)))),
    Attribute("at_work", "At work", "request", ("unspecified", "no", "yes")),
)
CARDS = tuple(len(each.values) for each in ATTRIBUTES)


def cli_model() -> Model:
    """Return the model: region decides about the weather, hobby about music, the rest is noise."""
    person = _people()
    weather = _rows(person, (person[:, 0].astype(np.intp) - 1) % 3, 3)
    music = _rows(person, (person[:, 1].astype(np.intp) - 1) % 2, 2)
    counts = np.stack([np.zeros(PEOPLE), np.full(PEOPLE, 1), np.full(PEOPLE, 1)], axis=1)
    population = Population(person, None, (Kinds.of(counts.astype(np.uint8)),))
    queries = [weather, music]
    return Model(
        id="village",
        source="invented",
        licence="CC0-1.0",
        estimator="louo",
        attributes=ATTRIBUTES,
        queries=tuple(
            _query(*each) for each in zip(INTENTS.items(), queries, (0.5, None), strict=True)
        ),
        tables=gather(population, queries, np.ones(2), singles_of(population, queries, CARDS)),
        options={"min_users": 2, "half": None, "shrinkages": (5.0, 10.0)},
        validation={"predicted_bits": 0.25},
    )


def _people() -> NDArray[np.uint8]:
    """Return the codes of the person attributes; every tenth has no hobby set."""
    number = np.arange(PEOPLE)
    hobby = np.where(number % 10 == 0, 0, number // 3 % 2 + 1)
    return np.stack([number % 3 + 1, hobby, number // 2 + 1], axis=1).astype(np.uint8)


def _rows(person: NDArray[np.uint8], wanted: NDArray[np.intp], intents: int) -> QueryRows:
    """Return one row per person, of whom every sixth wants what others want."""
    number = np.arange(PEOPLE)
    intent = np.where(number % 6 == 5, (wanted + 1) % intents, wanted)
    return QueryRows(
        number, intent, person, (number // 6 % 2 + 1)[:, None].astype(np.uint8), intents
    )


def _query(named: tuple[str, tuple[str, ...]], rows: QueryRows, heldout: float | None) -> Query:
    text, intents = named
    return Query(text, intents, SHRINKAGE, len(rows.user), PEOPLE, 1.5, heldout, heldout)


def no_constant(text: str) -> Any:  # noqa: ANN401 - as json wants it
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(f"{text} is not JSON")


WRONG = """\
preset = "balnaced"
anonymity_prise = 5

[[rule]]
recipient = "books.example"
attribute = "gender"
disclose = "nevr"
k = 5
"""
RIGHT = """\
preset = "strict"
anonymity_price = 0.025

[groups]
adverts = ["ads.example"]

[queries]
block = ["debt"]

[attributes]
region = "auto"
hobby = { disclose = "ask", sensitivity = 0.25 }
sex = { guard = 1 }

[[rule]]
name = "books"
recipient = "books.example"
anonymity_price = 0.003
disclose = "auto"

[[rule]]
query = "novel*"
anonymity_price = 0.03

[[rule]]
recipient = "adverts"
nothing = true

[[together]]
facts = ["region", "sex"]
price = 1.5
"""
DEAD = """\
[attributes]
regoin = "ask"

[[rule]]
anonymity_price = 0.003
expires = 2020-01-01

[[rule]]
recipient = "books.example"
k = 4

[[rule]]
recipient = "books.example"
k = 5

[[test]]
recipient = "books.example"
days = "sun"
hours = "21:00-06:00"
k = 5
attributes_per_request = 3
"""

PASSPHRASE = "four random words here"  # noqa: S105  (that of an empty vault)
FAST = Derivation(memory_kib=64, iterations=1, lanes=1)  # far below what the command line makes


def made(home: Path) -> str:
    """Make an empty vault in the home of a test; return its recovery code."""
    assert home.is_dir()
    vault, code = create(here(), PASSPHRASE, FAST)
    vault.close()
    return code


def here() -> Location:
    return Location.of(paths())


def opened(text: str = PASSPHRASE) -> Vault:
    return unlock(here(), Secret("passphrase", text))
