"""`reticent model`: build, describe, sign, add and remove models."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import click
import msgspec

from agent.build.options import USUAL, BuildOptions, Description, flags, read_description
from agent.cli.daemon_client import notify
from agent.cli.interrupt import Progress, extra, uninterrupted
from agent.cli.options import PATH, Commands, Deferred, OneOf, Output, answers, option
from agent.cli.policy import model_path, registry
from agent.cli.printing import Column, facts, numeric, page, paragraph, table, texts, wide
from agent.errors import SignatureError, UsageError
from agent.files import check_ours, create_private, read_bytes, replace_bytes
from agent.model.attributes import SLOTS, Attribute
from agent.model.content import ALGORITHM, SIGNATURE_FORMAT, Signature, signed_bytes
from agent.model.file import SUFFIX, maker, read, shipped_model, signature_of
from agent.model.model import PRIVATE, Model
from agent.paths import paths
from agent.wire.base import Done
from agent.words.figures import HELPS, bits, counted, people, sensitivity
from agent.words.titles import in_order, value_title
from policy.read import load

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_KEY_BYTES = 16_384
T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])
COLUMNS = (wide("name"), numeric("topics"), numeric("kinds of facts"), wide("signed with"))
DEFERRED = {
    "curve": Deferred("agent.cli.decide", "Show what would be sent at every trade-off."),
    "decide": Deferred("agent.cli.decide", "Decide which facts one request may carry."),
}
QUERIES = (wide("query"), *map(numeric, ("answers", "people", "helps")))
TOPICS = (wide("topic"), wide("for example"), numeric("helps"))
TEXTS = texts("model")
DROP = "dropped_"  # how the options of a model begin that say what was
ATTRIBUTES = (Column("name"), wide("fact, and its values: `reticent profile set FACT` asks for it"))
RELIABILITY = (numeric("a fact in your own words is said to help, probability"), numeric("it did"))
FIELDS = (  # of a query, in a description
    *("text", "title", "rows", "users", "intents", "shrinkage", "prior_entropy_bits"),
    *("predicted_bits", "heldout_bits", "events", "error_bits", "bits"),
)


@click.group(cls=Commands, default=lambda _: "list", deferred=DEFERRED)
def model() -> None:
    """Build, describe and manage models, and try decisions with one.

    Without a command it lists the models in use.
    """


@model.command()
@click.argument("file", type=PATH, metavar="M")
@answers
def add(file: Path) -> Output:
    """Add the model M, with its signature.

    If the policy has trusted_keys, it must be signed with one of them, and is used beside the
    models that come with reticent. Without, it decides only where the policy says population =
    "NAME", the name of the file without its ending, and there alone. It sets none of your facts.
    """
    keys = trusted_keys()
    added = registry().add(file.absolute(), keys, datetime.now(UTC))
    notify("models")
    use = "It is signed with a key that your policy trusts, so it is used from now on."
    if not keys:
        use = f'It decides only where the policy says population = "{added.name}".'
    return Output(added, paragraph(f"Added {added.name}. {use} It sets none of your facts."))


@model.command(name="list")
@answers
def list_() -> Output:
    """List the models in use."""
    described = registry().status(trusted_keys(), datetime.now(UTC))
    rows, problems = [], []
    for each in described:
        maker = "comes with reticent" if each.shipped else each.maker or "nobody"
        rows.append((each.name, f"{each.queries:,}", f"{each.attributes:,}", maker))
        if each.problem is not None:
            problems.append(paragraph(f"{each.name} cannot be used: {each.problem}"))
    return Output({"models": described}, "\n".join([table(COLUMNS, rows), *problems]))


@model.command()
@click.argument("name", metavar="NAME")
@answers
def remove(name: str) -> Output:
    """Remove the added model NAME and its signature."""
    registry().remove(name)
    notify("models")
    return Output(Done(), paragraph(f"Removed {name}."))


def trusted_keys() -> tuple[str, ...]:
    """The keys of the makers that the policy trusts; PolicyError if it has mistakes."""
    place = paths().policy
    return load(place, check_ours).trusted_keys if os.path.lexists(place) else ()


@model.command()
@click.argument("path", type=PATH, metavar="M")
@option("--key", PATH, "K.pem", "The private key; made where there is no such file.", required=True)
@answers
def sign(path: Path, key: Path) -> Output:
    """Sign the model M.

    The signature is written to a file beside it. Those who trust you put the public key, which is
    shown, into trusted_keys of their policy. Only you can read a private key that is made here:
    keep it to yourself.
    """
    is_new = not os.path.lexists(key)
    if is_new:
        read(path)  # before a key is made for it in vain
        generate_key(key)
    signature, public = sign_file(path, key), maker(path, read(path))
    text = f"Wrote a new private key to {key}. " if is_new else ""
    text += f"Wrote {signature}; distribute it with {path}. Signed with the public key:"
    record = {"path": str(path), "signature": str(signature), "key": public}
    return Output(record, f"{paragraph(text)}\n{public}")


def generate_key(path: Path) -> str:
    """Write a new private key to a file that only its owner can read; return the public key.

    Raises UsageError if the file already exists, or it cannot be written.
    """
    from cryptography.hazmat.primitives import serialization as pem
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key, plain = Ed25519PrivateKey.generate(), pem.NoEncryption()
    create_private(key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, plain), path)
    return _public(key)


def sign_file(model: Path, key: Path) -> Path:
    """Sign a model with the private key in a PEM file; return the path of the signature.

    Raises UsageError if a file cannot be read or written or holds no such key, or if the signature
    would replace one of them, or the file is not named after the model; ModelError if the model
    must not be used.
    """
    private, opened = _private_key(key), read(model, whole=True)
    if opened.id != model.stem:
        hint = f"name it {opened.id}{SUFFIX}, or give it the id {model.stem}"
        raise UsageError(f"the file is not named after its model, {opened.id!r}", hint, str(model))
    target = signature_of(model)
    for what, other, ending in (("model", model, SUFFIX), ("key", key, ".pem")):
        if target.exists() and target.samefile(other):
            hint = f"name the {what} {other.with_suffix(ending).name}, then sign again"
            raise UsageError(f"the signature would replace the {what}", hint, str(target))
    parts = Signature(
        format=SIGNATURE_FORMAT,
        id=opened.id,
        digest=opened.digest,
        key=_public(private),
        signature=private.sign(signed_bytes(opened)).hex(),
    )
    replace_bytes(msgspec.json.encode(parts) + b"\n", target)
    return target


def _public(key: "Ed25519PrivateKey") -> str:
    return ALGORITHM + key.public_key().public_bytes_raw().hex()


def _private_key(path: Path) -> "Ed25519PrivateKey":
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    hint = "name an Ed25519 private key in PEM, not encrypted"
    try:
        key = load_pem_private_key(read_bytes(path, MAX_KEY_BYTES), password=None)
    except TypeError as error:
        raise UsageError("the key is encrypted", hint, str(path)) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError("not a private key", hint, str(path)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("not an Ed25519 key", hint, str(path))
    return key


def model_record(described: Model) -> dict[str, Any]:
    """The statements of a model about itself, without its tables."""
    names = ("id", "source", "licence", "digest", "estimator")
    return {
        **{name: getattr(described, name) for name in names},
        "people": round(described.people),
        "stands_for": described.stands_for,
        "population_rows": described.population.rows,
        "person_level_rows": PRIVATE not in described.options,
        "attributes": described.attributes,
        "donors": described.donors,
        "kinds": described.kinds,
        "queries": [{name: getattr(each, name) for name in FIELDS} for each in described.queries],
        "options": dict(described.options),
        "validation": dict(described.validation),
    }


def summary(described: Model) -> str:
    """One plain sentence about a model."""
    asked = "topics" if described.estimator == "judged" else "queries"
    kinds = sum(not each.further for each in described.attributes)
    counts = f"{len(described.queries)} {asked} and {kinds} kinds of facts"
    rows = f"{described.population.rows:,}{' synthetic' * (PRIVATE in described.options)}"
    if described.population.weights is None:
        return f"{described.id} knows {counts}, learned from {rows} {described.stands_for}."
    whom = f"about {people(described.people)} {described.stands_for}"
    return f"{described.id} knows {counts}, learned from {rows} people, who stand for {whom}."


def dropped(described: Model) -> str:
    """Which parts of the tables a model left out, in words; empty if none."""
    some = {e: n for e, n in described.options.items() if e.startswith(DROP) and isinstance(n, int)}
    counts = (f"{e.removeprefix(DROP).replace('_', ' ')}: {n:,}" for e, n in some.items() if n)
    return ", ".join(counts)


def sample(described: Model) -> str:
    """Which queries, people and answers a model keeps, in words; empty if all."""
    sampled, options = list[str](), described.options
    if isinstance(share := options.get("share_of_events"), float):
        sampled.append(f"the queries are the most frequent, {100 * share:.1f} % of all requests")
    if isinstance(everybody := options.get("sampled_from"), int):
        sampled.append(f"{described.population.rows:,} of {everybody:,} people")
    if errors := [each.error_bits or 0.0 for each in described.queries if each.events is not None]:
        some = counted(len(errors), "query keeps", "queries keep")
        sampled.append(f"{some} the answers of some people, off by {bits(max(errors))} bits")
    return "; ".join(sampled)


def drawn(described: Model) -> str:
    """Which facts were drawn, from which survey and by what, in words; empty if none."""
    titles, options = {each.name: each.title for each in described.attributes}, described.options
    parts = [
        f"{', '.join(map(titles.__getitem__, each.attributes))} from the {each.source}, for people "
        f"alike in {', '.join(map(titles.__getitem__, each.keys))}"
        for each in described.donors
    ]
    for mark, when in TEXTS["drawn"].items():
        if names := options.get(mark):
            parts.append(f"{', '.join(titles[each] for each in str(names).split(', '))} {when}")
    return "; ".join(parts)


def reads(described: Model) -> str:
    """How well a model reads texts that it did not learn from, in words."""
    if described.tables.classifier is None:
        return "exact names of queries only"
    right, alone = described.validation.get("reading_top1"), ""
    if not isinstance(right, float):
        return "any text"
    if described.tables.classifier.second is not None:
        alone = " by the first of its two encoders"
    figure = f"the likeliest query is the right one for {100 * right:.1f} % of phrasings"
    return f"any text; {figure}{alone}"


def reliability(described: Model) -> list[tuple[str, str]]:
    """How likely facts in own words were to help, and how often they did, for people left out."""
    promised, kept = (described.validation.get(f"relevance_{e}") for e in ("promised", "kept"))
    if not isinstance(promised, tuple) or not isinstance(kept, tuple):
        return []
    return [(f"{one:.2f}", f"{other:.2f}") for one, other in zip(promised, kept, strict=False)]


def _attribute(each: Attribute, described: Model) -> tuple[str, str]:
    values = "; ".join(value_title(value, each.title) for value in in_order(each.values[1:]))
    price = f", must bring {sensitivity(each.sensitivity)}" if each.sensitivity else ""
    scope = ", of the request" if each.scope == "request" else ""
    most = f", up to {SLOTS}" if f"{each.name}_{SLOTS}" in described.person_codes else ""
    return each.name, f"{each.title}{most}{scope}{price}: {values or 'no values'}"


@model.command()
@click.argument("path", required=False, type=model_path, metavar="[M|NAME]")
@answers
def info(path: Path | None) -> Output:
    """Describe a model: its file M, or its NAME if it is in use.

    Without an argument, that is the first of those that come with reticent. --json has all that it
    states about itself, and how it was built.

    The exit code is 1 if its signature does not verify. Anybody can sign a model with a key of
    their own: compare the key with that of the maker you trust.
    """
    file = path or shipped_model()
    described = read(file)
    signer, problem = signed_by(file)
    options = described.options
    about = {
        "source": described.source or "not stated",
        "licence": described.licence or "not stated",
        "signed with": signer or problem or "nothing",
        "reads": reads(described),
        "sample": sample(described),
        "drawn": drawn(described),
        "dropped": dropped(described),
        "differential privacy": TEXTS["budget"].format(**options) if PRIVATE in options else "",
    }
    judged, rows = described.estimator == "judged", list[tuple[str, ...]]()
    asked_of = "judged" if judged else "counted" if PRIVATE in options else "learned"
    for each in described.queries:
        people = ("drawn", "") if PRIVATE in options else (f"{each.rows:,}", f"{each.users:,}")
        asked = *people, bits(each.heldout_bits)
        example = min(each.phrasings, key=len, default=""), bits(each.bits)
        rows.append((each.title, *(example if judged else asked)))
    own = [each for each in described.attributes if each.name == (each.shared or each.name)]
    text = page(
        summary(described),
        paragraph(TEXTS["synthetic" if PRIVATE in options else "personal"]),
        facts((name, text) for name, text in about.items() if text),
        paragraph(TEXTS[asked_of].format(helps=HELPS)),
        table(TOPICS if judged else QUERIES, rows),
        table(ATTRIBUTES, (_attribute(each, described) for each in own)),
        table(RELIABILITY, reliability(described)),
    )
    record = {**model_record(described), "signed_with": signer, "signature_problem": problem}
    return Output(record, text, exit_code=0 if problem is None else 1)


def signed_by(file: Path) -> tuple[str | None, str | None]:
    """The public key that signed a model, and what is wrong with its signature."""
    if not os.path.lexists(signature_of(file)):
        return None, None
    try:
        return maker(file, read(file, whole=True)), None
    except SignatureError as error:
        return None, error.what


def _of_fields(command: C) -> C:
    """Give a command an option for each field of BuildOptions that is declared as a flag."""
    for name, (kind, flag, default) in reversed(flags().items()):
        one = kind if get_origin(kind) is Literal else (get_args(kind) or (kind,))[0]
        command = option(
            f"--{flag.option} {name}",
            OneOf(get_args(one)) if get_origin(one) is Literal else PATH if one is Path else one,
            flag.metavar,
            flag.about,
            **({} if default is None else {"default": default}),
        )(command)
    return command


@model.command()
@_of_fields
@option("--describe", PATH, "F", "What the columns do not say: TOML.")
@option("--out", PATH, "M.safetensors", "Where to write.", required=True)
@answers
def build(out: Path, describe: Path | None, **given: Any) -> Output:  # noqa: ANN401  (of the options)
    """Build a model from two tables, or from a search log.

    Tables are csv, csv.gz or parquet. A folder of parquet files, partitioned or not, is a table
    too. Spark reads parquet only, and gives the same model.

    Users: a column user, and one per attribute of the person. Events: columns user, query,
    intent, and one per attribute that changes with every request. agent/build/FORMAT_LOG.md
    describes the three tables of a log, FORMAT_DESCRIPTION.md beside it the titles, weights,
    sensitivities, name, source and licence that --describe adds. Phrasings: columns query and text;
    background: columns intent (the topic) and text. With both, the model reads any text. Where
    --describe has topics, users are all it takes. Needs the extra `build`, with --spark the extra
    `spark` too.

    With --private the model is one to publish: its rows are drawn from counts under differential
    privacy, of which --per-person limits a person's requests. It needs all values, queries and
    intents in --describe, since these are taken to be public, and the extra `private`.
    """
    check_place(out)
    description = Description() if describe is None else read_description(describe)
    chosen = BuildOptions(**given, description=description)
    if not description.id:
        chosen = chosen.described(id=out.stem)
    with extra("build", "building a model"):
        from agent.build.build import build_model
        from agent.model.file import write
    if chosen.private is not None:
        with extra("private", "differential privacy"):
            import agent.build.private  # noqa: F401
    elif (chosen.delta, chosen.per_person) != USUAL or description.most_weight:
        raise UsageError("most_weight, --delta, --per-person need --private", "add --private EPS")
    with Progress() as progress:
        built = build_model(chosen, progress)
        with uninterrupted():
            built = write(built, out)
    lines = [f"Wrote {out}: {summary(built)}"]
    if sampled := sample(built):
        lines.append(f"Kept: {sampled}.")
    if problems := dropped(built):
        lines.append(f"Dropped from the tables: {problems}.")
    lines.append(f"Look at it with `reticent model info {out}`.")
    return Output(model_record(built), "\n".join(map(paragraph, lines)))


def check_place(out: Path) -> None:
    """Refuse a place where nothing can be written, before the work and not after it."""
    if out.suffix != SUFFIX:
        hint = f"call it {out.with_suffix(SUFFIX)}" if out.name else f"call it NAME{SUFFIX}"
        raise UsageError(f"the name of a model ends in {SUFFIX}", hint, str(out))
    if not os.access(out.parent, os.W_OK | os.X_OK) or (out.exists() and not out.is_file()):
        hint = "choose a file in a folder that is there, and that you can write to"
        raise UsageError("nothing can be written here", hint, str(out))
