"""The memory of a process that holds keys: nothing of it is written to a disk when it crashes."""

import ctypes
import resource
import sys
from contextlib import suppress

_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of linux/prctl.h


def forbid_dumps() -> None:
    """Let no core file be made of this process, for good; to be called before a secret is read.

    On Linux no other process of the same user can read its memory either, but root's. Sources:
    setrlimit(2), PR_SET_DUMPABLE(2const); core(5): a limit alone does not stop a core that is
    piped to a program.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a C library that cannot be asked
            system = ctypes.CDLL(None)
            system.prctl(_SET_DUMPABLE, *[ctypes.c_ulong(0)] * 4)
