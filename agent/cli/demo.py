"""`reticent demo`: eight requests of a fictional developer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from agent.cli.options import json_option, record
from agent.cli.printing import Column, facts, paragraph, strong, table
from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.words.decisions import at_least
from agent.words.figures import HELPS, UNKNOWN, bits, counted, people
from agent.words.outcomes import WHY_NOTHING
from agent.words.titles import facts as facts_of

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
    "dev_web": "yes",
    "dev_mobile": "no",
    "dev_desktop": "no",
    "dev_dba": "no",
    "dev_devops": "no",
    "dev_sysadmin": "no",
    "dev_embedded": "no",
    "dev_data": "yes",
    "dev_graphics": "no",
    "dev_design_qa": "no",
    "int_javascript": "yes",
    "int_sql": "yes",
    "int_java": "no",
    "int_dotnet": "no",
    "int_python": "yes",
    "int_php": "no",
    "int_c_cpp": "no",
    "int_ruby": "no",
    "int_apple": "no",
    "int_stats": "no",
    "int_systems": "no",
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
        entries.append(Entry(decision, values, knowledge, people_who_fit(knowledge, model)))
    return tuple(entries)


def known_to(recipient: str, entries: Iterable[Entry]) -> Knowledge:
    """Return what a recipient holds: what it held after the last answer it received."""
    held = [entry.knowledge for entry in entries if entry.recipient == recipient]
    return held[-1] if held else Knowledge()


def told(knowledge: Knowledge, values: Mapping[str, str], model: Model) -> Knowledge:
    """Return what a recipient holds once it was told these values; those of a request pass."""
    attributes = [model.attributes[model.index(name)] for name in values]
    person = [each for each in attributes if each.scope == "person"]
    return knowledge.learns({each.name: each.code(values[each.name]) for each in person})


def values_held(knowledge: Knowledge, model: Model) -> dict[str, str]:
    """Return the values a recipient holds, by attribute."""
    attributes = {name: model.attributes[model.index(name)] for name in knowledge.names}
    return {name: attributes[name].values[code] for name, code in knowledge.codes}


def people_who_fit(knowledge: Knowledge, model: Model) -> int:
    """Return how many of the model's people have the values that are known."""
    return model.crowd([(model.index(name), code) for name, code in knowledge.codes]).people


def gained(query: str, names: Iterable[str], model: Model) -> float:
    """Return the bits that disclosing these attributes gains for a query, 0 if it is unknown."""
    meant = model.match(query)
    mask = sum(1 << model.index(name) for name in names)
    return 0.0 if meant is None else model.utility(meant).value(mask)


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
        matched = decision.matched_query
        lines += [("read as", matched.replace("_", " "))] if matched else []
        lines += [
            ("withheld", _withheld(entry, model)),
            ("helps", f"{bits(decision.figures.utility)} {HELPS}"),
            ("proven", _certificate(entry)),
        ]
    title = f'{number}. {entry.recipient} is asked "{decision.request.query}"'
    return "\n".join([strong(title), paragraph(verdict, "  "), *([facts(lines)] if lines else [])])


def recipients_text(recipients: Sequence[str], entries: Sequence[Entry], model: Model) -> str:
    """Return what each recipient holds in the end."""
    lines = []
    for recipient in recipients:
        values = values_held(known_to(recipient, entries), model)
        lines.append((recipient, values_text(values, model)))
    return f"{strong('What each recipient knows in the end')}\n{facts(lines)}"


def comparison_text(recipients: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same requests decided in other ways, a line each."""
    title = "The same requests otherwise: mean bits, and how many look like her in the end"
    columns = [Column(title, right=True) for title in ("bits", *recipients)]
    return f"{strong(title)}\n{table([Column('', wraps=True), *columns], rows)}"


def values_text(values: Mapping[str, str], model: Model) -> str:
    """Return attributes with their values, by their titles."""
    titles = {each.name: each.title for each in model.attributes}
    return "; ".join(facts_of(values, titles)) or "nothing"


def _withheld(entry: Entry, model: Model) -> str:
    """Return how many are withheld, and which new ones came nearest to being worth it."""
    candidates = entry.decision.candidates
    held_back = [each for each in candidates if not each.disclosed and each.reason != "not set"]
    new = [each for each in held_back if each.cost_bits]
    nearest = sorted(new, key=lambda each: (-each.net_bits, each.name))[:2]
    misses = " and ".join(
        f"{model.attributes[model.index(each.name)].title} "
        f"({bits(each.gain_bits, signed=True)} bits for a price of {bits(each.cost_bits)})"
        for each in nearest
    )
    return f"{counted(len(held_back), 'other fact')}; nearly worth it: {misses or 'none'}"


def _certificate(entry: Entry) -> str:
    evidence = entry.decision.evidence
    if evidence.certified is None:
        return "nothing"
    return at_least(evidence.certified)


@click.command()
@click.option("--explain", is_flag=True, help="Show the figures behind each decision as well.")
@json_option
def demo(*, explain: bool, as_json: bool) -> None:
    """Watch eight requests of a fictional developer.

    They are decided with the model that comes with reticent. Nothing is stored or sent.
    """
    model = read(shipped_model())
    entries = converse(REQUESTS, PROFILE, model, Terms())
    if as_json:
        click.echo(record({"requests": [_request(each) for each in entries]}))
        return
    click.echo(paragraph(_introduction(model)))
    for number, entry in enumerate(entries, 1):
        click.echo(f"\n{request_text(number, entry, model, explain=explain)}")
    click.echo(f"\n{recipients_text(RECIPIENTS, entries, model)}")
    if explain:
        click.echo(f"\n{comparison_text(RECIPIENTS, _ways(entries, model))}")
        click.echo(f"\n{paragraph(CERTIFIED)}")
    click.echo(f"\n{paragraph(_ending(entries, model))}")


def _request(entry: Entry) -> dict[str, object]:
    """Return what one request carried, and what that brought and cost."""
    return {
        "recipient": entry.recipient,
        "query": entry.decision.request.query,
        "disclosed": dict(entry.values),
        "utility_bits": entry.decision.figures.utility,
        "people_left": entry.people_left,
    }


def _introduction(model: Model) -> str:
    return (
        f"{NAME}, a fictional developer, has told reticent {len(PROFILE)} facts about herself. "
        f"She makes {len(REQUESTS)} requests to two sites. With each, reticent sends the few facts "
        f"that help, and keeps her one of many among {people(model.population.people)} people of a "
        "survey."
    )


def _ending(entries: Sequence[Entry], model: Model) -> str:
    """Return how it ended, and what sharing everything would have done."""
    left = [people(people_who_fit(known_to(each, entries), model)) for each in RECIPIENTS]
    whole = people_who_fit(told(Knowledge(), PROFILE, model), model)
    fits = f"only {people(whole)} would" if whole else "nobody else would"
    return (
        f"In the end {NAME} was served better, and still looks like {left[0]} people to "
        f"{RECIPIENTS[0]} and like {left[1]} to {RECIPIENTS[1]}. Had she sent all {len(PROFILE)} "
        f"facts, {fits} have looked like her: each site could have recognised her."
    )


def _ways(entries: Sequence[Entry], model: Model) -> list[list[str]]:
    """Return a line for each way to decide the same requests."""
    standing = Terms(mode="standing")
    forgetful = converse(REQUESTS, PROFILE, model, Terms(), memory=False)
    constant = converse(REQUESTS, PROFILE, model, standing)
    return [
        _way("reticent, as above", entries, model),
        _way("deciding without memory", forgetful, model),
        _way("one standing set", constant, model),
        _everything(model),
    ]


def _way(name: str, entries: Sequence[Entry], model: Model) -> list[str]:
    gains = [gained(each.decision.request.query, each.values, model) for each in entries]
    held = [known_to(recipient, entries) for recipient in RECIPIENTS]
    return [
        name,
        bits(sum(gains) / len(gains)),
        *(_fitting(knowledge, model) for knowledge in held),
    ]


def _everything(model: Model) -> list[str]:
    """Return the line for attaching every fact to every request."""
    left = people(people_who_fit(told(Knowledge(), PROFILE, model), model))
    return [f"sharing all {len(PROFILE)} facts", UNKNOWN, *(left for _ in RECIPIENTS)]


def _fitting(knowledge: Knowledge, model: Model) -> str:
    return people(people_who_fit(knowledge, model))
