"""What the paper says of its search log, as data: each number with its place (section 5)."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

PEOPLE, QUERIES, TEXTS = 9_523, 247_684, 914  # section 5
MIN_USERS = 30  # of a query
SOURCE = "SOURCE.md"  # beside a written log: that it is synthetic, and what is assumed
FIRST_DAY, LAST_DAY = date(2005, 12, 1), date(2007, 1, 31)  # 14 months; the days are ours


class Marginal(NamedTuple):
    """One published share: ``name`` of what is counted, ``words`` for it, its ``place``."""

    name: str
    words: str
    share: float
    place: str


MARGINALS = (
    Marginal("gender_female", "people who say female", 0.42, "5.1"),
    Marginal("gender_male", "people who say male", 0.44, "5.1"),
    Marginal("age_under_18", "people who say under 18", 0.08, "5.1"),
    Marginal("age_18_to_55", "people who say 18 to 55", 0.53, "5.1"),
    Marginal("age_over_55", "people who say 55 and older", 0.33, "5.1"),
    Marginal("occupation_given", "people who say an occupation", 0.57, "5.1"),
    Marginal("student", "people who say student", 0.10, "5.1"),
    Marginal("region_us_canada", "people who say US or Canada", 0.53, "5.1"),
    Marginal("region_europe", "people who say European Union", 0.07, "5.1"),
    Marginal("region_asia", "people who say Asia", 0.03, "5.1"),
    Marginal("asked_before", "queries asked before", 0.70, "5.2"),
    Marginal("visited_before", "clicks on a site visited before", 0.53, "5.2"),
    Marginal("daily", "people who ask once a day or more", 0.47, "5.2"),
    Marginal("domain_known", "queries from .com .net .org .edu", 0.83, "5.2"),
    Marginal("several_zips", "people in several zip codes", 0.31, "5.2"),
    Marginal("several_cities", "people in several cities", 0.31, "5.2"),
    Marginal("several_countries", "people in several countries", 0.02, "5.2"),
    Marginal("working_hours", "queries in working hours", 0.40, "5.2"),
    Marginal("workday", "queries on workdays", 0.73, "5.2"),
    Marginal("topic_known", "queries whose topic is known", 0.96, "5.3"),
)
PUBLISHED = {each.name: each.share for each in MARGINALS}
