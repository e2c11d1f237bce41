"""What a web page may ask: for its own site alone. An extension asks for the pages that it sees."""

from collections.abc import Sequence

from agent.errors import RefusedError
from agent.wire.asking import Ask, Clicked, Offer, Refuse
from policy.hosts import host_of, site_of

EXTENSIONS = ("chrome-extension://", "moz-extension://")


def check_page(origins: Sequence[str], message: object) -> None:
    """Raise RefusedError where a page asks in somebody else's name.

    Limits are each recipient's own: under many names it would be told more than any of them may
    be. ``origins``: of the request, as the header Origin has them; who sends none is a program.
    UsageError where a host is none.
    """
    pages = [origin for origin in origins if not origin.startswith(EXTENSIONS)]
    if not pages:
        return
    host = _named(message)
    if host is None or {site_of(host_of(page)) for page in pages} != {site_of(host_of(host))}:
        hint = "let an extension ask, or a program with the token"
        raise RefusedError("refused", "a page may ask for its own site alone", hint)


def _named(message: object) -> str | None:
    """Return whom a message is about, None where it says nothing of that."""
    match message:
        case Ask(recipient=host) | Offer(recipient=host) | Refuse(recipient=host):
            return str(host)
        case Clicked(host=host):
            return str(host)
    return None
