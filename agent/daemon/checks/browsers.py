"""The browsers: which know of the relay, and which are where they cannot start it."""

import os
from collections.abc import Iterator

from agent.daemon.browsers.manifests import Seen, look, look_at_launcher, program_of
from agent.daemon.browsers.places import BROWSERS, Browser, Sandbox, System, is_here, sandboxes
from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.errors import UsageError

NAME = "browsers"
INSTALL = "reticent browser install"


def browsers(here: Machine) -> Iterator[Finding]:
    """Yield whether the browsers that know of the relay can start it, and which cannot."""
    system = System(here.manager, here.environment)
    seen = [each for each in look(system, here.paths) if each.state != "absent"]
    for each in seen:
        yield _manifest(each)
    if seen:
        yield from _launcher(here)
    else:
        yield ok(NAME, f"none knows of the relay, which `{INSTALL}` changes")
    for browser in BROWSERS:
        if not is_here(browser, system):
            for sandbox in sandboxes(browser, system):
                yield warn(NAME, *confined(browser, sandbox))


def confined(browser: Browser, sandbox: Sandbox) -> tuple[str, str]:
    """Return what it means that a browser is in a sandbox, and what to do."""
    what = f"{browser.title} is here as a {sandbox}, which can start no relay outside of itself"
    return what, f"install {browser.title} from the system's packages, or its maker's"


def _manifest(seen: Seen) -> Finding:
    """Return what there is to say of a manifest that is there."""
    title, again = seen.browser.title, f"{INSTALL} {seen.browser.name}"
    if seen.state == "installed":
        return ok(NAME, f"{title} knows of the relay")
    if seen.state == "foreign":
        return warn(NAME, f"{seen.path} is not reticent's", f"move it away, then {again}")
    return warn(NAME, f"{seen.path} is not as this reticent would write it", again)


def _launcher(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with what browsers start, if anything is."""
    place = here.paths.relay
    try:
        state = look_at_launcher(here.paths, here.interpreter)
    except UsageError as error:
        yield bad(NAME, str(error), error.hint)
        return
    program = program_of(here.paths)
    if state == "absent":
        yield bad(NAME, f"{place}, which browsers start, is not there any more", INSTALL)
    elif state == "foreign":
        what = f"{place}, which browsers start, is not reticent's"
        yield bad(NAME, what, f"look at what it is, move it away, then {INSTALL}")
    elif program is None or not os.access(program, os.X_OK):
        yield bad(NAME, f"{place} starts {program}, which is not there any more", INSTALL)
    elif state != "installed":
        yield warn(NAME, f"{place} is not as this reticent would write it", INSTALL)
