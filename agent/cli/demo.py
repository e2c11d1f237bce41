"""`reticent demo`: eight requests of a fictional developer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from agent.cli.options import Answer, answers
from agent.cli.printing import facts, numeric, paragraph, strong, table, wide
from agent.daemon.worded import meant_by
from agent.decision.decide import Decision, decide
from agent.decision.replay import bits_of
from agent.decision.request import Knowledge, Request, people_left
from agent.decision.terms import Terms
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.words.decisions import at_least
from agent.words.figures import HELPS, UNKNOWN, bits, counted, people
from agent.words.outcomes import WHY_NOTHING
from agent.words.titles import facts as facts_of
from agent.words.titles import read_as

NAME = "Mara"
PROFILE = {
    "gender": "female",
    "region": "west_europe",
    "education": "bachelor",
    "major": "computer_science",
    "employment": "self_employed",
    "occupation": "developer",
    "student": "no",
    "hobby": "hobby_and_oss",
    "remote": "always",
    "years_program": "10_19",
    "career_sat": "high",
    "job_sat": "mid",
    "job_seeking": "open",
    "work_start": "10am",
    **dict.fromkeys(("dev_web", "dev_data"), "yes"),
    **dict.fromkeys(("int_javascript", "int_sql", "int_python"), "yes"),
    **dict.fromkeys(("dev_mobile", "dev_desktop", "dev_dba", "dev_devops", "dev_sysadmin"), "no"),
    **dict.fromkeys(("dev_embedded", "dev_graphics", "dev_design_qa"), "no"),
    **dict.fromkeys(("int_java", "int_dotnet", "int_php", "int_c_cpp", "int_ruby"), "no"),
    **dict.fromkeys(("int_apple", "int_stats", "int_systems"), "no"),
}
SEARCH, JOBS = "search.example", "jobs.example"
REQUESTS = (
    (SEARCH, "editor"),
    (SEARCH, "framework used"),
    (JOBS, "job site"),
    (SEARCH, "tabs/spaces"),
    (SEARCH, "knee pain"),
    (JOBS, "heard of job"),
    (SEARCH, "version control"),
    (JOBS, "benefits"),
)
Asked = tuple[str, str]  # recipient, query
RECIPIENTS = (SEARCH, JOBS)
CERTIFIED = (
    "Certified is what holds if gains shrink as a set grows, which is not proven; where one "
    "was seen to grow, nothing is. Such bounds are loose, so small shares are normal."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer: the decision, the values that left with it, and who still fits afterwards.

    ``knowledge``: all that the recipient holds from then on; ``people_left``: how many of the
    model's people agree with it.
    """

    decision: Decision
    values: Mapping[str, str]
    knowledge: Knowledge
    people_left: int

    @property
    def recipient(self) -> str:
        """Who received it."""
        return self.decision.request.recipient


def converse(
    requests: Iterable[Asked],
    profile: Mapping[str, str],
    model: Model,
    terms: Terms,
    *,
    memory: bool = True,
) -> tuple[Entry, ...]:
    """Return an entry per request, each decided in the light of those before it.

    Without ``memory`` each is decided as if it were the first to its recipient.
    """
    terms = replace(terms, available=frozenset(profile))
    entries: list[Entry] = []
    for recipient, query in requests:
        held = known_to(recipient, entries)
        request = Request(query, recipient)
        decision = decide(request, terms, held if memory else Knowledge(), model)
        # Only now, with the set fixed, is the profile read (DESIGN.md 2.6).
        values = {name: profile[name] for name in decision.disclosed}
        knowledge = told(held, values, model)
        entries.append(Entry(decision, values, knowledge, people_left(knowledge, model)))
    return tuple(entries)


def known_to(recipient: str, entries: Iterable[Entry]) -> Knowledge:
    """Return what a recipient holds: what it held after the last answer it received."""
    held = [entry.knowledge for entry in entries if entry.recipient == recipient]
    return held[-1] if held else Knowledge()


def told(knowledge: Knowledge, values: Mapping[str, str], model: Model) -> Knowledge:
    """Return what a recipient holds once it was told these values; those of a request pass."""
    attributes = [model.attributes[model.index(name)] for name in values]
    person = [each for each in attributes if each.scope == "person"]
    return knowledge.with_facts({each.name: each.code(values[each.name]) for each in person})


def request_text(number: int, entry: Entry, model: Model, *, explain: bool = False) -> str:
    """Return what one request carried and how many people still look like her; then the figures."""
    decision, again = entry.decision, entry.decision.again
    new = {name: value for name, value in entry.values.items() if name not in again}
    left = f"{people(entry.people_left)} people still look like her"
    if decision.status == "unknown query":
        lines, verdict = [], f"Sent nothing: {WHY_NOTHING['unknown query']}; {left}."
    else:
        what = counted(len(new), "fact") if new else "nothing new"
        verdict = f"Sent {what}; {left}."
        lines = [("new", values_text(new, model))] if new else []
        old = {name: entry.values[name] for name in again}
        lines += [("again", values_text(old, model))] if old else []
    if explain and decision.status != "unknown query":
        lines += _figures(decision, model)
    title = f'{number}. {entry.recipient} is asked "{decision.request.query}"'
    return "\n".join([strong(title), paragraph(verdict, "  "), *([facts(lines)] if lines else [])])


def _figures(decision: Decision, model: Model) -> Iterator[tuple[str, str]]:
    """Yield what the query was read as, what came nearest to being worth it, and what is proven."""
    if decision.matched_query:
        yield "read as", read_as(meant_by(decision.reading, model))
    withheld = [e for e in decision.candidates if not e.disclosed and e.reason != "not set"]
    new = (each for each in withheld if each.cost_bits)
    misses = " and ".join(
        f"{model.attributes[model.index(each.name)].title} "
        f"({bits(each.gain_bits, signed=True)} bits for a price of {bits(each.cost_bits)})"
        for each in sorted(new, key=lambda each: (-each.net_bits, each.name))[:2]
    )
    nearest = misses or "none"
    yield "withheld", f"{counted(len(withheld), 'other fact')}; nearly worth it: {nearest}"
    yield "helps", f"{bits(decision.figures.utility)} {HELPS}"
    share = decision.evidence.certified
    yield "proven", "nothing" if share is None else at_least(share)


def recipients_text(entries: Sequence[Entry], model: Model) -> str:
    """Return what each recipient holds in the end."""
    lines = []
    for recipient in dict.fromkeys(each.recipient for each in entries):
        codes = known_to(recipient, entries).codes
        values = {name: model.attributes[model.index(name)].values[code] for name, code in codes}
        lines.append((recipient, values_text(values, model)))
    return f"{strong('What each recipient knows in the end')}\n{facts(lines)}"


def comparison_text(entries: Sequence[Entry], model: Model) -> str:
    """Return the same requests decided in other ways, a line each."""
    ways = {
        "reticent, as above": entries,
        "deciding without memory": converse(REQUESTS, PROFILE, model, Terms(), memory=False),
        "one standing set": converse(REQUESTS, PROFILE, model, Terms(mode="standing")),
    }
    rows = []
    for name, way in ways.items():
        gains = [bits_of(each.decision.request.query, each.values, model) for each in way]
        left = (people(people_left(known_to(each, way), model)) for each in RECIPIENTS)
        rows.append((name, bits(sum(gains) / len(gains)), *left))
    least = people(people_left(told(Knowledge(), PROFILE, model), model))
    rows.append((f"sharing all {len(PROFILE)} facts", UNKNOWN, *(least for _ in RECIPIENTS)))
    title = "The same requests otherwise: mean bits, and how many look like her in the end"
    columns = (numeric(each) for each in ("bits", *RECIPIENTS))
    return f"{strong(title)}\n{table([wide(''), *columns], rows)}"


def values_text(values: Mapping[str, str], model: Model) -> str:
    """Return attributes with their values, by their titles."""
    titles = {each.name: each.title for each in model.attributes}
    return "; ".join(facts_of(values, titles)) or "nothing"


@click.command()
@click.option("--explain", is_flag=True, help="Show the figures behind each decision as well.")
@answers
def demo(*, explain: bool) -> Answer:
    """Watch eight requests of a fictional developer.

    They are decided with the model that comes with reticent. Nothing is stored or sent.
    """
    model = read(shipped_model("so2017"))
    entries = converse(REQUESTS, PROFILE, model, Terms())
    begins = (
        f"{NAME}, a fictional developer, has told reticent {len(PROFILE)} facts about herself. "
        f"She makes {len(REQUESTS)} requests to two sites. With each, reticent sends the few facts "
        f"that help, and keeps her one of many among {people(model.population.rows)} people of a "
        "survey."
    )
    left = [people(people_left(known_to(each, entries), model)) for each in RECIPIENTS]
    whole = people_left(told(Knowledge(), PROFILE, model), model)
    fits = f"only {people(whole)} would" if whole else "nobody else would"
    ends = (
        f"In the end {NAME} was served better, and still looks like {left[0]} people to "
        f"{RECIPIENTS[0]} and like {left[1]} to {RECIPIENTS[1]}. Had she sent all {len(PROFILE)} "
        f"facts, {fits} have looked like her: each site could have recognised her."
    )
    compared = [comparison_text(entries, model), paragraph(CERTIFIED)] if explain else []
    parts = [
        paragraph(begins),
        *(request_text(n, each, model, explain=explain) for n, each in enumerate(entries, 1)),
        recipients_text(entries, model),
        *compared,
        paragraph(ends),
    ]
    requests = [
        {
            "recipient": each.recipient,
            "query": each.decision.request.query,
            "disclosed": dict(each.values),
            "utility_bits": each.decision.figures.utility,
            "people_left": each.people_left,
        }
        for each in entries
    ]
    return Answer({"requests": requests}, "\n\n".join(parts))
