"""`reticent status`, `lock` and `unlock`: whether requests are answered."""

import os

import click

from agent.cli.daemon_client import call, door
from agent.cli.interrupt import uninterrupted
from agent.cli.options import Output, answers, now, yes_option
from agent.cli.printing import facts, note, page, paragraph, texts
from agent.cli.prompts import ask_for, method_options
from agent.errors import UsageError, VaultError
from agent.paths import paths
from agent.wire.state import Method, Pause, PolicyStatus, Status, Unlock, screen_of
from agent.words.figures import counted, moment
from agent.words.notices import model_line, running
from agent.words.titles import write_policy

MINUTES_OF = {"m": 1, "h": 60, "d": 24 * 60}
WITH_THE_SCREEN = "when the screen locks, the machine sleeps, or you log out"


@click.command()
@click.option("--socket", is_flag=True, help="Print where programs ask it, and nothing else.")
@answers
def status(*, socket: bool) -> Output:
    """Show whether requests are answered.

    Also shows the policy and the models in use, and how many requests wait for you.
    """
    if socket:
        place = str(paths().query)
        return Output({"socket": place}, place)
    state: Status = call("status")
    return Output(state, status_text(state))


def status_text(status: Status) -> str:
    """Lay out how the daemon is, whether requests are answered on top."""
    policy, minutes, lines = status.policy, status.lock_after_minutes, []
    if status.entries is not None:
        lines.append(("ledger", counted(status.entries, "entry", "entries")))
    if status.vault:
        soon = f"after {minutes:g} minutes without a command or a search of yours, and "
        lines.append(("locks itself", f"{soon if minutes else ''}{WITH_THE_SCREEN}"))
    waiting = f"{status.waiting}; `reticent requests list --waiting` lists them"
    daemon = f"version {status.version}, process {status.process}, since "
    lines += [
        ("policy", _policy(policy, vault=status.vault)),
        *((("limits", policy.limits),) if policy.limits else ()),
        *(("problem", each) for each in policy.problems),
        *(("model", model_line(each)) for each in status.models),
        *((("people", status.people),) if status.people else ()),
        ("waits for you", waiting if status.waiting else "nothing"),
        ("daemon", f"{daemon}{moment(status.started_at)}"),
    ]
    notices = [status.notice] if status.notice is not None and not status.locked else []
    lines += [("note", each) for each in (*notices, *status.notes)]
    return page(running(status), facts(lines))


def _policy(policy: PolicyStatus, *, vault: bool) -> str:
    """Say where the policy is and what is in use of it; `init` makes one with the vault."""
    path = policy.path
    if not policy.in_use and not policy.problems:
        return f"none: {write_policy(path)}" if vault else f"none; it would be {path}"
    if not policy.in_use:
        return f"{path}: not in use"
    read = "" if policy.loaded_at is None else f", read {moment(policy.loaded_at)}"
    stale = "; its last good version is in use" if policy.problems else ""
    return f"{path}: {counted(policy.rules, 'rule')}{read}{stale}"


@click.command()
@answers
def lock() -> Output:
    """Close the vault, so that nothing is sent."""
    state: Status = call("lock")
    return Output(state, paragraph(running(state)))


@click.command()
@click.argument("time", metavar="[TIME|off]", default="1h")
@answers
def pause(time: str) -> Output:
    """Attach nothing for TIME, such as 30m, 1h or 2d; `off` ends it.

    It lasts beyond a lock and a restart of the daemon. Without TIME it is an hour.
    """
    number, unit = time[:-1], MINUTES_OF.get(time[-1:], 0)
    minutes = int(number) * unit if number.isascii() and number.isdecimal() else 0
    if time != "off" and not 0 < minutes <= 7 * MINUTES_OF["d"]:
        raise UsageError(f"{time!r} is not a time", "write 30m, 1h, or 2d; at most 7d; or `off`")
    with door() as client:
        client.call("pause", Pause(minutes=minutes))
        state: Status = client.call("status")
    return Output(state, paragraph(running(state)))


@click.command()
@click.option("--reset-clock", is_flag=True, help=texts("status")["reset_clock"])
@yes_option
@method_options
@answers
def unlock(method: Method, *, reset_clock: bool, yes: bool) -> Output:
    """Open the vault, so that requests are answered.

    It asks for the passphrase; without a terminal, it reads one line of the standard input.
    """
    if reset_clock:
        return _reset(yes=yes)
    with door() as client:
        state: Status = client.call("status")
        if not state.vault and state.notice is None:
            raise VaultError("there is no vault yet", "make one with `reticent init`")
        notes = ["the vault was already open; the secret was not checked"]
        if state.locked:
            screen = screen_of(os.environ)
            how = Unlock(method=method, secret=ask_for(method), screen=screen)
            state = client.call("unlock", how)
            notes = ([state.notice] if state.notice else []) + state.notes
    for each in notes:
        note(each)
    return Output(state, paragraph(running(state)))


def _reset(*, yes: bool) -> Output:
    """Have time run by the clock again, once the passphrase opens the vault; leave it locked.

    Entries stay as they are, and none counts as later than now any more.
    """
    from agent.cli.vault import opening_secret
    from agent.vault.vault import unlock as opened
    from agent.vault.vault_files import Location

    clock = now()
    question = f"Is it {clock:%Y-%m-%d %H:%M}, as the clock says?"
    secret = opening_secret("passphrase", question, yes=yes)
    with opened(Location.of(paths()), secret) as vault, uninterrupted():
        latest = vault.ledger.disclosures.latest
        text, done = "The clock is not behind the ledger: nothing to reset.", False
        if latest is not None and latest > clock:
            vault.reset_clock(clock)
            what = f"The ledger's latest time was {latest:%Y-%m-%d %H:%M}; now the clock's counts."
            text, done = paragraph(f"{what} Unlock the vault again."), True
    return Output({"done": done, "latest": latest, "now": clock}, text)
