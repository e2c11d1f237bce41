"""`reticent demo`: eight requests of a fictional mother of two."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

import click

from agent.cli.options import Output, answers
from agent.cli.printing import facts, numeric, paragraph, strong, table, wide
from agent.decision.cache import Cache
from agent.decision.decide import counted_among, decide
from agent.decision.knowledge import Knowledge, people_left, share_of
from agent.decision.terms import Terms
from agent.decision.values import Decision, Request
from agent.decision.what_if import bits_of
from agent.model.concepts import Concepts, Meaning, meaning_of
from agent.model.file import read, shipped_models
from agent.model.model import Model, surest
from agent.words.decisions import at_least
from agent.words.figures import HELPS, UNKNOWN, bits, counted, of_whom, people
from agent.words.titles import WHY_NOTHING, read_as
from agent.words.titles import facts as facts_of

Asked = tuple[str, str]  # recipient, query
NAME = "Mara"
_STORY = tomllib.loads((files("agent.cli") / "demo.toml").read_text("utf-8"))
PROFILE: Mapping[str, Mapping[str, str]] = _STORY["profile"]  # by the id of a model
REQUESTS: tuple[Asked, ...] = tuple((recipient, query) for recipient, query in _STORY["requests"])
FACTS = sum(map(len, PROFILE.values()))
RECIPIENTS = ("search.example", "jobs.example")  # who is asked most
TERMS = Terms(mode="planned")  # as every preset has it
CERTIFIED = (
    "Certified is what holds if gains shrink as a set grows, which is not proven; where one "
    "was seen to grow, nothing is. Such bounds are loose, so small shares are normal."
)


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """One answer: the decision, the values that left with it, and who still fits afterwards.

    ``model``: that decided; ``held``: all that the recipient holds from then on, a value by its
    concept; ``people_left``: how many of the model's people agree with it.
    """

    decision: Decision
    model: Model
    values: Mapping[str, str]
    held: Mapping[str, str]
    people_left: int

    @property
    def recipient(self) -> str:
        """Who received it."""
        return self.decision.request.recipient


def converse(
    requests: Iterable[Asked],
    profile: Mapping[str, Mapping[str, str]],
    models: Sequence[Model],
    terms: Terms,
    *,
    memory: bool = True,
) -> tuple[StoryEntry, ...]:
    """Return an entry per request, each decided in the light of those before it.

    The model decides that is surest what is asked; ``profile``: values by the id of a model.
    Without ``memory`` each is decided as if it were the first to its recipient.
    """
    concepts, cache = Concepts(models), Cache()
    entries: list[StoryEntry] = []
    for recipient, query in requests:
        model, _ = surest(query, models, Model.read)
        own = profile[model.id]
        held = held_by(recipient, entries)
        knowledge = known(held, model, concepts) if memory else Knowledge()
        request = Request(query, recipient)
        available = replace(terms, available=frozenset(own))
        decision = decide(request, available, knowledge, model, cache=cache)
        # Only now, with the set fixed, is the profile read (DESIGN.md 2.6).
        values = {name: own[name] for name in decision.disclosed}
        held = {**held, **meanings(values, model)}
        left = people_left(known(held, model, concepts), model, cache)
        entries.append(StoryEntry(decision, model, values, held, left))
    return tuple(entries)


def held_by(recipient: str, entries: Iterable[StoryEntry]) -> Mapping[str, str]:
    """Return what a recipient holds, a value by its concept: the latest answer to it says."""
    held = [entry.held for entry in entries if entry.recipient == recipient]
    return held[-1] if held else {}


def meanings(values: Mapping[str, str], model: Model) -> dict[str, str]:
    """Return what values tell for good, by concept; those of a request pass."""
    attributes = [model.attributes[model.index(name)] for name in values]
    person = [each.name for each in attributes if each.scope == "person"]
    return dict(meaning_of(name, values[name], model) for name in person)


def known(held: Mapping[str, str], model: Model, concepts: Concepts) -> Knowledge:
    """Return what is held in the codes of a model, and how few people share the rest of it."""
    facts = [Meaning(*each) for each in held.items()]
    codes = dict(code for code in (concepts.code(each, model) for each in facts) if code)
    return Knowledge(share=share_of(facts, model, concepts)).with_facts(codes)


def of_people(number: int, model: Model) -> str:
    """Return how many people of those that a model counts: an estimate where rows are a sample."""
    about = "" if model.population.weights is None else "about "
    return f"{about}{of_whom(number, counted_among(model))}"


def request_text(number: int, entry: StoryEntry, *, explain: bool = False) -> str:
    """Return what one request carried and how many people still look like her; then the figures."""
    decision, again, model = entry.decision, entry.decision.again, entry.model
    new = {name: value for name, value in entry.values.items() if name not in again}
    left = f"{of_people(entry.people_left, model)} still look like her"
    if decision.code == "unknown query":
        lines, verdict = [], f"Sent nothing: {WHY_NOTHING['unknown query']}."
    else:
        what = counted(len(new), "fact") if new else "nothing new"
        verdict = f"Sent {what}; {left}."
        lines = [("new", values_text(new, model))] if new else []
        lines += [("read as", read_as(decision.read_as))]
        old = {name: entry.values[name] for name in again}
        lines += [("again", values_text(old, model))] if old else []
    if explain and decision.code != "unknown query":
        lines += _figures(decision, model)
    title = f'{number}. {entry.recipient} is asked "{decision.request.query}"'
    return "\n".join([strong(title), paragraph(verdict, "  "), *([facts(lines)] if lines else [])])


def _figures(decision: Decision, model: Model) -> Iterator[tuple[str, str]]:
    """Yield what came nearest to being worth it, what all helped, and what is proven."""
    withheld = [e for e in decision.outcomes if not e.disclosed and e.reason != "not set"]
    new = (each for each in withheld if each.cost_bits)
    misses = " and ".join(
        f"{model.attributes[model.index(each.name)].title} "
        f"({bits(each.gain_bits, signed=True)} bits for a price of {bits(each.cost_bits)})"
        for each in sorted(new, key=lambda each: (-each.net_bits, each.name))[:2]
    )
    nearest = misses or "none"
    yield "withheld", f"{counted(len(withheld), 'other fact')}; nearly worth it: {nearest}"
    yield "helps", f"{bits(decision.figures.utility)} {HELPS}"
    share = decision.certified
    yield "how good", "a better set may exist" if share is None else at_least(share)


def recipients_text(entries: Sequence[StoryEntry], models: Sequence[Model]) -> str:
    """Return what each recipient holds in the end."""
    concepts = Concepts(models)
    titles = {each.name: each.title for each in concepts.kinds.values()}
    lines = []
    for recipient in dict.fromkeys(each.recipient for each in entries):
        held = held_by(recipient, entries).items()
        values = dict(concepts.label(Meaning(*each)) for each in held)
        lines.append((recipient, "; ".join(facts_of(values, titles)) or "nothing"))
    return f"{strong('What each recipient knows in the end')}\n{facts(lines)}"


def fewest(entries: Iterable[StoryEntry], recipient: str, models: Sequence[Model]) -> int:
    """Return how many people agree with all that a recipient holds, by the first of the models."""
    held = held_by(recipient, [*entries])
    return people_left(known(held, models[0], Concepts(models)), models[0])


def comparison_text(entries: Sequence[StoryEntry], models: Sequence[Model]) -> str:
    """Return the same requests decided in other ways, a line each."""
    ways = {
        "reticent, as above": entries,
        "deciding without memory": converse(REQUESTS, PROFILE, models, Terms(), memory=False),
        "one standing set": converse(REQUESTS, PROFILE, models, Terms(mode="standing")),
    }
    rows = []
    for name, way in ways.items():
        gains = [bits_of(each.decision.request.query, each.values, each.model) for each in way]
        left = (people(fewest(way, each, models)) for each in RECIPIENTS)
        rows.append((name, bits(sum(gains) / len(gains)), *left))
    least = people(people_left(known(everything(models), models[0], Concepts(models)), models[0]))
    rows.append((f"sharing all {FACTS} facts", UNKNOWN, *(least for _ in RECIPIENTS)))
    title = "The same requests otherwise: mean bits, and how many look like her in the end"
    columns = (numeric(each) for each in ("bits", *RECIPIENTS))
    return f"{strong(title)}\n{table([wide(''), *columns], rows)}"


def everything(models: Iterable[Model]) -> dict[str, str]:
    """Return what her whole profile tells, a value by its concept."""
    told = [meanings(PROFILE[model.id], model) for model in models]
    return {concept: value for each in told for concept, value in each.items()}


def values_text(values: Mapping[str, str], model: Model) -> str:
    """Return attributes with their values, by their titles."""
    titles = {each.name: each.title for each in model.attributes}
    return "; ".join(facts_of(values, titles)) or "nothing"


@click.command()
@click.option("--explain", is_flag=True, help="Show the figures behind each decision as well.")
@answers
def demo(*, explain: bool) -> Output:
    """Watch eight requests of a fictional mother of two, who programs.

    They are decided with the two models that come with reticent. Nothing is stored or sent.
    """
    models = [read(each) for each in shipped_models()]
    entries = converse(REQUESTS, PROFILE, models, TERMS)
    first = models[0]
    begins = (
        f"{NAME}, a fictional mother of two who programs for a living, has told reticent {FACTS} "
        f"facts about herself. She asks {len(REQUESTS)} things of three sites. With each, reticent "
        "sends the few facts that help, and keeps her one of many who look like her. Who they are "
        f"depends on what is asked: {of_people(round(first.people), first)}, or "
        f"{models[1].population.rows:,} {models[1].stands_for} about software."
    )
    left = [of_people(fewest(entries, each, models), first) for each in RECIPIENTS]
    whole = people_left(known(everything(models), first, Concepts(models)), first)
    fits = f"about {people(whole)} would" if whole > 1 else "perhaps nobody else would"
    ends = (
        f"In the end {NAME} was served better. {left[0][:1].upper()}{left[0][1:]} still look like "
        f"her to {RECIPIENTS[0]}, and {left[1]} to {RECIPIENTS[1]}. Had she sent all {FACTS} "
        f"facts, {fits} have looked like her: each site could have recognised her."
    )
    compared = [comparison_text(entries, models), paragraph(CERTIFIED)] if explain else []
    parts = [
        paragraph(begins),
        *(request_text(n, each, explain=explain) for n, each in enumerate(entries, 1)),
        recipients_text(entries, models),
        *compared,
        paragraph(ends),
    ]
    requests = [
        {
            "recipient": each.recipient,
            "query": each.decision.request.query,
            "model": each.model.id,
            "disclosed": dict(each.values),
            "utility_bits": each.decision.figures.utility,
            "people_left": each.people_left,
        }
        for each in entries
    ]
    return Output({"requests": requests}, "\n\n".join(parts))
