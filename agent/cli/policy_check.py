"""`reticent policy check`."""

import click


@click.command()
def check() -> None:
    """Do nothing yet."""
