"""Whether a core file may be made of a process, as Linux says."""

import ctypes
import resource

NEVER = "(0, 0) 0"
_DUMPABLE = 3  # PR_GET_DUMPABLE of linux/prctl.h


def state() -> str:
    """Return how large a core file of this process may be, and whether there may be one."""
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    return f"{limits} {ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)}"
