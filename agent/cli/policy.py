"""`reticent policy`: check a policy file, and see the rules in force."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.options import PATH, Answer, answers, option, today
from agent.cli.printing import Column, note, numeric, page, paragraph, printable, table, wide
from agent.decision.locale import LOCALE
from agent.decision.terms import attributes_of
from agent.errors import PolicyError, Problem, UsageError, nearest
from agent.files import check_ours
from agent.model.file import SHIPPED, read, shipped_model, shipped_models
from agent.model.model import Model, surest
from agent.model.signature import trusted
from agent.paths import paths
from agent.wire.policy import AttributeStatus
from agent.words.figures import bits, counted
from agent.words.titles import quoted
from policy.audit import Remark, audit, misspelt
from policy.read import load
from policy.rules import Layer, Policy

COLUMNS = (wide("fact"), wide("name"), Column("sent"), numeric("bits"), wide("rule", 20))
BITS = "bits: the help that it must bring, or it is not sent."
DEFERRED = {
    "block": Deferred("agent.cli.policy_edit", "Send nothing more to a recipient."),
    "calibrate": Deferred("agent.cli.calibrate", "Turn your answers into prices, in bits."),
    "set": Deferred("agent.cli.policy_edit", "Change a setting in a policy file."),
    "show": Deferred("agent.cli.policy_pages", "Show every setting in force, and its origin."),
    "try": Deferred("agent.cli.policy_try", "Show what a policy would have sent."),
}


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


class ModelFile(click.Path):
    """The path of a model's file, or the name of a shipped model."""

    def __init__(self) -> None:
        """Take paths as they are, and return them as such."""
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401  (of click)
        """Return the path."""
        return shipped_model(str(value)) if value in SHIPPED else super().convert(value, param, ctx)


MODEL_FILE = ModelFile()
MODEL = "The model whose attributes are meant. By default the first that comes with reticent."
model_option = option("--model", MODEL_FILE, "M|NAME", MODEL)
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
def check(files: tuple[Path, ...], model: Path | None) -> Answer:
    """List everything wrong with policy files, by default with your own.

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
    return Answer({"files": found}, "\n".join(map(printable, lines)), code)


def _lines(file: Path, found: Sequence[Problem | Remark], kind: str = "") -> Iterator[str]:
    """Yield a line for each, which editors can jump to."""
    for each in found:
        key = f"{each.key}: " if each.key else ""
        yield f"{file}:{each.line}: {kind}{key}{each.what} ({each.hint})"


@policy.command()
@recipient_option
@answers
def facts(recipient: str | None) -> Answer:
    """Show which facts may be sent, and which rule says so.

    HOST may also be a group, as in @ads. Your values are not shown, and the vault may be locked.
    """
    with door() as client:
        found: list[AttributeStatus] = client.call("attributes", recipient=recipient)
    return Answer({"attributes": found}, attributes_text(found, recipient))


def attributes_text(found: list[AttributeStatus], recipient: str | None) -> str:
    """Return the page, for whom it is on top."""
    if not found:
        return "The model in use has no attributes."
    whom = recipient or "recipients without rules of their own"
    head = f"What your policy lets out of the {len(found)} facts of {found[0].model}, to {whom}."
    titles = {each.name: each.title for each in found}
    rows = []
    for each in found:
        guard = f" ({each.guard:g})" if each.guard else ""
        finer = f", finer than {titles.get(each.refines, each.refines)}" if each.refines else ""
        scope = ", of the request" if each.scope == "request" else ""
        rule = each.rule.removesuffix(f", attributes.{each.name}")  # of a preset: clear by itself
        line = "" if each.line is None else f", line {each.line}"
        title, must = f"{each.title}{finer}{scope}", bits(each.sensitivity_bits)
        rows.append((title, each.name, f"{each.disclose}{guard}", must, f"{rule}{line}"))
    return page(head, table(COLUMNS, rows), paragraph(BITS))
