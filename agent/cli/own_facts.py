"""Facts in the user's own words: each is shown, and may be changed, before any is kept."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby

import click
from msgspec.structs import replace

from agent.cli.options import at_terminal, today
from agent.cli.printing import facts, printable, say, strong
from agent.cli.profile_file import OwnFact, edit_of
from agent.cli.prompts import agree, line, pick
from agent.decision.values import Fact, Proposal
from agent.errors import ReticentError, UsageError
from agent.model.world import RARITIES
from agent.tradeoff.shares import OWN_SHARES
from agent.wire.base import RecipientName
from agent.wire.client import Client
from agent.wire.decide import Draft, Tell
from agent.wire.policy import AttributeStatus
from agent.wire.state import FactDraft, FactEdit, FactTexts, ProfileChange
from agent.words.figures import SENSITIVITIES, counted
from agent.words.notices import taken_for

SHOWN = 6  # characters of an id
BATCH = 60 << 10  # bytes of a message, of which each text is taken for 64, and 4 a character
KEEP, DROP, CHANGE, BACK, REST = "k", "d", "c", "<", "-"
KEYS = "k keeps a fact, d drops it, c changes it, Enter is the capital letter; < goes back, - ends."


def kinds_of(client: Client) -> dict[str, str]:
    """The titles of the kinds that a fact may be of, by concept."""
    statuses: list[AttributeStatus] = client.call("attributes")
    firsts = (e for e in statuses if e.scope == "person" and e.shared in ("", e.name))
    return {each.kind: each.title for each in firsts}


def proposed(texts: Sequence[str], client: Client, draft: str | None = None) -> FactDraft:
    """Ask the daemon what facts in own words would be; ``draft``: to add them to."""
    proposals = list[Proposal]()
    sizes = accumulate(64 + 4 * len(each) for each in texts)
    for _, some in groupby(zip(texts, sizes, strict=True), key=lambda each: each[1] // BATCH):
        body = FactTexts(texts=[text for text, _ in some], draft=draft)
        part: FactDraft = client.call("propose", body)
        draft, proposals = part.draft, [*proposals, *part.proposals]
    return FactDraft(draft=draft or "", proposals=proposals)


def adding(new: Sequence[OwnFact], client: Client, *, yes: bool) -> ProfileChange:
    """Review new facts; return the change that keeps those which the user wants.

    ``yes``: all that are new, without a question; with --json they are not shown, either.
    UsageError where there is none, or nobody to answer; ReticentError where the answer is no.
    """
    if not new:
        raise UsageError("there is no fact in this text", 'write one, as in "I have a cat"')
    from agent.daemon.profile import edited  # with much of the daemon

    draft, kinds = proposed([each.words for each in new], client), kinds_of(client)
    whole = {each.fact.id: each.fact for each in draft.proposals}
    for at, (each, edit) in enumerate(zip([*draft.proposals], new, strict=False)):
        draft.proposals[at] = replace(each, fact=edited(each.fact, edit))
    if yes or not at_terminal():
        silent = yes and click.get_current_context().params["as_json"]
        for at in range(0 if silent else len(draft.proposals)):
            click.echo(described(draft, at, kinds), err=True)
        agree("Keep what is new?", yes=yes)
        kept = [each for each in draft.proposals if each.is_new]
    else:
        draft, kept = reviewed(draft, kinds, client)
        if len(draft.proposals) > 1:
            agree(f"Enter stores nothing. Keep {counted(len(kept), 'fact')}?", yes=False)
    # Only what differs is sent: two thousand facts have room in one message.
    facts_ = [each.fact for each in kept]
    keep = [FactEdit(id=e.id) if whole.get(e.id) == e else edit_of(e) for e in facts_]
    return ProfileChange(draft=draft.draft, keep=keep)


def described(draft: FactDraft, at: int, kinds: Mapping[str, str]) -> str:
    """Lay out one fact of a draft, with what it was taken for."""
    each = draft.proposals[at]
    head = f"\n{at + 1} of {len(draft.proposals)}: {each.fact.words}"
    rows = taken_for(each, kinds.get(each.fact.kind, each.fact.kind))
    return f"{strong(head)}\n{facts(rows.items())}"


def reviewed(
    draft: FactDraft, kinds: Mapping[str, str], client: Client
) -> tuple[FactDraft, list[Proposal]]:
    """Ask about each fact of a draft; return it as changed, and what is kept of it."""
    at, answers = 0, [KEEP if each.is_new else DROP for each in draft.proposals]
    say(KEYS)
    while at < len(answers):
        click.echo(described(draft, at, kinds), err=True)
        prompt = "/".join(e.upper() if e == answers[at] else e for e in (KEEP, CHANGE, DROP))
        answer = line(f"[{prompt}]").casefold() or answers[at]
        if answer == CHANGE:
            draft, answers[at] = changed(draft, at, kinds, client), KEEP
        elif answer in (KEEP, DROP):
            answers[at], at = answer, at + 1
        elif answer == BACK:
            at = max(at - 1, 0)
        elif answer == REST:
            break
        else:
            say("That is not one of the answers: type k, d, c, < or -, or Enter.")
    pairs = zip(draft.proposals, answers, strict=True)
    return draft, [each for each, answer in pairs if answer == KEEP]


def changed(draft: FactDraft, at: int, kinds: Mapping[str, str], client: Client) -> FactDraft:
    """Ask what is to be different of one fact of a draft; Enter leaves each as it is."""
    from agent.daemon.profile import edited

    each, proposals = draft.proposals[at], [*draft.proposals]
    if words := line("Words, or Enter"):
        draft = proposed([words], client, draft.draft or None)
        each = draft.proposals[-1]
    edit, titles = FactEdit(id=each.fact.id), [*kinds.values()]
    if title := pick("Kind, or Enter", titles, ()):
        edit = replace(edit, kind=[*kinds][titles.index(title)])
    if share := pick("How many people would say the same, or Enter", [*RARITIES], [*RARITIES]):
        edit = replace(edit, share=OWN_SHARES[RARITIES.index(share)])
    if person := pick("Whom you would tell, or Enter", [*SENSITIVITIES], [*SENSITIVITIES]):
        edit = replace(edit, sensitivity=SENSITIVITIES[person])
    if short := line("Short form for searches, - for none, or Enter"):
        edit = replace(edit, short="" if short == REST else short)
    proposals[at] = replace(each, fact=edited(each.fact, edit))
    return FactDraft(draft=draft.draft, proposals=proposals)


def editing(begun: str, same_as: str | None, client: Client) -> ProfileChange:
    """Ask what is to be different of the fact whose id begins so; UsageError where none does.

    Nothing is asked with ``same_as``, the id of a fact with which it counts as one, REST for none.
    """
    if same_as is not None:
        other = begun if same_as == REST else same_as
        return ProfileChange(edit=[FactEdit(id=begun, same_as=other)])
    own: list[Fact] = [each for each in client.call("profile").facts if each.words]
    some = [Proposal(fact=each) for each in own if each.id.startswith(begun)]
    if len(some) != 1:
        hint = "`reticent profile show` lists the ids of facts in your own words"
        raise UsageError(f"{len(some) or 'no'} facts have an id that begins with {begun!r}", hint)
    draft, kinds = FactDraft(draft="", proposals=some), kinds_of(client)
    click.echo(described(draft, 0, kinds), err=True)
    draft = changed(draft, 0, kinds, client)
    edit = edit_of(draft.proposals[0].fact)
    if edit.id == some[0].fact.id:
        return ProfileChange(edit=[edit])
    return ProfileChange(draft=draft.draft, keep=[edit], unset=[some[0].fact.id])


def memory_for(recipient: str, client: Client, *, yes: bool) -> tuple[object, str]:
    """Show what a recipient may know, and record it as sent once the user agrees; a line a fact.

    ReticentError where that is nothing, or the answer is no.
    """
    draft: Draft = client.call("export", RecipientName(recipient=recipient))
    if not draft.facts:
        hint = f"`reticent policy show --recipient {recipient}` says what your rules are"
        raise ReticentError(f"there is nothing that {recipient} may know now", hint)
    lines = [f"[{today()}] - {each.phrase}" for each in draft.facts]
    if not yes:
        click.echo("\n".join(map(printable, lines)), err=True)
        say(f"After that, {draft.people.removeprefix('expected: ')}.")
    agree(f"Count this as sent to {recipient}?", yes=yes)
    client.call("tell", Tell(id=draft.id, names=[each.name for each in draft.facts]))
    return {"facts": draft.facts}, "\n".join(lines)
