"""The JSON Schema of policy files, for editors; it accepts whatever `policy.read` accepts. Pure.

`python -m policy.schema > policy/policy.schema.json` writes the file that is shipped.
Source: JSON Schema 2020-12; FORMAT.md.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from policy.sections import FORMAT, LONGEST_NAME, MISPLACED, MOST_LISTED, PRESETS
from policy.settings import DAEMON, DEFAULTS, SETTINGS, DaemonSettings, Setting

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAME = "^[a-z*][a-z0-9_*]*$"
GROUP = "^[a-z][a-z0-9_-]*$"
KEY = "^ed25519:[0-9a-f]{64}$"
TEXTS = {"$ref": "#/$defs/texts"}
DATE: Schema = {
    "type": "string",
    "format": "date",
    "description": "The last day on which it holds, as in 2027-03-01, without quotes.",
}


def schema() -> Schema:
    """Return the schema as JSON's own types."""
    parts: Schema = {
        "format": {"const": FORMAT, "description": "The version of the format."},
        "preset": {"enum": [*PRESETS], "description": "Where to start from."},
        "trusted_keys": {
            **_listed({"type": "string", "pattern": KEY}),
            "description": "Public keys of model makers; without it no signature is required.",
        },
        **_references("attribute", "request", "recipient"),
        "attributes": {
            "type": "object",
            "propertyNames": {"pattern": NAME},
            "additionalProperties": {
                "anyOf": [
                    {"$ref": "#/$defs/disclose"},
                    {**_table({**_references("attribute"), "expires": DATE}), "minProperties": 1},
                ]
            },
            "description": "Attribute = what may happen to it, or a table of its settings.",
        },
        "groups": {
            "type": "object",
            "propertyNames": {"pattern": GROUP, "not": {"const": "localhost"}},
            "additionalProperties": TEXTS,
            "description": "Name = recipients that share what they learn, and so count as one.",
        },
        "queries": {
            **_table({"block": {**TEXTS, "description": "A request with one carries nothing."}}),
            "description": "Queries that are blocked.",
        },
        "daemon": {
            **_table(
                {key: _setting(each, asdict(DaemonSettings())) for key, each in DAEMON.items()}
            ),
            "description": "How the daemon behaves, for all requests.",
        },
        "rule": {"type": "array", "items": _rule()},
    }
    return {
        "$schema": DIALECT,
        "title": "Reticent's policy",
        "description": "Which facts may be sent, to whom, and how much each must help.",
        "$defs": {
            **{key: _setting(each, DEFAULTS) for key, each in SETTINGS.items()},
            "texts": _listed({"type": "string", "minLength": 1}),
        },
        **_table(parts),
    }


def text() -> str:
    """Return the schema as the file that is shipped."""
    return json.dumps(schema(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _setting(setting: Setting, defaults: Mapping[str, Any]) -> Schema:
    """Return the schema of a setting's values, with its names in their order."""
    kind = msgspec.json.schema(setting.kind)
    if setting.choices:
        kind["enum"] = [*setting.choices]
    if "pattern" in kind:  # \Z is Python's alone
        kind["pattern"] = kind["pattern"].replace(r"\Z", "$")
    kind.pop("description", None)  # of the range
    kind["description"] = setting.means
    return {**kind, "default": defaults[setting.key]} if setting.key in defaults else kind


def _rule() -> Schema:
    """Return the schema of a rule: its parts, and the settings that go with them."""
    texts = {
        "recipient": "Domains, *. and a domain, or groups: requests to one of them.",
        "attribute": "Names, or patterns with *: attributes with such a name.",
        "query": "Words, with * for the rest of a word: queries that contain them.",
    }
    parts: Schema = {key: {**TEXTS, "description": means} for key, means in texts.items()}
    name = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    parts["name"] = {**name, "description": "The name you will see where the rule decides."}
    return {
        **_table({**parts, "expires": DATE, **_references("attribute", "request", "recipient")}),
        "minProperties": 1,
        "dependentSchemas": {
            part: {"properties": dict.fromkeys(_references(*about), False)}
            for part, (_, about) in MISPLACED.items()
        },
        "description": "Settings for some recipients, attributes or queries.",
    }


def _references(*about: str) -> Schema:
    """Return the properties for all settings that are about one of these."""
    keys = (key for key, each in SETTINGS.items() if each.about in about)
    return {key: {"$ref": f"#/$defs/{key}"} for key in keys}


def _table(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _listed(one: Schema) -> Schema:
    """Return the schema of one or a list of them."""
    many = {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_LISTED}
    return {"anyOf": [one, many]}


if __name__ == "__main__":
    sys.stdout.write(text())
