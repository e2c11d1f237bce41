"""Options that many commands share."""

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
