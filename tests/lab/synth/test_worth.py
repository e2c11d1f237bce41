"""What the synthetic log is for: utility and cost as in the paper's section 7.1."""

from functools import cache

import numpy as np
import pytest

from agent.build.log import open_log, source_of
from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, LogFiles
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import singleton
from agent.tradeoff.utility import Estimator, MeanUtility, query_utility
from tests.build.worlds import QUIET

pytestmark = QUIET
SMALL, LARGE = 0.1, 100.0  # shrinkages: as little smoothing as fits the paper's; what louo wants
EVERY = 12  # of the queries are enough
# The order of Fig. 6.
ORDER = [
    *("occupation", "top_level_domain", "age_group", "several_cities", "asked_before"),
    *("visited_before", "working_hours", "topic_adult", "workday", "topic_home"),
    *("topic_consumer_information", "gender", "topic_games", "topic_regional"),
]
SEARCH = ["top_level_domain", "workday", "working_hours", "daily"]


@pytest.fixture(scope="module")
def seen(files: LogFiles) -> Observations:
    """What a model of the log is made of."""
    options = BuildOptions(**files._asdict())
    return observe(source_of(open_log(files)), options)


def mean(seen: Observations, estimator: Estimator, shrinkage: float) -> MeanUtility:
    """Return the utility over some of the queries, weighted by how often they are asked."""
    some = seen.queries[::EVERY]
    each = [query_utility(query.rows, seen.cards, estimator, shrinkage) for query in some]
    return MeanUtility(each, np.array([len(query.rows.user) for query in some], dtype=float))


def mask(seen: Observations, names: list[str]) -> int:
    """Return the set of some attributes."""
    places = {attribute.name: place for place, attribute in enumerate(seen.attributes)}
    return sum(singleton(places[name]) for name in names)


def test_utility_levels_off_where_the_papers_does(seen: Observations) -> None:
    """Fig. 6: about 1.92 bits, most of them by the first seven; Fig. 11: 0.8 by the search."""
    plugin = mean(seen, "plugin", SMALL)
    along = [plugin.value(mask(seen, ORDER[:count])) for count in range(len(ORDER) + 1)]
    gains = np.diff(along)
    assert along[-1] == pytest.approx(1.92, abs=0.3)
    assert along[7] > 0.85 * along[-1]
    assert gains[:3].min() > 4 * gains[-5:].max()
    everything = plugin.value((1 << len(seen.attributes)) - 1)
    assert everything == pytest.approx(along[-1], abs=0.1)
    assert plugin.value(mask(seen, SEARCH)) == pytest.approx(0.8, abs=0.15)


def test_some_of_it_is_true(seen: Observations) -> None:
    """Others' rows predict: by what people do and their age, not by what says nothing here."""
    louo = mean(seen, "louo", LARGE)
    found = {each.name: louo.value(mask(seen, [each.name])) for each in seen.attributes}
    assert min(found["age_group"], found["occupation"]) > 0.05
    assert found["top_level_domain"] > 0.01
    assert found["children"] < 0.005 > found["several_countries"]


def test_people_are_recognised_by_everything_and_by_little_not(seen: Observations) -> None:
    """Fig. 7: the cost grows slowly at first, and in the end nearly everybody is alone."""
    crowd = AnonymitySet(seen.population, seen.cards)
    persons = [each.name for each in seen.attributes if each.scope == "person"]

    @cache
    def cost(count: int) -> float:
        return crowd.identifiability(mask(seen, persons[:count]), "maxprob", 1)

    assert cost(len(persons)) > 0.8
    assert cost(len(persons) // 2) < 0.5 * cost(len(persons))
    topics = mask(seen, [name for name in persons if name.startswith("topic_")])
    assert crowd.identifiability(topics, "maxprob", 1) == pytest.approx(0.6, abs=0.1)
    assert crowd.identifiability(topics, "k-anonymity", 100) < 1
