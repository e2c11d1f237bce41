"""Policy files on disk: the one place of this room that reads and writes."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from agent.errors import UsageError, reason
from policy.read import LARGEST, read
from policy.rules import Layer, Policy, Rule


def load(path: Path) -> Policy:
    """Return the policy in a file; UsageError if it cannot be read, PolicyError if it is wrong."""
    return read(text_of(path), str(path), preset)


def text_of(path: Path) -> str:
    """Return the text of a policy file; UsageError if it cannot be read, or is not text."""
    try:
        with path.open("rb") as file:
            data = file.read(4 * LARGEST + 1)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}", "name a policy file") from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        hint = "save the file as UTF-8"
        raise UsageError(f"{path} is not UTF-8 text, line {line}", hint) from None


@cache
def preset(name: str) -> tuple[Rule, ...]:
    """Return the rules of a shipped preset."""
    rules = read(preset_text(name), f"preset {name}", None).rules
    return tuple(rule for rule in rules if rule.layer is Layer.PRESET)


def preset_text(name: str) -> str:
    """Return a shipped preset as it is written."""
    return files("policy").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")
