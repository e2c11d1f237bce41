"""The JSON Schema of policy files, for editors; it accepts whatever `policy.read` accepts. Pure.

The shipped file has the parts of a policy as they are written there, and the settings as this
module derives them: `pytest tests/policy/test_format.py --accept` writes it anew.
`python -m policy.schema` prints it. Source: JSON Schema 2020-12; FORMAT.md.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from policy.read import shipped_text
from policy.sections import MISPLACED, NO_PRESET, PRESETS
from policy.settings import DAEMON, DEFAULTS, JUDGE, SETTINGS, DaemonSettings, Setting

Schema = dict[str, Any]
FILE = "policy.schema.json"


def schema() -> Schema:
    """Read the shipped schema, with every setting as the tables of settings have it."""
    shipped: Schema = json.loads(shipped_text(FILE))
    top = shipped["properties"]
    rule, entry = top["rule"]["items"], top["attributes"]["additionalProperties"]["anyOf"][1]
    shipped["$defs"] = {key: _setting(each, DEFAULTS) for key, each in SETTINGS.items()} | {
        "texts": shipped["$defs"]["texts"]
    }
    for part in (shipped, rule):
        part["properties"] = _with_settings(part["properties"], "attribute", "request", "recipient")
    entry["properties"] = _with_settings(entry["properties"], "attribute")
    rule["dependentSchemas"] = {
        part: {"properties": dict.fromkeys(_references(*about), False)}
        for part, (_, about) in MISPLACED.items()
    }
    top["preset"]["enum"] = [*PRESETS, NO_PRESET]
    usual = asdict(DaemonSettings())
    top["daemon"]["properties"] = {key: _setting(each, usual) for key, each in DAEMON.items()}
    top["judge"]["properties"] = {key: _setting(each, {}) for key, each in JUDGE.items()}
    return shipped


def text() -> str:
    """The schema as the text of its file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _setting(setting: Setting, defaults: Mapping[str, Any]) -> Schema:
    """The schema of a setting's values, with its names in their order."""
    kind = msgspec.json.schema(setting.kind)
    if setting.choices:
        kind["enum"] = [*setting.choices]
    if "pattern" in kind:  # \Z is Python's alone
        kind["pattern"] = kind["pattern"].replace(r"\Z", "$")
    kind.pop("description", None)  # of the range
    kind["description"] = setting.means
    return {**kind, "default": defaults[setting.key]} if setting.key in defaults else kind


def _references(*about: str) -> Schema:
    """The properties for all settings that are about one of these, or are one of them."""
    keys = (key for key, each in SETTINGS.items() if {key, each.about} & {*about})
    return {key: {"$ref": f"#/$defs/{key}"} for key in keys}


def _with_settings(properties: Schema, *about: str) -> Schema:
    """Properties with the settings that are about one of these, and no others."""
    others = {key: each for key, each in properties.items() if each != {"$ref": f"#/$defs/{key}"}}
    return others | _references(*about)


if __name__ == "__main__":
    sys.stdout.write(text())
