"""`reticent ask`: what one request may carry, and why."""

from collections.abc import Iterable

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import HOST, NOT_UNDERSTOOD, QUERY, Output, all_option, answers
from agent.cli.printing import note, page, texts
from agent.decision.values import UNDECIDED, Code, Decision
from agent.errors import DaemonError, LockedError, ReticentError, UsageError
from agent.paths import paths
from agent.wire.decide import Answer as Attached
from agent.wire.decide import Ask
from agent.wire.policy import Review
from agent.wire.state import Status
from agent.words import titles as words
from agent.words.decisions import BRIEF, MORE, explanation, headline, lines
from agent.words.figures import listed
from agent.words.layout import facts
from agent.words.notices import sent_to, waits
from policy.hosts import DOUBT, host_of, odd_ending

EXPLAIN = "Show what would be sent and why, and send nothing."
HEADER = "Shared-Attributes"


NO_VAULT = "nothing can be sent: there is no vault yet"
ERRORS: dict[str, type[ReticentError]] = {"locked": LockedError, "not https": UsageError}


def undecided(code: Code, status: Status) -> ReticentError:
    """Name the error for a request that was not decided; ``status``: how the daemon is."""
    if code == "locked" and not status.vault and status.notice is None:
        return DaemonError(NO_VAULT, "make one with `reticent init`")
    hint = words.WAYS_ON.get(code, "try again in a minute")
    if code == "no policy":
        path = status.policy.path
        wrong = f"`reticent policy check` says what is wrong with {path}"
        hint = wrong if status.policy.problems else words.write_policy(path)
    elif code == "failed":
        hint = status.notice or f"see `reticent status`, and the log: {paths().log}"
    return ERRORS.get(code, DaemonError)(f"nothing can be sent: {words.WHY_NOTHING[code]}", hint)


def decision_page(decision: Decision, *, explain: bool = True, every: bool = False) -> str:
    """Lay out a decision: the verdict alone, or with all that explains it."""
    if explain or every:
        return page(*explanation(decision, every=every))
    brief = [(each.label, each.text) for each in lines(decision) if each.label in BRIEF]
    return page(headline(decision), facts(brief), MORE)


def attached_page(attached: Attached, waiting: Iterable[Review], titles: words.Titles) -> str:
    """Lay out what is attached, with the values; ``waiting``: the reviews of whoever is asked."""
    summary = attached.summary
    if summary is None:  # as of what was not decided, which is an error
        return ""
    titles = {**words.titles_in(summary.model, titles), **summary.titles}
    unset = listed(words.titled(attached.unspecified, titles))
    about = [("read as", words.read_as(summary.read_as))]
    if attached.attributes:
        sent = [*attached.attributes]
        again = [each.name for each in summary.because if each.reason == "known to the recipient"]
        again = [name for name in again if name in sent]
        verdict = sent_to(summary.pool, sent, titles, summary.people_left, again, summary.among)
    elif unset:
        verdict = f"Sent nothing to {summary.pool}: you prefer not to say {unset}."
    else:
        why = summary.why or words.WHY_NOTHING[attached.code]
        verdict = f"Sent nothing to {summary.pool}: {why}."
    if unset:
        about.append(("unspecified", f"{unset}: left blank (the site can tell that you declined)"))
    about += [("waits for you", waits(each, titles)) for each in waiting]
    pairs = ", ".join(f"{name}={value}" for name, value in attached.parameters.items())
    header = f"{HEADER}: {attached.header}" if attached.header else ""
    ways = {"header": header, "words": attached.words, "parameters": pairs}
    about += [(label, text) for label, text in ways.items() if text]
    every = ((titles.get(n, n), v, n in attached.facts) for n, v in attached.attributes.items())
    values = ((title, words.stated(value, title, own=own)) for title, value, own in every)
    return page(verdict, facts(values), facts(about))


@click.command()
@click.argument("recipient", type=HOST)
@click.argument("query", type=QUERY)
@click.option("--explain", is_flag=True, help=EXPLAIN)
@all_option
@answers
def ask(recipient: str, query: str, *, explain: bool, every: bool) -> Output:
    """Get the facts that a request of QUERY to RECIPIENT may carry.

    Ask only for what you are about to send: the answer is recorded as sent to the recipient, except
    with --explain. With - as QUERY it is read from the standard input: every user of this machine
    can read the arguments of a running command, and a shell keeps them.
    """
    with door() as client:
        request = Ask(recipient=recipient, query=query)
        answer: Attached | Decision = client.call("explain" if explain else "decide", request)
        if answer.stale_rules:
            note(texts("ask")["stale"])
        if answer.code in UNDECIDED:
            return Output(answer, "", error=undecided(answer.code, client.call("status")))
        ending = odd_ending(host_of(recipient))
        if ending and client.call("recipients", recipient=recipient)[0].requests <= 1:
            note(f"{DOUBT.format(ending)}: is {recipient} written as you mean it?")
        if isinstance(answer, Decision):
            return Output(answer, decision_page(answer, every=every))
        pool = answer.summary.pool if answer.summary and answer.summary.waiting else None
        reviews: list[Review] = client.call("reviews") if pool else []
        theirs = [each for each in reviews if each.pool == pool and each.query == query]
        code = NOT_UNDERSTOOD if answer.code == "unknown query" else 0
        return Output(answer, attached_page(answer, theirs, titles_of(client)), code)
