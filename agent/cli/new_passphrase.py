"""A new passphrase: long enough, and not weak unless that is meant."""

import click

from agent.cli.problems import told
from agent.cli.secret import ask_new_secret, read_secret
from agent.cli.strength import check_passphrase, strength
from agent.cli.terminal import at_terminal
from agent.errors import UsageError


def new_passphrase(prompt: str) -> str:
    """Return a new passphrase, asked for where somebody is there, else a line of the input.

    UsageError for a line that is none or too short.
    """
    return ask_passphrase(prompt) if at_terminal() else read_passphrase(prompt)


def ask_passphrase(prompt: str) -> str:
    """Return a new passphrase, asked for again while it is too short, or weak and not meant so."""
    while True:
        try:
            text = ask_new_secret(prompt, check_passphrase)
        except UsageError as error:
            told(f"{error.what[:1].upper()}{error.what[1:]}: {error.hint}.")
            continue
        found = strength(text)
        told(found.sentence)
        if found.enough or click.confirm("That is weak. Use it all the same?", err=True):
            return text


def read_passphrase(prompt: str) -> str:
    """Return one line of the standard input, also where it is weak, which is said."""
    text = read_secret(prompt)
    check_passphrase(text)
    if not (found := strength(text)).enough:
        told(f"The passphrase is weak. {found.sentence}")
    return text
