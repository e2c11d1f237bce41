"""The screens: a client of the daemon that shows what left, why, and at what cost.

`app` is the program, `link` its way to the daemon, `actions` all that a person can do in it. A
screen is thin: it asks the daemon, and shows the answer. Nothing is computed here that another
program would need, and no key is owned.
"""
