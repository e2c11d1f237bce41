"""What a web page may ask and read: its own site's alone. An extension asks for what it sees."""

from collections.abc import Sequence

from msgspec.structs import replace

from agent.daemon.rates import Asker
from agent.errors import RefusedError
from agent.wire.decide import Ask, Clicked, Offer, Refuse, RelayedDecide
from agent.wire.routes import CONTROL, Door
from agent.wire.state import Locked
from policy.hosts import host_of, site_of
from policy.match import in_clear

EXTENSIONS = ("chrome-extension://", "moz-extension://")


def check_page(origins: Sequence[str], message: object) -> None:
    """Raise RefusedError where a page asks in somebody else's name, or is not https.

    Limits are each recipient's own: under many names it would be told more than any of them may
    be. ``origins``: of the request, as the header Origin has them; who sends none is a program.
    UsageError where a host is none.
    """
    if any(in_clear(each) for each in origins if each.startswith("http:")):
        what, hint = "what this page gets the network would read", "use the site's https address"
        raise RefusedError("refused", what, hint)
    host, pages = _named(message), sites_of(origins)
    if pages and (host is None or pages != {site_of(host_of(host))}):
        hint = "let an extension ask, or a program with the token"
        raise RefusedError("refused", "a page may ask for its own site alone", hint)


def shown(answer: object, origins: Sequence[str]) -> object:
    """Return an answer as the caller may read it: a page sees its own site's searches alone.

    All of them would tell it which sites the user trusts. UsageError where a host is none.
    """
    pages = sites_of(origins)
    if not pages or not isinstance(answer, Locked):
        return answer
    own = [each for each in answer.sites if pages == {site_of(host_of(each.recipient))}]
    return replace(answer, sites=own)


def asker(door: Door, origins: Sequence[str], message: object, *, by_port: bool) -> Asker:
    """Return who asks for a decision: at the query door, the user where our extension says so.

    It says so in an envelope, which comes by the Unix socket: what comes by the port is a
    program's, and a page that sends an envelope is a page all the same.
    """
    if sites_of(origins):
        return "page"
    if door == CONTROL:
        return "command"
    return message.by if isinstance(message, RelayedDecide) and not by_port else "program"


def sites_of(origins: Sequence[str]) -> set[str]:
    """Return the sites of the pages that ask, none where a program or an extension does."""
    return {site_of(host_of(each)) for each in origins if not each.startswith(EXTENSIONS)}


def _named(message: object) -> str | None:
    """Return whom a message is about, None where it says nothing of that."""
    match message:
        case Ask(recipient=host) | Offer(recipient=host) | Refuse(recipient=host):
            return str(host)
        case Clicked(host=host):
            return str(host)
    return None
