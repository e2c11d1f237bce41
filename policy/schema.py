"""The JSON Schema of policy files, for editors; it accepts whatever `policy.read` accepts. Pure.

`python -m policy.schema > policy/policy.schema.json` writes the file that is shipped.
Source: JSON Schema 2020-12; FORMAT.md.
"""

import json
import sys
from typing import Any

import msgspec

from policy.read import FORMAT, PRESETS
from policy.sections import LONGEST_NAME, MOST_LISTED
from policy.settings import DAEMON, SETTINGS, Setting

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAME = "^[a-z*][a-z0-9_*]*$"
GROUP = "^[a-z][a-z0-9_-]*$"
KEY = "^ed25519:[0-9a-f]{64}$"
DATE: Schema = {
    "type": "string",
    "format": "date",
    "description": "The last day on which it holds, as in 2027-03-01, without quotes.",
}


def schema() -> Schema:
    """Return the schema as JSON's own types."""
    return {
        "$schema": DIALECT,
        "title": "Reticent's policy",
        "description": "What may leave, to whom, and what it must bring.",
        "$defs": {
            **{key: _setting(each) for key, each in SETTINGS.items()},
            "texts": _listed({"type": "string", "minLength": 1}),
        },
        **_table(
            {
                "format": {"const": FORMAT, "description": "The version of the format."},
                "preset": {"enum": [*PRESETS], "description": "Where to start from."},
                "trusted_keys": _described(
                    _listed({"type": "string", "pattern": KEY}),
                    "Public keys of makers of models, without which no signature is asked for.",
                ),
                **_references([*SETTINGS]),
                "attributes": _attributes(),
                "groups": _groups(),
                "queries": _described(
                    _table({"block": _texts("A request with one of these carries nothing.")}),
                    "Queries that are blocked.",
                ),
                "daemon": _described(
                    _table({key: _setting(each) for key, each in DAEMON.items()}),
                    "How the daemon behaves, whatever is asked.",
                ),
                "rule": {"type": "array", "items": _rule()},
            }
        ),
    }


def text() -> str:
    """Return the schema as the file that is shipped."""
    return json.dumps(schema(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _setting(setting: Setting) -> Schema:
    """Return the schema of a setting's values, with its names in their order."""
    kind = msgspec.json.schema(setting.kind)
    if setting.choices:
        kind["enum"] = [*setting.choices]
    if "pattern" in kind:  # \Z is Python's alone
        kind["pattern"] = kind["pattern"].replace(r"\Z", "$")
    described = _described(kind, setting.means)
    return described if setting.default is None else {**described, "default": setting.default}


def _rule() -> Schema:
    """Return the schema of a rule: its parts, and the settings that go with them."""
    parts = {
        "recipient": _texts("Domains, *. and a domain, or groups: requests to one of them."),
        "attribute": _texts("Names, or patterns with *: attributes with such a name."),
        "query": _texts("Words, with * for the rest of a word: queries that contain them."),
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_NAME,
            "description": "What you will read where the rule decided.",
        },
        "expires": DATE,
    }
    others = [key for key, each in SETTINGS.items() if each.about != "attribute"]
    recipients = [key for key, each in SETTINGS.items() if each.about == "recipient"]
    return {
        **_table({**parts, **_references([*SETTINGS])}),
        "minProperties": 1,
        "dependentSchemas": {
            "attribute": {"properties": dict.fromkeys(others, False)},
            "query": {"properties": dict.fromkeys(recipients, False)},
        },
        "description": "Settings for some recipients, attributes or queries.",
    }


def _attributes() -> Schema:
    keys = [key for key, each in SETTINGS.items() if each.about == "attribute"]
    entry = {**_table({**_references(keys), "expires": DATE}), "minProperties": 1}
    return {
        "type": "object",
        "propertyNames": {"pattern": NAME},
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/disclose"}, entry]},
        "description": "Attribute = what may happen to it, or a table of settings for it.",
    }


def _groups() -> Schema:
    return {
        "type": "object",
        "propertyNames": {"pattern": GROUP, "not": {"const": "localhost"}},
        "additionalProperties": {"$ref": "#/$defs/texts"},
        "description": "Name = recipients that pool what they learn, and so are one adversary.",
    }


def _table(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _references(keys: list[str]) -> Schema:
    return {key: {"$ref": f"#/$defs/{key}"} for key in keys}


def _texts(means: str) -> Schema:
    return _described({"$ref": "#/$defs/texts"}, means)


def _listed(one: Schema) -> Schema:
    """Return the schema of one or a list of them."""
    many = {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_LISTED}
    return {"anyOf": [one, many]}


def _described(kind: Schema, means: str) -> Schema:
    return {**kind, "description": means}


if __name__ == "__main__":
    sys.stdout.write(text())
