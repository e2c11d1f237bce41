"""Checks of everything that a user can get wrong, in order; they change nothing."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from agent import __version__
from agent.daemon import browsers, checks, pinentry
from agent.daemon.agent import AHEAD, MODEL, NO_POLICY, POLICY
from agent.daemon.checks import Finding, Machine, bad, listens, ok, warn
from agent.daemon.extension import look_at_extension
from agent.daemon.mcp_hosts import look_at_hosts
from agent.daemon.model_registry import ModelRegistry
from agent.daemon.reading import UNREADABLE
from agent.daemon.service import files, look_at_units, reachable, text_of
from agent.decision.locale import LOCALE
from agent.errors import (
    BusyVaultError,
    PolicyError,
    ReticentError,
    UsageError,
    install_hint,
    reason,
)
from agent.files import check_ours, left_unfinished
from agent.vault import vault_files
from agent.vault.backup import check_closed as look_at_vault
from agent.vault.database import RESTORE
from agent.vault.seal import FORMAT
from agent.vault.slots import ALTERED
from agent.wire.client import Client
from agent.wire.state import Status
from agent.words.outcomes import write_policy
from policy.audit import audit, misspelt
from policy.read import EMPTY_POLICY, is_empty_policy, load
from policy.rules import Policy
from policy.settings import DaemonSettings

SECONDS = 5.0  # of silence
START = "run `reticent daemon service install`, or `reticent daemon` in another terminal"
AGAIN = "restart the daemon"
FIXES = {
    vault_files.MISSING: "nothing to do: it is recorded from now on",
    vault_files.UNWRITTEN: "free some space and make the state folder writable",
    ALTERED: "remove the keys that you do not recognise with `reticent vault key remove`",
    UNREADABLE: "install reticent anew, then lock and unlock",
    AHEAD: "set the clock, or if it is right: reticent vault reset-clock",
}  # by how a note begins
_PROGRAM = re.compile(r'^ExecStart="((?:[^"\\]|\\.)*)"', re.MULTILINE)
NAME = "browsers"
INSTALL = "reticent browser install"
OUTDATED = "the extension of another version"
UPDATE = f"run `{INSTALL}`, then reload the extension in each browser"
Check = Callable[[Machine], Iterator[Finding]]


def check_policy(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with the policy, and what in it has no effect."""
    place = here.paths.policy
    if not os.path.lexists(place):
        what = "no policy, so nothing is attached to any request"
        yield warn("policy", what, write_policy(place))
        return
    try:
        rules = load(place, check_ours)
    except PolicyError as error:
        for each in error.problems:
            key = f"{each.key}: " if each.key else ""
            yield bad("policy", f"{place}:{each.line}: {key}{each.what}", each.hint)
        return
    if is_empty_policy(rules.text):
        what = f"{place}: {EMPTY_POLICY.what}, so the daemon does not use it"
        yield bad("policy", what, EMPTY_POLICY.hint)
        return
    usable = ModelRegistry(here.paths.models).usable(rules.trusted_keys, here.now)
    names = tuple(sorted({each.name for model in (*usable, LOCALE) for each in model.attributes}))
    spelt = {*misspelt(rules, names)}
    notes = [
        warn("policy", f"{place}:{remark.line}: {remark.key}: {remark.what}", remark.hint)
        for remark in audit(rules, names, here.now.date())
        if remark in spelt
        or remark.key.endswith("expires")
        or (remark.key.endswith("search") and not remark.settings)
    ]
    yield from notes or [ok("policy", f"{place}")]


def check_models(here: Machine) -> Iterator[Finding]:
    """Yield which models cannot be used, and which are missing."""
    rules: Policy | None = None
    with suppress(ReticentError):  # `check_policy` says what is wrong with it
        rules = load(here.paths.policy, check_ours)
    keys = rules.trusted_keys if rules else ()
    registry = ModelRegistry(here.paths.models)
    for each in registry.status(keys, here.now):
        if each.problem:
            fix = "install reticent again" if each.shipped else f"reticent model remove {each.name}"
            yield bad("models", f"{each.name}: {each.problem}", fix)
        else:
            yield ok("models", f"{each.name}: {each.queries} queries, {each.attributes} attributes")
    for name in sorted((rules.models if rules else frozenset()) - {*registry.names()}):
        what = f"the policy names the model {name!r}, which is missing"
        yield bad("models", what, f"reticent model add {name}.safetensors")


def check_vault(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with the vault, and whether something tells how old it should be."""
    at = vault_files.Location.of(here.paths)
    notice = vault_files.read_notice(at)
    if notice is not None:
        yield bad("vault", str(notice), notice.hint)
    yield from _older(at, notice)
    if not os.path.lexists(at.vault):
        vault_files.check_free(at)  # one that was there is missed
        yield warn("vault", "no vault yet", "reticent init")
        return
    if not os.access(at.vault, os.W_OK) or not os.access(at.vault.parent, os.W_OK):
        fix = "make the file and its folder writable: nothing is disclosed without a record"
        yield bad("vault", f"{at.vault} cannot be written to", fix)
    if vault_files.read_witness(at.witness) is None:
        what = "nothing records the vault's age, so an old copy would go unnoticed"
        yield warn("vault", what, "reticent unlock, which records it")
    try:
        slots = look_at_vault(at)
    except BusyVaultError:
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


def _older(at: vault_files.Location, notice: vault_files.Notice | None) -> Iterator[Finding]:
    """Yield which other copies of a vault lie there: what opened it then opens them now."""
    for path in vault_files.replaced_vaults(at.vault):
        what = f"{path} was replaced; the passphrase and keys of that time still open it"
        yield warn("vault", what, f"when you no longer need it: rm '{path}'")
    for path in vault_files.vaults_set_aside(at):
        if notice is None or str(path) != notice.file:
            fix = f"reticent vault restore '{path}'; when you no longer need it: rm '{path}'"
            yield warn("vault", f"{path} was set aside when the vault was replaced", fix)
    for path in left_unfinished(at.vault) if at.vault.parent.is_dir() else ():
        what = f"{path} was left unfinished; the passphrase and keys of that time may open it"
        yield warn("vault", what, "reticent unlock, which removes it")


def check_daemon(here: Machine) -> Iterator[Finding]:
    """Yield whether requests are answered."""
    if not listens(here.paths.control):
        yield warn("daemon", "not running, so nothing is attached to any request", START)
        return
    with Client(here.paths.control, SECONDS) as client:
        found: Status = client.call("status")
    if found.version != __version__:
        yield bad("daemon", f"version {found.version} is running, but this is {__version__}", AGAIN)
    if not listens(here.paths.query):
        yield bad("daemon", "it does not listen on the query socket", AGAIN)
    if found.vault and found.locked:
        what = "running, but the vault is locked: nothing is attached to any request"
        yield warn("daemon", what, "reticent unlock")
    else:
        yield ok("daemon", f"process {found.process}, version {found.version}")
    for note in found.notes:
        if not note.startswith((NO_POLICY, POLICY, MODEL)):
            fixes = (fix for start, fix in FIXES.items() if note.startswith(start))
            yield warn("daemon", note, next(fixes, "fix that and try again"))


def check_service(here: Machine) -> Iterator[Finding]:
    """Yield whether the system starts the daemon, and with a Python that is still there."""
    try:
        units = files(here.manager, here.interpreter, here.environment)
    except UsageError as error:
        yield warn("service", str(error), error.hint)
        return
    found = look_at_units(units)
    again = "reticent daemon service install"
    if not found.present:
        yield ok("service", "not installed: the daemon runs only when started by hand")
        return
    services = (text_of(path) or "" for path in found.present if path.suffix == ".service")
    for written in _PROGRAM.findall("".join(services)):
        program = written.replace('\\"', '"').replace("\\\\", "\\").replace("%%", "%")
        if not os.access(program, os.X_OK):
            yield bad("service", f"it starts {program}, which no longer exists", again)
            return
    if not found.whole:
        what = f"{found.differing[0]} differs from what this version would write"
        yield warn("service", what, again)
    elif not reachable(here.manager):
        fix = "use it in a desktop or login session, not in a container or through su"
        yield warn("service", f"installed, but {here.manager} does not answer here", fix)
    else:
        yield ok("service", "installed")


def check_assistants(here: Machine) -> Iterator[Finding]:
    """Yield whether programs that are to start `reticent mcp` can, for whom, and which cannot."""
    system = browsers.System(here.manager, here.environment)
    seen = [each for each in look_at_hosts(system, here.interpreter) if each.state != "absent"]
    for each in seen:
        title, again = each.host.title, f"reticent mcp install {each.host.name} --write"
        if each.state == "unreadable":
            yield ok("assistants", f"{each.path} is not plain JSON: not checked")
        elif not os.access(each.program, os.X_OK):
            what = f"{title} starts {each.program or 'nothing'}, which does not exist"
            yield bad("assistants", what, again)
        elif each.state == "installed":
            yield ok("assistants", f"{title} asks for {each.recipient}")
        else:
            yield warn("assistants", f"{title} starts it in another way than this version", again)
    if not seen:
        yield ok("assistants", "none is configured; to do that: `reticent mcp install`")
    elif find_spec("mcp") is None:
        yield bad("assistants", "the extra `mcp` is not installed", install_hint("mcp"))


def check_dialogs(here: Machine) -> Iterator[Finding]:
    """Yield whether dialogs can ask for the passphrase, where the policy says so, or could."""
    settings, found = DaemonSettings(), pinentry.find()
    with suppress(ReticentError):  # `check_policy` says what is wrong with it
        settings = load(here.paths.policy, check_ours).daemon
    if settings.prompt == "terminal":
        could = "none can be opened: no pinentry is installed, and none is needed"
        if found is not None:
            could = f'`prompt = "pinentry"` under [daemon] would have {found} ask'
        yield ok("dialogs", f"the terminal asks; {could}")
        return
    program = pinentry.checked(Path(settings.pinentry)) if settings.pinentry else found
    if program is None:
        fix = "install pinentry-gnome3, pinentry-gtk2, pinentry-qt or pinentry-mac"
        yield bad("dialogs", "no pinentry is installed, so no dialog opens", fix)
    elif not pinentry.shows(here.environment):
        fix = "nothing to do if the daemon runs in a desktop session: it has its own"
        yield warn("dialogs", f"{program} asks, but this session has no display", fix)
    else:
        yield ok("dialogs", f"{program} asks")


def check_browsers(here: Machine) -> Iterator[Finding]:
    """Yield whether browsers with the relay's manifest can start it, and which cannot."""
    system = browsers.System(here.manager, here.environment)
    seen = [
        each for each in browsers.look_at_manifests(system, here.paths) if each.state != "absent"
    ]
    for each in seen:
        title, again = each.browser.title, f"{INSTALL} {each.browser.name}"
        if each.state == "installed":
            yield ok(NAME, f"{title} is connected")
        elif each.state == "foreign":
            fix = f"move it away, then {again}"
            yield warn(NAME, f"{each.path} was not written by Reticent", fix)
        else:
            yield warn(NAME, f"{each.path} differs from what this version would write", again)
    for browser in browsers.BROWSERS:
        if not browsers.is_here(browser, system):
            for sandbox in browsers.sandboxes(browser, system):
                yield warn(NAME, *confined(browser, sandbox))
    if look_at_extension(here.paths) == "differing":
        yield warn(NAME, f"{here.paths.extension} has {OUTDATED}", UPDATE)
    if seen:
        yield from _launcher(here)
    else:
        yield ok(NAME, f"none is connected; to connect them: `{INSTALL}`")


def confined(browser: browsers.Browser, sandbox: browsers.Sandbox) -> tuple[str, str]:
    """Return what it means that a browser is in a sandbox, and what to do."""
    what = f"{browser.title} is a {sandbox}, and cannot start the relay outside its sandbox"
    return what, f"install {browser.title} from the system's packages or from its maker"


def _launcher(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with what browsers start, if anything is."""
    place, state = here.paths.relay, browsers.look_at_launcher(here.paths, here.interpreter)
    program = browsers.program_of(here.paths)
    if state == "absent":
        yield bad(NAME, f"{place}, which browsers start, no longer exists", INSTALL)
    elif state == "foreign":
        what = f"{place}, which browsers start, was not written by Reticent"
        yield bad(NAME, what, f"check what it is, move it away, then {INSTALL}")
    elif program is None or not os.access(program, os.X_OK):
        yield bad(NAME, f"{place} starts {program}, which no longer exists", INSTALL)
    elif state != "installed":
        yield warn(NAME, f"{place} differs from what this version would write", INSTALL)


CHECKS: tuple[Check, ...] = (
    checks.check_python,
    checks.check_user,
    checks.check_clock,
    checks.check_disk,
    checks.check_environment,
    checks.check_folders,
    checks.check_files,
    checks.check_sockets,
    check_daemon,
    check_service,
    check_browsers,
    check_assistants,
    check_dialogs,
    check_vault,
    check_policy,
    check_models,
    checks.check_keyring,
    checks.check_screen,
)


def examine(here: Machine) -> tuple[Finding, ...]:
    """Return the findings of each check; what the system keeps it from seeing is bad."""
    findings: list[Finding] = []
    for check in CHECKS:
        try:
            findings += check(here)  # one by one: those before an error stay
        except (OSError, ReticentError) as error:
            what, fix = str(error), "fix that and try again"
            if isinstance(error, ReticentError):
                fix = error.hint
            else:
                what = f"{error.filename}: {reason(error)}" if error.filename else reason(error)
            findings.append(bad(check.__name__.removeprefix("check_"), what, fix))
    return tuple(findings)
