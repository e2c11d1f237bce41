"""What one command needs and not every installation has: how it is installed here."""

import json
import shlex
import sys
from pathlib import Path

NAME = "reticent"  # of the distribution


def installing(extra: str) -> list[str]:
    """Write the command that installs an extra, the way that this program was installed.

    Each way leaves its mark beside the interpreter (PEP 610 has where the program came from).
    """
    from importlib.metadata import distribution  # slow to import, and hardly ever of use

    own = distribution(NAME)
    named = (each.replace('"', "'").partition(";") for each in own.requires or ())
    needed = [what.strip() for what, _, when in named if f"extra == '{extra}'" in when]
    if Path(sys.prefix, "pipx_metadata.json").exists():
        return ["pipx", "inject", NAME, *needed]
    if Path(sys.prefix, "uv-receipt.toml").exists():
        source = json.loads(own.read_text("direct_url.json") or "{}").get("url", "./WHEEL")
        return ["uv", "tool", "install", f"{NAME}[{extra}] @ {source}"]
    return [sys.executable, "-m", "pip", "install", *needed]


def install_hint(extra: str) -> str:
    """Return how to install an extra here."""
    return f"run {shlex.join(installing(extra))}"
