"""`reticent status`, `lock` and `unlock`: whether requests are answered."""

import click
from click.shell_completion import get_completion_class

from agent.cli.daemon_client import door
from agent.cli.options import OneOf, json_option, record
from agent.cli.printing import facts, note, paragraph, printable, strong
from agent.cli.prompts import ask_for, method_options
from agent.errors import VaultError
from agent.paths import paths
from agent.wire.client import Client
from agent.wire.state import Method, PolicyStatus, Status, Unlock
from agent.words.figures import counted, moment
from agent.words.notices import model_line, running
from agent.words.outcomes import write_policy

NAME = "reticent"
VARIABLE = "_RETICENT_COMPLETE"  # click derives it from the name


@click.command()
@click.option("--socket", is_flag=True, help="Print where programs ask it, and nothing else.")
@json_option
def status(*, socket: bool, as_json: bool) -> None:
    """Show whether requests are answered.

    Also shows the policy and the models in use, and how many requests wait for you.
    """
    if socket:
        place = str(paths().query)
        click.echo(record({"socket": place}) if as_json else place)
        return
    with door() as client:
        found = client.call("status")
    click.echo(record(found) if as_json else status_text(found))


def status_text(status: Status) -> str:
    """Return how the daemon is as a page, whether requests are answered on top."""
    return f"{strong(paragraph(printable(running(status))))}\n\n{facts(_facts(status))}"


def _facts(status: Status) -> list[tuple[str, str]]:
    policy = status.policy
    lines = []
    if status.entries is not None:
        lines.append(("ledger", counted(status.entries, "entry", "entries")))
    if status.vault:
        lines.append(("locks itself", _lock(status.lock_after_minutes)))
    lines.append(("policy", _policy(policy, vault=status.vault)))
    lines += [("problem", printable(each)) for each in policy.problems]
    lines += [("model", printable(model_line(each))) for each in status.models]
    pending = "; `reticent requests pending` lists it" if status.waiting else ""
    lines.append(("waits for you", (str(status.waiting) if pending else "nothing") + pending))
    since = moment(status.started_at)
    lines.append(("daemon", f"version {status.version}, process {status.process}, since {since}"))
    notices = [status.notice] if status.notice is not None and not status.locked else []
    return lines + [("note", printable(each)) for each in (*notices, *status.notes)]


def _lock(minutes: float) -> str:
    if not minutes:
        return "eight hours after the last command"
    return f"after {minutes:g} minutes without a command or a search of yours"


def _policy(policy: PolicyStatus, *, vault: bool) -> str:
    """Return where the policy is and what is in use of it; `init` makes one with the vault."""
    path = printable(policy.path)
    if not policy.in_use and not policy.problems:
        return f"none: {write_policy(path)}" if vault else f"none; it would be {path}"
    if not policy.in_use:
        return f"{path}: not in use"
    read = "" if policy.loaded_at is None else f", read {moment(policy.loaded_at)}"
    good = "; as it was when it was last right" if policy.problems else ""
    return f"{path}: {counted(policy.rules, 'rule')}{read}{good}"


@click.command()
@json_option
def lock(*, as_json: bool) -> None:
    """Close the vault, so that nothing is sent."""
    with door() as client:
        found = client.call("lock")
    click.echo(record(found) if as_json else paragraph(printable(running(found))))


@click.command()
@method_options
@json_option
def unlock(method: Method, *, as_json: bool) -> None:
    """Open the vault, so that requests are answered.

    It asks for the passphrase; without a terminal, it reads one line of the standard input.
    """
    with door() as client:
        found = _unlocked(client, method)
    if as_json:
        click.echo(record(found))
        return
    click.echo(paragraph(printable(running(found))))
    for each in ([found.notice] if found.notice else []) + found.notes:
        note(each)


def _unlocked(client: Client, method: Method) -> Status:
    """Return how the daemon is once it is open; no secret is asked for where that changes nothing.

    VaultError where there is no vault.
    """
    status: Status = client.call("status")
    if not status.vault and status.notice is None:
        raise VaultError("there is no vault yet", "make one with `reticent init`")
    if not status.locked:
        note("the vault was open already; the secret was not checked")
        return status
    opened: Status = client.call("unlock", Unlock(method=method, secret=ask_for(method)))
    return opened


@click.command()
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@json_option
@click.pass_context
def completion(context: click.Context, /, shell: str, *, as_json: bool) -> None:
    """Print what makes a shell complete the commands and options of reticent.

    \b
    In ~/.bashrc:                   eval "$(reticent daemon completion bash)"
    In ~/.zshrc, after compinit:    eval "$(reticent daemon completion zsh)"
    In ~/.config/fish/config.fish:  reticent daemon completion fish | source
    """  # noqa: D301  (click's mark, which stands for itself)
    found = get_completion_class(shell)
    if found is None:
        raise AssertionError(shell)
    script = found(context.find_root().command, {}, NAME, VARIABLE).source()
    click.echo(record({"shell": shell, "script": script}) if as_json else script)
