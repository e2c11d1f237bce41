"""The policy file and the rules in use: read when it changes, rewritten whole or not at all."""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from stat import S_IMODE
from typing import NamedTuple

from agent.daemon.events import LOG
from agent.decision.context import Terms, on_words, rulebook, terms_under
from agent.decision.topics import Read, attributes_of, called_in_rules, topics_of
from agent.decision.values import Fact
from agent.errors import PolicyError, Problem, UnsafeError, UsageError
from agent.files import check_ours, clear_unfinished, replace_bytes
from agent.model.model import Model
from agent.wire.state import PolicyStatus
from agent.words.titles import limits_in_force
from policy.audit import idle
from policy.families import TopicProbabilities
from policy.hosts import ANYBODY, ASSISTANT, host_of
from policy.match import Attributes, Known, Rulebook, Ruling, Verdicts
from policy.read import EMPTY_POLICY, is_empty_policy, load, opened, preset, read
from policy.rules import FACT, SIGN, Groups, Layer, Policy, Pools, named_host
from policy.settings import DaemonSettings

SETTLING = timedelta(seconds=1)
CUT = timedelta(seconds=10)  # that a file may be the beginning of what it was before
Change = Callable[[str, Policy], str]  # of a text, and of what it says
Check = Callable[[Policy], None]  # of what it says then
_Content = Policy | PolicyError | UsageError | None
KEPT = 4096  # recipients, and terms of one
LIMITING = {"k", "people", "violations", "risk", "protect"}  # by which a user stands out, or not

# When a file was last written to, and changed, in nanoseconds; its size; which file it is. Whoever
# writes can set the first, and `cp -p` does; the second is the system's own.
Fingerprint = tuple[int, int, int, int, int]
UNREADABLE: Fingerprint = (0, 0, 0, 0, 0)
UNREAD: Fingerprint = (-1, -1, -1, -1, -1)  # no file has it


def fingerprint_of(path: Path) -> Fingerprint | None:
    """Take the fingerprint of a file: None if there is none, UNREADABLE if it cannot be read."""
    try:
        is_ = path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a name with a NUL
        return None
    except OSError:
        return UNREADABLE
    return is_.st_mtime_ns, is_.st_ctime_ns, is_.st_size, is_.st_dev, is_.st_ino


def settling(stamp: Fingerprint | None, now: datetime, within: timedelta = SETTLING) -> bool:
    """Say whether a file was written to a moment ago, and so may be incomplete.

    One whose times both lie in the future was not: the clock was set back since.
    """
    ago = [now - datetime.fromtimestamp(each / 1e9, UTC) for each in (stamp or ())[:2]]
    return any(timedelta(0) <= each < within for each in ago)


class Edit(NamedTuple):
    """A policy before and after a change of ours; ``changed``: whether anything was written."""

    before: Policy
    after: Policy
    changed: bool


def rewrite(
    path: Path, change: Change, check: Check = lambda _: None, *, dry_run: bool = False
) -> Edit:
    """Change a policy file; not where ``check`` raises UsageError, nor in a ``dry_run``.

    The file that a link points to is replaced in one step and keeps its mode. UsageError, and the
    file as it was, where there is none, where another user could have written it, where it has
    mistakes or would have (then the PolicyError is its cause), where it says nothing or would,
    where another program changes it meanwhile, and where it cannot be written.
    """
    with suppress(OSError):  # where that cannot be seen, reading it will say why
        if not path.exists():
            what = f"no policy file at {path}, so no rules are in use"
            raise UsageError(what, "`reticent policy set preset=balanced` writes one")
    target, current = path.resolve(), opened(path, check_ours)
    try:
        before = read(current.text, str(path), preset)
    except PolicyError as error:
        what = f"the policy file has mistakes, so nothing was written: {error}"
        raise UsageError(what, "`reticent policy check` lists them") from None
    try:
        changed = change(current.text, before)
        after = read(changed, str(path), preset)
        check(after)
    except PolicyError as error:
        what = f"the result would be no valid policy, so nothing was written: {error}"
        raise UsageError(what, error.hint) from error
    if is_empty_policy(current.text) or is_empty_policy(changed):
        what = f"an empty policy is never used, so nothing was written to {path}"
        raise UsageError(what, EMPTY_POLICY.hint)

    def unchanged() -> None:
        if opened(target).text != current.text:
            what = f"another program changed {path} meanwhile, so nothing was written"
            raise UsageError(what, "try again when it has finished")

    if changed != current.text and not dry_run:
        clear_unfinished(target)  # of a daemon that was killed
        replace_bytes(changed.encode(), target, S_IMODE(current.status.st_mode), unchanged)
    return Edit(before, after, changed != current.text)


def check_rules(
    policy: Policy, models: Sequence[Model], today: date, ever: Collection[str] = ()
) -> None:
    """Raise PolicyError as `idle`, and UsageError for a guard on what no table holds beside others.

    ``ever``: names of facts of models that are gone.
    """
    if problems := idle_rules(policy, models, today, ever):
        raise PolicyError(policy.source, problems)
    shared = {each.shared for model in models for each in model.attributes} - {""}
    for rule in [each for each in policy.rules if each.layer is Layer.FILE]:
        named = [each for each in rule.attributes if "*" not in each.text]
        for name in sorted(shared) if float(rule.settings.get("guard", 0)) > 0 else ():
            if any(each.matches(name) for each in named):
                what = f"no table holds {name!r} beside others, so a guard on it counts nothing"
                raise UsageError(what, f"write {name} = 'never' instead")


def idle_rules(
    policy: Policy, models: Sequence[Model], today: date, ever: Collection[str] = ()
) -> tuple[Problem, ...]:
    """The mistakes in rules that are to withhold something, as `idle` and `check_rules` have it."""
    topics = [called_in_rules(each) for model in models for each in model.queries]
    known = attributes_of(models, models).values()
    return idle(policy, [*chain(ever, *(each.names for each in known))], topics, today)


def limits_of(policy: Policy, today: date, *, doubled: bool = False) -> str:
    """Say which limits hold for recipients that a policy does not name; as of `PolicyStatus`."""
    settings = Rulebook(policy, {}).match(ANYBODY, "", today).settings
    return limits_in_force({key: each.value for key, each in settings.items()}, doubled=doubled)


def restore(path: Path, edit: Edit) -> None:
    """Restore the text of a file from before a change of ours.

    UsageError, and nothing written, where it is not as we left it, and as `rewrite` has it.
    """

    def back(text: str, _: Policy) -> str:
        if text != edit.after.text:
            what = f"{path} was edited since, so nothing was undone"
            raise UsageError(what, "see `reticent policy show`, and change it by hand")
        return edit.before.text

    rewrite(path, back)


class ActivePolicy:
    """A policy, or none; it never changes, but caches what was asked."""

    def __init__(
        self,
        policy: Policy | None,
        models: Sequence[Model] = (),
        read: Read = Model.read,
        facts: Sequence[Fact] = (),
    ) -> None:
        """Take the policy, and the models by any of whose names its rules may call a fact.

        ``read``: reads a text by a model; ``facts``: those that a rule may name by its id.
        """
        self.policy, self.models, self.read, self.facts = policy, models, read, facts
        self.topics: Callable[[str], TopicProbabilities] = partial(topics_of, policy, models, read)
        """What a query may be about, where a rule names a topic."""
        self.groups: Groups = {} if policy is None else policy.groups
        self.daemon = DaemonSettings() if policy is None else policy.daemon
        self.judge = {} if policy is None else policy.judge
        self.keys = () if policy is None else policy.trusted_keys
        """The keys of makers whose models may be used, none for any."""
        self.pool_of: Callable[[str], str] = lru_cache(KEPT)(Pools(self.groups).of)
        self.host_of: Callable[[str], str] = lru_cache(KEPT)(host_of)
        self.ruling = lru_cache(KEPT)(self._match)
        """What is ruled on a request: as `_match`."""
        rules = () if policy is None else policy.rules
        self._same_all_day = not any(e.queries or e.topics or e.hours or e.days for e in rules)
        self._of_day: Callable[..., Ruling] = lru_cache(KEPT)(
            lambda book, recipient, day, door: book.match(recipient, "", day, door=door)
        )
        self._books: dict[Hashable, Rulebook] = {}
        self._terms: dict[Hashable, Terms] = {}
        self.route = lru_cache(KEPT)(self._route)
        """How a recipient is decided: as `_route`."""
        limiting = ((rule, sorted(rule.settings.keys() & LIMITING)) for rule in rules)
        own = ((e.conditions, [(k, e.settings[k]) for k in keys]) for e, keys in limiting if keys)
        self.limits = repr([*own])
        """All limits on who looks alike, each with what it is for; equal where these are."""

    @cached_property
    def attributes(self) -> Attributes:
        """The attributes of all models and all facts, each by all that any of them calls it."""
        known = attributes_of(self.models, self.models)
        kinds = {concept: each for each in known.values() for concept in each.concepts}
        none = Known(frozenset(), frozenset())
        single = ((FACT + each.id, kinds.get(each.kind, none)) for each in self.facts)
        return known | {
            name: Known(frozenset({name}), kind.names | {name}, kind.tells) for name, kind in single
        }

    @cached_property
    def recipients(self) -> Rulebook | None:
        """The rules, ready to be asked about recipients, of no attributes; None without rules."""
        return None if self.policy is None else Rulebook(self.policy, {})

    def book(self, model: Model) -> Rulebook | None:
        """Prepare the rules for the attributes of a model; None without rules."""
        # A world has its first's own, and places for facts in own words.
        key = *((each.id, each.digest) for each in model.every), *model.own.items()
        if key not in self._books and self.policy is not None:
            self._books[key] = rulebook(self.policy, model, self.models, self.facts)
        return self._books.get(key)

    def is_assistant(self, host: str, today: date) -> bool:
        """Say whether a host is an assistant, by the user's rules or as a well-known one."""
        book = self.recipients
        return book is not None and book.match(host, "", today).kind == ASSISTANT

    def names(self, host: str) -> bool:
        """Say whether a rule of the user's names a host, or it is in a group of theirs."""
        rules, pool = () if self.policy is None else self.policy.rules, self.pool_of(host)
        own = (each for rule in rules if rule.layer is Layer.FILE for each in rule.recipients)
        if pool.startswith(SIGN):
            return True
        return any(e.matches(host) or (e.site and self.pool_of(e.site) == pool) for e in own)

    def _match(
        self, model: str, recipient: str, query: str, today: date, facts: tuple[str, ...] = ()
    ) -> Ruling | None:
        """Match a request with the rules for a model, by its id; None without rules or the model.

        ``facts``: as of `with_facts`. UsageError if the recipient is not a host.
        """
        every = (part for each in self.models for part in (each, *each.every))
        book = next((self.book(part) for part in every if part.id == model), None)
        if book is None:
            return None
        ruling = book.match(recipient, query, today, self.topics(query))
        return self.with_facts(ruling, facts) if facts else ruling

    def with_facts(self, ruling: Ruling, names: Iterable[str]) -> Ruling:
        """The ruling with what it rules on the words of facts, by what rules call these.

        Those that no rule names alone go by the rules on their kind.
        """
        added = dict[str, Verdicts]()
        for name in (each for each in names if each in self.attributes):
            called = sorted(self.attributes[name].names)  # its own comes before those of its kind
            if kind := next(filter(ruling.known.__contains__, called), None):
                verdicts = ruling.attributes[kind]
                added[name] = {**verdicts, "disclose": on_words(verdicts, name)}
        known = {**ruling.known, **{name: self.attributes[name] for name in added}}
        return replace(ruling, attributes={**ruling.attributes, **added}, known=known)

    def _route(self, recipient: str, today: date) -> tuple[str | None, bool]:
        """Name the population of a recipient, None for that of the world of all models in use.

        And say whether the recipient gets parameters in its address, and nothing else. UsageError
        if it is not a host.
        """
        if self.policy is None or self.recipients is None:
            return None, False
        ruling = self.recipients.match(recipient, "", today)
        chosen = ruling.settings.get("population")
        return chosen and str(chosen.value), ruling.carry == "parameters"

    def terms(
        self,
        model: Model,
        recipient: str,
        query: str,
        at: date,
        available: frozenset[str] | None = None,
        door: str = "",
        earlier: Sequence[str] | None = (),
    ) -> Terms | None:
        """Derive the terms of a request, with their ruling; None without rules.

        ``available``: as in `Terms`; ``earlier``: as in `Ask`; else as `Rulebook.match`.
        """
        book = self.book(model)
        if book is None:
            return None
        if self._same_all_day:
            day = at.date() if isinstance(at, datetime) else at
            ruling = self._of_day(book, recipient, day, door)
        else:
            others = None if earlier is None else {each: self.topics(each) for each in earlier}
            ruling = book.match(recipient, query, at, self.topics(query), door, others)
        # One object for the same rules, whoever the recipient is; the terms keep it.
        key, own = id(ruling.settings), (id(ruling.settings), ruling.host, available)
        if own not in self._terms:
            terms = self._terms.get(key) or terms_under(ruling, model)
            self._terms = {} if len(self._terms) >= KEPT else self._terms
            self._terms |= {key: terms, own: replace(terms, available=available, ruling=ruling)}
        return self._terms[own]

    def pool(self, recipient: str) -> str:
        """Find the pool of a host or address, or of the name of a group, also after @.

        UsageError where it is neither.
        """
        if recipient.removeprefix(SIGN) in self.groups:
            return SIGN + recipient.removeprefix(SIGN)
        if recipient.startswith(SIGN):
            raise UsageError.unknown("group", recipient, [SIGN + name for name in self.groups])
        return self.pool_of(host_of(recipient))

    def host(self, recipient: str) -> str:
        """Find the host that is named, or one of a group; UsageError as `named_host`."""
        members = self.groups.get(recipient.removeprefix(SIGN))
        return members[0].host if members else named_host(recipient, self.groups)


class PolicyFile:
    """The rules in force, by the file as it is or last was without mistakes; of one thread.

    No file, no rules; nor where another user could have written it. One that says nothing is no
    policy, and one that was written to a moment ago is read once it has settled: half of a policy
    can be a policy, and an open one. One that only lacks its end may still be in the making, and is
    read after `CUT`. Until then the change is ``pending``, and no request is to carry anything.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.active = path, ActivePolicy(None)
        self.problems: tuple[Problem, ...] = ()
        self.stale = False
        """Whether the rules in force are older than the file, which has problems."""
        self.pending, self.ever = False, frozenset[str]()
        """What models that are gone called facts, as `check_rules` has it."""
        self._begun = False
        self._seen: Fingerprint | None = UNREAD  # of the file as it was read, settled and safe
        self._taken: Fingerprint | None = UNREAD  # the same, settled or not
        self._loaded_at: datetime | None = None

    @property
    def policy(self) -> Policy | None:
        """The policy in force, None if there is none."""
        return self.active.policy

    def check(self, now: datetime) -> bool:
        """Read the file if it changed and has settled; say whether that changed anything.

        ``now``: of the system's clock.
        """
        stamp = fingerprint_of(self.path)
        self.pending = self._begun and stamp != self._taken
        if stamp == self._seen or (self._begun and settling(stamp, now)):
            return False
        content, policy = _load(self.path, stamp), self.policy
        if self._begun and fingerprint_of(self.path) != stamp:  # it is being written now
            return False
        text = content.text if isinstance(content, Policy) else None
        if text is not None and policy is not None and text != policy.text:
            is_cut = policy.text.startswith(text) and not is_empty_policy(text)
            if is_cut and settling(stamp, now, CUT):
                return False
        return self._take(stamp, content, now)

    def reload(self, now: datetime) -> bool:
        """Read the file now, as it is; say whether that changed anything."""
        stamp = fingerprint_of(self.path)
        return self._take(stamp, _load(self.path, stamp), now)

    def use(self, models: Sequence[Model], read: Read, facts: Sequence[Fact] = ()) -> None:
        """Have a rule on what one of these models calls a fact hold for what the others call it.

        And have the file read again, which may name what no model has. ``read``: reads a text by a
        model; ``facts``: those that a rule may name by its id.
        """
        self.active, self._seen = ActivePolicy(self.policy, models, read, facts), UNREAD

    def status(self, today: date) -> PolicyStatus:
        """Describe the file, and whether there are rules in force, with which limits."""
        rules = () if self.policy is None else self.policy.rules
        doubled = any(each.population.residents is not None for each in self.active.models[:1])
        return PolicyStatus(
            path=str(self.path),
            in_use=self.policy is not None,
            rules=sum(rule.layer is Layer.FILE for rule in rules),
            loaded_at=self._loaded_at,
            limits="" if self.policy is None else limits_of(self.policy, today, doubled=doubled),
            doubled=doubled,
            problems=[
                f"{f'line {each.line}: ' if each.line else ''}{each.key and f'{each.key}: '}"
                f"{each.what} ({each.hint})"
                for each in self.problems
            ],
        )

    def _take(self, stamp: Fingerprint | None, content: _Content, now: datetime) -> bool:
        """Take the rules of the file, or keep the last ones and note what is wrong with it."""
        self.pending, self._taken = False, stamp
        is_unsafe = isinstance(content, UnsafeError)  # a folder above may be mended unseen
        self._begun, self._seen = True, UNREAD if is_unsafe or settling(stamp, now) else stamp
        problems, policy = tuple[Problem, ...](), None
        match content:
            case PolicyError():
                problems = content.problems
            case UsageError():
                problems = (Problem(0, "", str(content), content.hint),)
            case Policy() if is_empty_policy(content.text):
                problems = (EMPTY_POLICY,)
            case Policy():
                problems = idle_rules(content, self.active.models, now.date(), self.ever)
                policy = None if problems else content
        # Who wrote the last rules of an unsafe file is unknown; and those of this text may be in
        # force since before it was known what models have.
        refused = content.text if isinstance(content, Policy) else None
        if problems and not is_unsafe and self.policy and self.policy.text != refused:
            policy = self.policy
        texts = [None if each is None else each.text for each in (policy, self.policy)]
        if texts[0] == texts[1] and problems == self.problems:
            return False
        if policy is not self.policy:
            old = self.active
            self.active = ActivePolicy(policy, old.models, old.read, old.facts)
            self._loaded_at = None if policy is None else now
        self.problems, self.stale = problems, policy is not None and bool(problems)
        if problems:
            LOG.warning("%s: not used, problems: %d", self.path.name, len(problems))
        else:
            LOG.info("%s: %s", self.path.name, "there is none now" if policy is None else "in use")
        return True


def _load(path: Path, stamp: Fingerprint | None) -> _Content:
    """Read the policy in a file, or why there is none."""
    if stamp is None:
        return None
    try:
        return load(path, check_ours)
    except (PolicyError, UsageError) as error:
        return error
