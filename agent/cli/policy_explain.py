"""`reticent policy explain`."""

import click


@click.command()
def explain() -> None:
    """Do nothing yet."""
