"""`reticent connect` and `disconnect`: what starts the daemon, the relay and `reticent mcp`."""

from collections.abc import Iterator, Sequence

import click

from agent.cli.assistants import check_extra
from agent.cli.options import HOST, OneOf, Output, answers, option
from agent.cli.printing import Column, listing, paragraph, table, texts, wide
from agent.daemon import programs, service
from agent.daemon.artifacts import Machine
from agent.daemon.doctor import sandboxed
from agent.daemon.sockets import listens
from agent.errors import DaemonError, ReticentError, UsageError
from policy.hosts import host_of

SYSTEM, ALL_BROWSERS = programs.SYSTEM, "browsers"
BROWSERS = [each.name for each in programs.BROWSERS]
ASSISTANTS = [each.name for each in programs.HOST_PROGRAMS]
TEXTS = texts("connect")
COLUMNS = (Column("name"), wide("state"))

NAMES = OneOf([SYSTEM, ALL_BROWSERS, *BROWSERS, *ASSISTANTS])
which = click.argument("names", metavar="[NAME]...", nargs=-1, type=NAMES)


@click.command()
@which
@option("--recipient", HOST, "RECIPIENT", "Who gets the facts. By default whoever answers there.")
@answers
def connect(names: Sequence[str], recipient: str | None) -> Output:
    """Connect NAME to Reticent, or list what is connected.

    \b
    system starts the daemon when it is first needed;
    chromium, chrome, brave, edge, vivaldi, firefox, or browsers for all that
    are installed, ask it through Reticent's extension, to be loaded once;
    claude-desktop, claude-code, vscode, cursor ask it in their conversations.
    In other programs' files, only Reticent's own entry changes.
    """  # noqa: D301  (click's mark, which stands for itself)
    machine = programs.this_machine()
    if not names:
        return _listed(machine)
    chosen = _chosen(names, machine, recipient)
    if any(each.kind == "assistant" for each in chosen):
        check_extra()
    commands = _stopped(machine) if any(each.name == SYSTEM for each in chosen) else []
    places = [str(each.path) for each in programs.write(chosen)]
    remaining = _run(commands)
    parts = [listing("Wrote:", places), *_next(chosen, machine, remaining)]
    message = {"connected": [each.name for each in chosen], "written": places, "left": remaining}
    return Output(message, "\n".join(parts), ReticentError.exit_code if remaining else 0)


@click.command()
@which
@answers
def disconnect(names: Sequence[str]) -> Output:
    """Disconnect NAME from Reticent, or list what is connected.

    The names are those of `reticent connect`. What belongs to others stays.
    """
    machine = programs.this_machine()
    if not names:
        return _listed(machine)
    chosen = [
        each
        for each in programs.installations(machine)
        if each.name in names or (each.kind == "browser" and ALL_BROWSERS in names)
    ]
    removed, remaining, stays = disconnected(chosen, machine)
    lines = [listing("Removed:", removed) if removed else "Nothing to remove."]
    if any(each.kind == "browser" for each in chosen) and removed:
        lines.append("A running browser stays connected until you close it.")
    if stays:
        lines.append(listing("This is not of this installation, and stays:", stays))
    if remaining:
        lines.append(left_to_run(remaining))
    return Output({"removed": removed, "stays": stays, "left": remaining}, "\n".join(lines))


def disconnected(
    chosen: Sequence[programs.Installation], machine: Machine
) -> tuple[list[str], list[str], list[str]]:
    """Disconnect programs; return the files that are gone, the commands left, and what stays."""
    system = any(each.kind == "system" and each.state in programs.PRESENT for each in chosen)
    if system and service.reachable():
        service.run(service.STOPPING)
    removed = [str(each.path) for each in programs.remove(chosen, programs.installations(machine))]
    stays = [str(each.artifact.path) for each in chosen if each.state != "absent"]
    return removed, _run([service.RELOAD] if system else []), stays


def left_to_run(commands: Sequence[str]) -> str:
    """List the commands that the user has to run."""
    return listing("systemd does not answer here. Where it does, run:", commands)


def _chosen(
    names: Sequence[str], machine: Machine, recipient: str | None
) -> list[programs.Installation]:
    """Find the installations of these names; UsageError for browsers if there is none."""
    wanted = {*names}
    if ALL_BROWSERS in wanted:
        here = {each.name for each in programs.BROWSERS if programs.is_here(each, machine)}
        if not here:
            none = ("no browser was found", f"name one: {', '.join(BROWSERS)}")
            raise UsageError(*next((sandboxed(*each) for each in programs.confined(machine)), none))
        wanted |= here
    if recipient is not None and not wanted & {*ASSISTANTS}:
        raise UsageError("--recipient is for an assistant", f"name one: {', '.join(ASSISTANTS)}")
    host_ = recipient and host_of(recipient)
    installations: list[programs.Installation] = []
    for own, each in (  # what is not named is not looked at
        ({SYSTEM}, programs.system_service(machine)),
        ({*BROWSERS}, programs.browser_installations(machine)),
        ({*ASSISTANTS}, programs.assistant_installations(machine, host_)),
    ):
        installations += each if wanted & own else ()
    return [each for each in installations if each.name in wanted]


def _listed(machine: Machine) -> Output:
    """Lay out the state of all that can be connected, and what is wrong with browsers."""
    rows, message, notes = [], [], [*_sandboxed(machine)]
    for each in programs.installations(machine):
        state, files = each.state, [str(each.artifact.path)]
        whom = f" for {each.recipient}" if each.recipient and state in programs.PRESENT else ""
        rows.append((each.name, f"{TEXTS['states'][state]}{whom}"))
        named = {"name": each.name, "state": state, "recipient": each.recipient}
        message.append({**named, "files": files})
    page = "\n".join([table(COLUMNS, rows), *map(paragraph, notes)])
    return Output({"programs": message, "notes": notes}, page)


def _stopped(machine: Machine) -> service.Commands:
    """Stop the service if it runs; return the commands that start it. DaemonError."""
    connected = next(programs.system_service(machine)).state != "absent"
    if service.reachable():
        if not connected and listens(machine.paths.control):
            what = "a daemon is already running, and the service would start another"
            raise DaemonError(what, "run `reticent daemon stop`, then this again")
        if connected:
            return [*service.STOPPING, *service.STARTING]
    return service.STARTING


def _run(commands: service.Commands) -> list[str]:
    """Run commands of the manager of services; return them if it does not answer."""
    if not commands or service.reachable():
        service.run(commands)
        return []
    return [" ".join(each) for each in commands]


def _next(
    chosen: Sequence[programs.Installation], machine: Machine, remaining: Sequence[str]
) -> Iterator[str]:
    """Yield what happens next, or what is left to do."""
    for each in chosen:
        if each.kind == "assistant":
            warning = f"What it is told counts as known to {each.recipient}."
            yield paragraph(f"{each.title} starts it the next time that you open it. {warning}")
        if each.kind == "system":
            runs = "The daemon runs, and starts whenever you log in."
            yield f"{left_to_run(remaining)}\n{TEXTS['until_then']}" if remaining else runs
    chosen = [each for each in chosen if each.kind == "browser"]
    if chosen:
        names = ", ".join(each.title for each in chosen)
        yield paragraph(f"{names} can reach the daemon once the extension is loaded there.")
        yield from map(paragraph, _sandboxed(machine))
        yield ""
        yield listing(TEXTS["load"], [machine.paths.extension])
        for kind, text in TEXTS["loading"].items():
            of_kind = {each.name for each in programs.BROWSERS if each.kind == kind}
            if titles := [each.title for each in chosen if each.name in of_kind]:
                yield paragraph(text.format(titles=", ".join(titles)))
        yield paragraph(TEXTS["hidden"])


def _sandboxed(machine: Machine) -> Iterator[str]:
    for each in programs.confined(machine):
        what, fix = sandboxed(*each)
        yield f"{what}: {fix}."
