"""A policy file that says nothing, as an editor or a full disk leaves it. Pure."""

import tomllib

from agent.errors import Problem

NOTHING = Problem(1, "", "the file says nothing", 'write preset = "balanced" into it')


def says_nothing(text: str) -> bool:
    """Say whether no key of a policy has a value, but ``format``; ``text``: of a valid one.

    By the letter it would open everything, and it is what is left of any file that is emptied
    before it is written.
    """
    said = {key: value for key, value in tomllib.loads(text).items() if value not in ({}, [])}
    return not said.keys() - {"format"}
