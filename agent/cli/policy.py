"""`reticent policy`: check a policy file, and see the rules in force."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import (
    PATH,
    Commands,
    Deferred,
    Output,
    answers,
    explain_option,
    option,
    today,
)
from agent.cli.printing import (
    Column,
    note,
    numeric,
    page,
    printable,
    strong,
    table,
    wide,
)
from agent.cli.printing import facts as pairs
from agent.decision.locale import LOCALE
from agent.decision.terms import attributes_of
from agent.decision.values import ReplayedRequest
from agent.errors import PolicyError, Problem, UsageError, nearest
from agent.files import check_ours
from agent.model.file import SUFFIX, read, shipped_model, shipped_models
from agent.model.model import Model, surest
from agent.model.signature import trusted
from agent.paths import paths
from agent.wire.policy import Tried, TryPolicy
from agent.words.figures import bits, counted, listed, people
from agent.words.titles import Titles, quoted, titled
from policy.read import Remark, audit, load, misspelt
from policy.rules import Layer, Policy

DEFERRED = {
    "block": Deferred("agent.cli.policy_edit", "Send nothing more to a recipient."),
    "calibrate": Deferred("agent.cli.policy_edit", "Turn your answers into prices, in bits."),
    "set": Deferred("agent.cli.policy_edit", "Change a setting in a policy file."),
    "show": Deferred("agent.cli.policy_pages", "Show every setting in force, and its origin."),
}

MODEL = "The model whose attributes are meant. By default the first that comes with reticent."
NOTHING = "The ledger is empty: there is nothing to try the policy on."
TRIED = (Column("when"), wide("recipient"), wide("query"), numeric("people left"))
MEAN = numeric("bits")
SHOWN = 60  # characters of a query


@click.group(cls=Commands, deferred=DEFERRED)
def policy() -> None:
    """Check, show and change the rules about what may be sent."""


def own_policy() -> Path:
    """Return where the policy lies that the daemon follows."""
    return paths().policy


def read_policy(file: Path) -> Policy:
    """Return the policy in a file; one's own only where nobody else could have written it.

    UsageError where it cannot be read, PolicyError where it is wrong.
    """
    return load(file, check_ours if file == own_policy() else None)


policy_option = option(
    "--policy file", PATH, "FILE", "The policy file. By default your own.", default=own_policy
)


def model_path(named: str) -> Path:
    """Find a model, named by its file or as policies name it; UsageError if unknown."""
    path = Path(named)
    if path.exists() or path.suffix or path.name != named:
        return path
    names = {each.stem: each for each in (*shipped_models(), *paths().models.glob(f"*{SUFFIX}"))}
    if named not in names:
        raise UsageError.unknown("model", named, names)
    return names[named]


model_option = option("--model", model_path, "M|NAME", MODEL)
recipient_option = option("--recipient", str, "HOST", "For whom. By default whoever no rule names.")


def noted(policy: Policy, models: Sequence[Model]) -> None:
    """Show a note for each name in a policy that probably misspells an attribute of the models."""
    for each in misspelt(policy, [*attributes_of(models, models)]):
        note(f"{policy.source}:{each.line}: {each.what} ({each.hint})")


def with_shipped(model: Model) -> list[Model]:
    """Return a model, those that come with reticent, and LOCALE: a policy may use their names."""
    shipped = map(read, shipped_models())
    return [model, *(each for each in shipped if each.id != model.id), LOCALE]


def read_model(path: Path | None, query: str = "", keys: Sequence[str] = ()) -> Model:
    """Return the model in a file, by default the shipped one that is surest of a query's meaning.

    ``keys``: those that the policy trusts, none for any; a shipped model needs none.
    """
    if path is not None:
        return trusted(path, () if path in shipped_models() else keys)
    if not query:
        return read(shipped_model())
    return surest(query, [read(each) for each in shipped_models()], Model.read)[0]


def note_unknown_query(query: str, model: Model) -> None:
    """Name the known query that one unknown to the model was probably meant to be."""
    near = nearest(query, [each.text for each in model.queries])
    if near is not None and model.read(query).query is None:
        note(f"the model does not cover {query!r}; did you mean {quoted(near)}?")


@policy.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE]...")
@model_option
@answers
def check(files: tuple[Path, ...], model: Path | None) -> Output:
    """List the mistakes in policy files, by default in your own.

    Also lists what has no effect: rules that never match, or that others always override.
    """
    models, day = with_shipped(read_model(model)), today()
    known = attributes_of(models, models if model is None else models[:1])
    names = [*dict.fromkeys(name for each in known.values() for name in sorted(each.names))]
    found, lines, code = [], list[str](), 0
    for file in files or (own_policy(),):
        problems, remarks, rules = tuple[Problem, ...](), tuple[Remark, ...](), 0
        try:
            policy = read_policy(file)
        except PolicyError as error:
            problems, code = error.problems, max(code, error.exit_code)
            lines += _lines(file, problems)
            lines.append(f"{file}: {counted(len(problems), 'problem')}, so it is not used")
        except UsageError as error:
            problems, code = (Problem(1, "", str(error), error.hint),), error.exit_code
            lines.append(f"{error} ({error.hint})")
        else:
            rules = sum(rule.layer is Layer.FILE for rule in policy.rules)
            remarks = audit(policy, names, day)
            notes = f", {counted(len(remarks), 'note')}" if remarks else ""
            lines += _lines(file, remarks, "note: ")
            lines.append(f"{file}: {counted(rules, 'rule')}, no problems{notes}")
        listed = [
            each._asdict() | {"rule": each.rule.name, "settings": [*each.settings]}
            for each in remarks
        ]
        plain = [each._asdict() for each in problems]
        found.append({"file": str(file), "rules": rules, "problems": plain, "remarks": listed})
    return Output({"files": found}, "\n".join(map(printable, lines)), code)


def _lines(file: Path, found: Sequence[Problem | Remark], kind: str = "") -> Iterator[str]:
    """Yield a line for each, which editors can jump to."""
    for each in found:
        key = f"{each.key}: " if each.key else ""
        yield f"{file}:{each.line}: {kind}{key}{each.what} ({each.hint})"


@policy.command("try")
@click.argument("file", type=PATH)
@explain_option
@answers
def try_(file: Path, *, explain: bool) -> Output:
    """Show what a policy would have sent for your past requests.

    Your facts count as they are now, and each recipient is assumed to know what this policy would
    have sent it before. What waits for your approval counts as not sent.
    """
    text = read_policy(file).text
    with door() as client:
        found: Tried = client.call("try_policy", TryPolicy(text=text))
        titles = titles_of(client)
    return Output(found, try_text(found, titles, explain=explain) if found.requests else NOTHING)


def try_text(found: Tried, titles: Titles, *, explain: bool) -> str:
    """Return all that there is to say about a replayed ledger; ``explain``: with the bits."""
    requests = found.requests
    different = [each for each in requests if {*each.disclosed} != {*each.would_disclose}]
    was, would_be = (
        sum(map(of, requests)) / len(requests)
        for of in (lambda each: each.utility_was, lambda each: each.utility)
    )
    head = "Nothing would change: each request would have sent what it did."
    if different:
        how = "as well" if bits(was) == bits(would_be) else "worse" if would_be < was else "better"
        head = (
            f"{len(different)} of {counted(len(requests), 'request')} would have sent something "
            f"else; on average you would have been served {how}."
        )
    rows = [
        (
            each.at.date().isoformat(),
            each.recipient,
            each.query if len(each.query) <= SHOWN else f"{each.query[:SHOWN]}...",
            _change(people(each.people_left_was), people(each.people_left)),
            *([_change(bits(each.utility_was), bits(each.utility))] if explain else []),
        )
        for each in requests
    ]
    asking = sum(bool(each.would_ask) for each in requests)
    ends = {
        each.pool: _change(people(each.people_left_was), people(each.people_left))
        for each in requests
    }
    in_the_end = [
        ("would have asked", f"for {asking} of {counted(len(requests), 'request')}"),
        *(("people left", f"{pool}: {left}") for pool, left in ends.items()),
        *([("mean bits", _change(bits(was), bits(would_be)))] if explain else []),
        *([("kept as they were", counted(found.kept, "request"))] if found.kept else []),
    ]
    differing = pairs(pair for each in requests for pair in _differing(each, titles))
    return page(
        head,
        table((*TRIED, MEAN) if explain else TRIED, rows),
        f"{strong('What would differ')}\n{differing}" if differing else "",
        f"{strong('In the end')}\n{pairs(in_the_end)}",
    )


def _change(was: str, would_be: str) -> str:
    return was if was == would_be else f"{was} -> {would_be}"


def _differing(each: ReplayedRequest, titles: Titles) -> Iterator[tuple[str, str]]:
    """Yield what the policy changes about one request."""
    was, would_be = {*each.disclosed}, {*each.would_disclose}
    changes: dict[str, Sequence[str]] = {
        "newly sent": [name for name in each.would_disclose if name not in was],
        "no longer sent": [name for name in each.disclosed if name not in would_be],
        "would have asked": each.would_ask,
    }
    for label, names in changes.items():
        if names:
            what = f"{listed(titled(names, titles))} (to {each.recipient})"
            yield f"{each.at.date().isoformat()}  {label}", what
