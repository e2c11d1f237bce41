"""What a search log has of the paper's shares, counted as a model of it is (agent/build/log)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.build.log.read import open_log
from agent.build.log.source import source_of
from agent.build.tables import INTENT, QUERY, USER
from agent.lab.synth.marginals import MARGINALS, Marginal

if TYPE_CHECKING:
    import ibis

    from agent.build.options import LogFiles


class Measured(NamedTuple):
    """A log's sizes, and its share of each of MARGINALS.

    ``people``, ``queries``, ``texts``: how many there are; ``min_users``: how many ask the text
    that the fewest ask.
    """

    people: int
    queries: int
    texts: int
    min_users: int
    shares: tuple[tuple[Marginal, float], ...]


def measured(files: LogFiles) -> Measured:
    """Return what the tables of a log have; errors as `open_log`."""
    log = open_log(files)
    source = source_of(log)
    people = _row(source.users, _of_people(source.users))
    classified = log.sites.filter(log.sites.topic.notnull()).host
    queries = _row(source.events, _of_queries(source.events, classified))
    texts = source.events.group_by(QUERY).aggregate(users=source.events[USER].nunique())
    crowds = _row(texts, {"texts": texts.count(), "users": texts.users.min()})
    shares = people | queries
    return Measured(
        people=int(people["count"]),
        queries=int(queries["count"]),
        texts=int(crowds["texts"]),
        min_users=int(crowds["users"]),
        shares=tuple((each, float(shares[each.name])) for each in MARGINALS),
    )


def _of_people(users: ibis.Table) -> dict[str, ibis.Value]:
    """Return the shares of all people, each by its name in MARGINALS."""
    said = {
        "gender_female": users.gender == "female",
        "gender_male": users.gender == "male",
        "age_under_18": users.age_group == "under_18",
        "age_18_to_55": users.age_group == "18_to_55",
        "age_over_55": users.age_group == "over_55",
        "occupation_given": users.occupation.notnull(),
        "student": users.occupation == "student",
        "region_us_canada": users.region == "us_canada",
        "region_europe": users.region == "europe",
        "region_asia": users.region == "asia",
    }
    active = ("daily", "several_zips", "several_cities", "several_countries")
    said |= {name: users[name] == "yes" for name in active}
    return {"count": users.count(), **{name: _share(holds) for name, holds in said.items()}}


def _of_queries(events: ibis.Table, classified: ibis.Value) -> dict[str, ibis.Value]:
    """Return the shares of all queries."""
    holds = {
        "asked_before": events.asked_before == "yes",
        "visited_before": events.visited_before == "yes",
        "domain_known": events.top_level_domain.notnull(),
        "working_hours": events.working_hours == "yes",
        "workday": events.workday == "yes",
        "topic_known": events[INTENT].isin(classified),
    }
    return {"count": events.count(), **{name: _share(each) for name, each in holds.items()}}


def _share(holds: ibis.Value) -> ibis.Value:
    return holds.cast("int8").fill_null(0).mean()


def _row(table: ibis.Table, values: dict[str, ibis.Value]) -> dict[str, float]:
    """Return one row of what is counted."""
    row: dict[str, float] = table.aggregate(**values).to_pyarrow().to_pylist()[0]
    return row
