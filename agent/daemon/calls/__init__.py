"""Every call of the API but events and shutdown, as one method each, by its route's name.

The body comes first, parameters by keyword. Each raises a ReticentError where it cannot be done.
"""

from agent.daemon.calls.asking import Asking
from agent.daemon.calls.keeping import Keeping
from agent.daemon.calls.locking import Locking
from agent.daemon.calls.models import Models
from agent.daemon.calls.policing import Policing
from agent.daemon.calls.ruling import Ruling


class Calls(Locking, Asking, Ruling, Keeping, Policing, Models):
    """What both doors lead to: each is one step, but those that are coroutines leave room.

    All of it belongs to one thread.
    """
