"""The texts of synthetic queries: a subject of a topic, and what is asked about it."""

from __future__ import annotations

from agent.build.log.schema import TOPICS

# Of each topic eight subjects, in the order of TOPICS.
_SUBJECTS = """
guitar piano film theatre painting poetry concert animation
dating lingerie nightlife romance massage pinup adults flirting
invoice payroll stocks franchise banking mortgage startup insurance
laptop printer router database spreadsheet compiler modem backup
chess poker sudoku racing puzzle console arcade bingo
diabetes allergy vitamins backache asthma migraine pregnancy dentist
garden kitchen recipes carpet plumbing furniture curtains paint
homework cartoons lego dinosaurs braces prom skateboard crayons
election weather headlines traffic hurricane senate economy obituaries
camping fishing cruise hiking horses motorcycle sailing birds
dictionary atlas thesaurus translation university scholarship library maps
seattle toronto london chicago texas florida bavaria kyoto
physics astronomy genetics chemistry algebra geology robots climate
shoes jewelry perfume toys watches flowers handbags gifts
warranty recall ratings coupons lemonlaw refund complaints utilities
genealogy church wedding charity history folklore politics veterans
football baseball hockey tennis golf cycling olympics wrestling
spanish french german hindi chinese italian polish korean
"""
_ABOUT = ("", "reviews", "online", "near me", "for beginners", "prices", "jobs", "pictures")
_MORE = ("club", "help", "news", "guide")

SUBJECTS = dict(zip(TOPICS, (line.split() for line in _SUBJECTS.strip().splitlines()), strict=True))


def texts(topic: str, count: int) -> list[str]:
    """Return ``count`` different queries of a topic: up to 96, and no two topics share one."""
    pairs = [f"{subject} {about}" for about in (*_ABOUT, *_MORE) for subject in SUBJECTS[topic]]
    return [pair.strip() for pair in pairs[:count]]
