"""What a search becomes by what its header told: pure, and the same for searx and SearXNG.

README.md has the tables in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# What an engine can use of the facts that help a query of a shipped model at a price of 0.1.
INTERESTS = ("dev_web", "dev_devops", "int_java", "int_dotnet", "int_php")
STUDIES = {
    **dict.fromkeys(("not studying", "high school", "high school or GED, 18 or older"), False),
    "four-year college": True,
    "community college": True,
    "vocational or certificate": False,
    "graduate school": True,
}
USA, UK, LATIN = ("US", "CA"), ("GB", "AU", "IE", "NZ"), ("MX", "AR", "CL", "BR")
# Countries of a region, the one with most people first: the engine's own regions are countries.
REGIONS = {
    "usa_canada": USA,
    "uk_ireland_anz": UK,
    "latin_america": LATIN,
    "west_europe": ("DE", "FR", "IT", "ES", "NL", "BE", "PT", "CH", "AT"),
    "south_asia": ("IN",),
    "east_se_asia_other": ("CN", "TW", "HK"),
    "east_europe": (),  # of these two the engines know one region for each language
    "mid_east_africa": (),
}


def asked_of(languages: Collection[str]) -> dict[str, tuple[str, ...]]:
    """List what to ask for: the values by name; ``languages``: codes that the engine knows."""
    parts = [each.partition("-") for each in languages]
    return {
        "language": (*sorted({*languages, *(tongue for tongue, _, _ in parts)}),),
        "country": (*sorted({country for _, _, country in parts if country}),),
        "region": (*REGIONS,),
        "study_now": (*STUDIES,),
        **dict.fromkeys(INTERESTS, ("no", "yes")),
    }


def language_for(told: Mapping[str, str], usual: str, languages: Collection[str]) -> str:
    """Choose the code of the language to search in, with its region if that has one.

    ``told``: values by name; ``usual``: the code without them, which stays where the engine knows
    none that fits. A region narrows a language and never changes it.
    """
    wanted = told.get("language", usual)
    tongue, narrowed, _ = wanted.partition("-")
    nations = REGIONS.get(told.get("region", ""), ())
    nations = (told["country"],) if "country" in told else nations
    if narrowed and "language" in told:
        nations = ()
    fits = [*(f"{tongue}-{each}" for each in nations), wanted]
    if "language" in told:  # a language of which the engine has only regions
        fits += [tongue, *sorted(each for each in languages if each.startswith(f"{tongue}-"))]
    return next((each for each in fits if each in languages), usual)


def categories_for(told: Mapping[str, str]) -> tuple[str, ...]:
    """Choose the categories that are worth searching beside the general one."""
    programs = any(told.get(each) == "yes" for each in INTERESTS)
    studies = STUDIES.get(told.get("study_now", ""), False)
    return (*(["it"] if programs else []), *(["science"] if studies else []))
