"""Checks of everything that a user can get wrong, in order; they change nothing."""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import disk_usage

from agent import __version__, errors
from agent.daemon import programs, prompts
from agent.daemon.api import AHEAD, JUDGE, POLICY
from agent.daemon.artifacts import Machine
from agent.daemon.locale import LOCALE
from agent.daemon.model_registry import UNREADABLE, ModelRegistry
from agent.daemon.policy_file import idle_rules
from agent.daemon.programs import KINDS, Installation
from agent.daemon.service import reachable
from agent.daemon.sockets import listens
from agent.errors import PolicyError, Problem, ReticentError, UsageError, install_hint, reason
from agent.files import OTHERS, OTHERS_WRITE, PRIVATE_FOLDER, check_ours, check_way, left_unfinished
from agent.paths import HOME, RUNTIME
from agent.vault import vault_files
from agent.vault.database import RESTORE
from agent.vault.seal import FORMAT
from agent.vault.slots import ALTERED, key_slots
from agent.wire.client import Client, check_address
from agent.wire.state import Finding, Status
from agent.words.titles import WAYS_ON, Phrases, write_policy
from policy.read import EMPTY_POLICY, is_empty_policy, load
from policy.rules import Policy

ELSEWHERE = "fix that, or choose another folder with RETICENT_HOME"
SECONDS = 5.0  # of silence
LEAST_FREE = 1 << 18  # bytes, with which the vault can record for a while
START = "run `reticent connect system`, or `reticent daemon` in another terminal"
AGAIN = "restart the daemon"
FIXES = {
    vault_files.MISSING: "nothing to do: it is recorded from now on",
    vault_files.UNWRITTEN: "free some space and make the state folder writable",
    ALTERED: "remove the keys that you do not recognise with `reticent vault key remove`",
    UNREADABLE: "install reticent anew, then lock and unlock",
    JUDGE: "start its server, or name a smaller model in [judge] of your policy",
    AHEAD: "set the clock, or if it is right: reticent unlock --reset-clock",
}  # by how a note begins
NOTHING = "not connected; `reticent connect` lists all that can be"
Rules = Policy | ReticentError | None  # the user's policy, or what is wrong with it
WRONG = Phrases("artifacts")


def ok(name: str, what: str) -> Finding:
    """Report something that is in order."""
    return Finding(name, "ok", what)


def warn(name: str, what: str, fix: str) -> Finding:
    """Report something that could be better."""
    return Finding(name, "warn", what, fix)


def bad(name: str, what: str, fix: str) -> Finding:
    """Report something that does not work, or is not safe."""
    return Finding(name, "bad", what, fix)


def check_folders(here: Machine) -> Iterator[Finding]:
    """Yield a finding for each of our folders."""
    for name in ("config", "data", "state", "runtime"):
        yield _folder(f"folder {name}", getattr(here.paths, name))


def _folder(name: str, path: Path) -> Finding:
    try:
        check_way(path)
        status = path.stat()
    except UsageError as error:
        return bad(name, str(error), error.hint)
    except FileNotFoundError:
        return ok(name, f"{path} does not exist yet; it is created when needed")
    except OSError as error:
        return bad(name, f"{path}: {reason(error)}", ELSEWHERE)
    mode, owner, close = stat.S_IMODE(status.st_mode), status.st_uid, f"chmod 700 '{path}'"
    theirs = f"{path} belongs to another user (id {owner})"
    check = f"check its contents, then: {close}"
    wrong = (
        (not stat.S_ISDIR(status.st_mode), bad, f"{path} is not a folder", "move it away"),
        (owner != os.geteuid(), bad, theirs, "move it away, or run this as that user"),
        (mode & OTHERS_WRITE, bad, f"other users can write to {path}", check),
        (mode & OTHERS, warn, f"other users can look into {path}", close),
        (mode != PRIVATE_FOLDER, bad, f"you lack full access to {path}", close),
    )
    findings = (make(name, what, fix) for is_so, make, what, fix in wrong if is_so)
    return next(findings, ok(name, f"{path} is private"))


def check_environment(here: Machine) -> Iterator[Finding]:
    """Yield what runs us, where the environment puts our files, and whether they become root's."""
    yield ok("python", f"Python {sys.version.split()[0]}, {here.interpreter}")
    home, sudo = here.environment.get(HOME), here.environment.get("SUDO_USER", "root")
    if os.geteuid() == 0 and sudo != "root":
        what = "run through sudo: its files belong to root, and the user cannot open them"
        yield bad("environment", what, f"run it as {sudo}, without sudo")
    if home and not os.path.isabs(home):  # noqa: PTH117  (a text may be empty)
        what = f"{HOME} is {home!r}: a different folder depending on where it runs"
        yield bad("environment", what, "set it to an absolute path")
    elif home or here.mac or here.environment.get(RUNTIME):
        what = "everything is stored under" if home else "sockets are in"
        yield ok("environment", f"{what} {home or here.paths.runtime}")
    else:
        what = f"{RUNTIME} is not set: sockets are expected in {here.paths.runtime}"
        fix = f"log in as the user, or set {RUNTIME} to /run/user/{os.geteuid()}"
        yield warn("environment", what, f"{fix}: the service listens there")


def _rules(here: Machine) -> Rules:
    """Read the user's policy, or what is wrong with it; None without one."""
    if not os.path.lexists(here.paths.policy):
        return None
    try:
        return load(here.paths.policy, check_ours)
    except ReticentError as error:
        return error


def check_policy(here: Machine, rules: Rules, registry: ModelRegistry) -> Iterator[Finding]:
    """Yield what is wrong with the policy; `reticent policy check` says what has no effect."""
    place, problems = here.paths.policy, tuple[Problem, ...]()
    if rules is None:
        what = "no policy, so nothing is attached to any request"
        yield warn("policy", what, write_policy(place))
        return
    if isinstance(rules, PolicyError):
        problems = rules.problems
    elif isinstance(rules, ReticentError):
        raise rules
    elif is_empty_policy(rules.text):
        problems = (EMPTY_POLICY,)
    else:
        keys, today = rules.trusted_keys, here.now.date()
        named = registry.named(rules.models, keys, here.now)
        usable = (*registry.usable(keys, here.now), *named, LOCALE)
        problems = idle_rules(rules, usable, today, registry.ever_known())
    for each in problems:
        what = f"{place}:{each.line}: {f'{each.key}: ' if each.key else ''}{each.what}"
        yield bad("policy", what, each.hint)
    if isinstance(rules, Policy) and not problems:
        yield ok("policy", str(place))


def check_models(here: Machine, rules: Rules, registry: ModelRegistry) -> Iterator[Finding]:
    """Yield which models cannot be used, and which are missing."""
    keys = rules.trusted_keys if isinstance(rules, Policy) else ()
    for each in registry.status(keys, here.now):
        if each.problem:
            fix = "install reticent again" if each.shipped else f"reticent model remove {each.name}"
            yield bad("models", f"{each.name}: {each.problem}", fix)
        else:
            yield ok("models", f"{each.name}: {each.queries} topics, {each.attributes} facts")
    required = rules.models if isinstance(rules, Policy) else frozenset()
    for name in sorted(required - {*registry.names()}):
        what = f"the policy names the model {name!r}, which is missing"
        yield bad("models", what, f"reticent model add {name}.safetensors")


def check_vault(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with the vault, which copies lie there, and what tells its age."""
    at = vault_files.Location.of(here.paths)
    notice = vault_files.set_aside_notice(at)
    if notice is not None:
        yield bad("vault", *notice)
    unfinished = left_unfinished(at.vault) if at.vault.parent.is_dir() else ()
    aside = vault_files.vaults_set_aside(at)[:-1]  # the last has the notice
    for path in (*vault_files.replaced_vaults(at.vault), *aside, *unfinished):
        what = f"{path} is an older copy; the passphrase and keys of that time still open it"
        yield warn("vault", what, f"when you no longer need it: rm '{path}'")
    if not os.path.lexists(at.vault):
        vault_files.check_free(at)  # one that was there is missed
        yield warn("vault", "no vault yet", "reticent init")
        return
    if not os.access(at.vault, os.W_OK) or not os.access(at.vault.parent, os.W_OK):
        fix = "make the file and its folder writable: nothing is disclosed without a record"
        yield bad("vault", f"{at.vault} cannot be written to", fix)
    if disk_usage(at.vault.parent).free < LEAST_FREE:
        yield bad("vault", f"the disk of {at.vault} is full", WAYS_ON["disk full"])
    try:
        slots = key_slots(at.vault)
    except errors.BusyVaultError:
        yield ok("vault", f"{at.vault} is open; it was verified when it was opened")
        return
    if not any(slot.kind in {"passphrase", "recovery"} for slot in slots):
        yield bad("vault", "no passphrase or recovery code opens it any more", RESTORE)
        return
    damaged = [slot for slot in slots if slot.kind is None]
    for slot in damaged:
        fix = f"reticent vault key remove {slot.id}, then add a new key with reticent vault key add"
        yield bad("vault", f"key slot {slot.id} is damaged and no longer opens anything", fix)
    if not damaged:
        yield ok("vault", f"{at.vault}, format {FORMAT}: no damage visible without a key")


def check_daemon(here: Machine) -> Iterator[Finding]:
    """Yield whether requests are answered."""
    check_address(here.paths.query)
    if not listens(here.paths.control):
        yield warn("daemon", "not running, so nothing is attached to any request", START)
        return
    with Client(here.paths.control, SECONDS) as client:
        status: Status = client.call("status")
    if status.version != __version__:
        what = f"version {status.version} is running, but this is {__version__}"
        yield bad("daemon", what, AGAIN)
    if status.vault and status.locked:
        what = "running, but the vault is locked: nothing is attached to any request"
        yield warn("daemon", what, "reticent unlock")
    else:
        yield ok("daemon", f"process {status.process}; limits: {status.policy.limits or 'none'}")
    for note in status.notes:
        if not note.startswith(POLICY):
            fixes = (fix for start, fix in FIXES.items() if note.startswith(start))
            yield warn("daemon", note, next(fixes, "fix that and try again"))


def check_installed(here: Machine) -> Iterator[Finding]:
    """Yield whether the system, browsers and assistants that are connected can start us."""
    for name, listed in KINDS.items():
        try:
            connected = [each for each in listed(here) if each.state != "absent"]
        except UsageError as error:
            is_mac = here.mac and name == "service"
            yield ok(name, str(error)) if is_mac else warn(name, str(error), error.hint)
            continue
        yield from _connected(name, connected) if connected else [ok(name, NOTHING)]
        if connected and name == "service" and not reachable():
            fix = "use it in a desktop or login session, not in a container or through su"
            yield warn(name, "connected, but systemd does not answer here", fix)
        if connected and name == "assistants" and find_spec("mcp") is None:
            yield bad(name, "the extra `mcp` is not installed", install_hint("mcp"))
    for browser, sandbox in programs.confined(here):
        yield warn("browsers", *sandboxed(browser, sandbox))


def _connected(name: str, connected: Sequence[Installation]) -> Iterator[Finding]:
    """Yield what is wrong with programs that are connected, or that they are."""
    parts = {part.path: (part, name) for each in connected for part in each.shared}
    for each in connected:
        parts[each.artifact.path] = (each.artifact, each.name)
        if each.state == "installed":
            whom = each.recipient and f" for {each.recipient}"
            yield ok(name, f"{each.title} is connected{whom}")
    for part, again in parts.values():
        state = part.state()
        move = "move it away, then " if state == "foreign" else ""
        if state != "installed":
            make = bad if state == "absent" else warn
            yield make(name, f"{part.path} {WRONG[state]}", f"{move}reticent connect {again}")


def sandboxed(browser: programs.Browser, sandbox: str) -> tuple[str, str]:
    """Explain that a browser is in a sandbox, and what to do."""
    what = f"{browser.title} is a {sandbox}, and cannot start the relay outside its sandbox"
    return what, f"install {browser.title} from the system's packages or from its maker"


def check_dialogs(here: Machine, rules: Rules, _registry: ModelRegistry) -> Iterator[Finding]:
    """Yield which program asks in a dialog, where the policy says so. PinentryError without one."""
    if isinstance(rules, Policy) and rules.daemon.prompt == "pinentry":
        yield ok("dialogs", f"{prompts.chosen(rules.daemon, here.environment)} asks")


CHECKS: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
    check_environment,
    check_folders,
    check_daemon,
    check_installed,
    check_vault,
)


def examine(here: Machine) -> tuple[Finding, ...]:
    """Run each check; what the system keeps it from seeing is bad."""
    rules, registry = _rules(here), ModelRegistry(here.paths.models)
    every = {check.__name__: partial(check, here) for check in CHECKS}
    for check in (check_policy, check_models, check_dialogs):
        every[check.__name__] = partial(check, here, rules, registry)
    findings: list[Finding] = []
    for name, run in every.items():
        try:
            findings += run()  # one by one: those before an error stay
        except (OSError, ReticentError) as error:
            what, fix = str(error), getattr(error, "hint", "fix that and try again")
            if isinstance(error, OSError):
                what = f"{error.filename}: {reason(error)}" if error.filename else reason(error)
            findings.append(bad(name.removeprefix("check_"), what, fix))
    return tuple(findings)
