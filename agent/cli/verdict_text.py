"""What the user said, and what became of it, in sentences."""

from itertools import zip_longest

from agent.cli.lasting import how_long
from agent.decision.phrases import listed
from agent.wire.reviews import Override, Review, Ruled, Verdict

MAY = {
    "never": "{names} {do} not leave to {whom} {long}.",
    "ask": "{names} {wait} for your word before leaving to {whom} {long}.",
    "auto": "{names} may leave to {whom} {long}, where it is worth it.",
    "always": "{names} {leave} to {whom} {long}, unless a limit or a guard forbids it.",
}


def verdict_line(review: Review, verdict: Verdict) -> str:
    """Return what was said, about whom and for how long."""
    names = listed(verdict.names or review.names)
    approved = verdict.decided == "approve"
    if review.kind == "offer":
        lasting = how_long(verdict) if verdict.days else "from now on"
        if approved:
            more = "; when these are over, nothing" if verdict.days else ""
            may = f"{review.recipient} may get {names} and nothing else {lasting}"
            return f"{may}, as the policy allows{more}."
        return f"{review.recipient} gets nothing {lasting}."
    whom = "everyone" if verdict.about == "everyone" else review.pool
    may = "may leave to" if approved else "does not leave to"
    return f"{names} {may} {whom} {how_long(verdict)}."


def override_line(word: Override) -> str:
    """Return what was said of attributes, about whom and for how long."""
    whom = "everyone" if word.about == "everyone" else f"{word.recipient} and its pool"
    one = len(word.names) == 1
    return MAY[word.disclose].format(
        names=listed(word.names),
        whom=whom,
        long=how_long(word),
        do="does" if one else "do",
        wait="waits" if one else "wait",
        leave="leaves" if one else "leave",
    )


def ruled_lines(ruled: Ruled, place: str | None) -> list[str]:
    """Return where the word was written, and what it does not reach, and why."""
    lines = [] if ruled.written is None else [f"Written into {place} as {ruled.written!r}."]
    if ruled.blocked and ruled.decided_by:
        by = f"the recipient is blocked, by {ruled.decided_by[0]!r}"
        return [*lines, f"Nothing leaves all the same: {by}; `reticent unblock` takes that back."]
    for name, rule in zip_longest(ruled.without_effect, ruled.decided_by, fillvalue="another rule"):
        lines.append(f"Without effect on {name}, about which {rule!r} decides.")
    return lines
