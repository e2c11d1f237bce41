"""The command line: the only room that prints and sets exit codes.

`main.run` is the outermost frame; each command group is one file, imported when it is called.
"""

import gc

# What a command imports stays to its end, and looking through it takes a tenth of its time.
gc.set_threshold(20_000)
