"""`reticent policy show`."""

import click


@click.command()
def show() -> None:
    """Do nothing yet."""
