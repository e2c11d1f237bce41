"""The command line: the only room that prints and sets exit codes.

`main.run` is the outermost frame; each command group is one file, imported when it is called.
"""
