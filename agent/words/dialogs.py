"""What a dialog on the desktop says: short, and with nothing in it that could pass for ours.

A recipient is its canonical host, so in punycode, and keeps its end where it is cut; titles come
from model files, so they are cut, and nothing in them steers what shows them.
"""

from msgspec.structs import replace

from agent.wire.policy import Review
from agent.words import notices
from agent.words.figures import counted, listed
from agent.words.titles import Titles

TITLE = "Reticent"
PROMPT = "Passphrase:"
UNLOCK, NOT_NOW = "Unlock", "Not now"
YES, NO, LATER = "Yes ...", "No", "Decide later"
ONCE, ALWAYS = "Just once", "From now on"
MOST_NAMED = 4  # attributes that one dialog is about; others wait on
LONGEST = 48  # characters of a title or a query; the shipped titles fit
LONGEST_HOST = 60
_MARKUP = str.maketrans("<>&", "()+")  # some labels take it for markup


def locked(host: str) -> str:
    """Return why the passphrase is asked for; ``host``: whom the request went to."""
    return (
        f"A request of yours to {_ending(host)} was answered without your facts, since the vault "
        "is locked. Unlock it for the next ones?\n"
        'After "Not now" you are not asked for ten minutes.'
    )


def wrong(left: int) -> str:
    """Return that a passphrase was wrong; ``left``: how often it may be tried again."""
    return f"That is not the passphrase. {counted(left, 'try', 'tries')} left."


def asks(review: Review, titles: Titles) -> str:
    """Return what waits as a question, about the first `MOST_NAMED` of its attributes."""
    safe = replace(
        review,
        recipient=_ending(review.recipient),
        pool=_ending(review.pool),
        query=_plain(review.query),
        names=review.names[:MOST_NAMED],
    )
    return notices.asks(safe, _titles(review, titles))


def how_long(review: Review, titles: Titles) -> str:
    """Return the question for how long it may be sent."""
    names = listed(_titles(review, titles).values())
    return (
        f"For how long may {names} be sent to {_ending(review.pool)}?\n"
        f'"{ONCE}" is with the next request. "{ALWAYS}" is written into your policy.'
    )


def _titles(review: Review, titles: Titles) -> dict[str, str]:
    return {name: _plain(titles.get(name, name)) for name in review.names[:MOST_NAMED]}


def _plain(text: str) -> str:
    """Return a text that is cut, and has no control character and no markup."""
    clean = "".join(each if each.isprintable() else "?" for each in text.translate(_MARKUP))
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 3]}..."


def _ending(host: str) -> str:
    """Return a host, or its end, which says whose it is; all but ASCII is escaped."""
    clean = host.encode("ascii", "backslashreplace").decode()
    clean = "".join(each if each.isprintable() else "?" for each in clean.translate(_MARKUP))
    return clean if len(clean) <= LONGEST_HOST else f"...{clean[3 - LONGEST_HOST :]}"
