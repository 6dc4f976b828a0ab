"""JSON schema of experiment files, for editors: the entries and all current names.

``python -m experiments.config.schema`` prints it; docs/schemas/experiment.schema.json keeps it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.config.entries import MOST_NUMBER, Experiment
from experiments.config.kinds import KINDS
from experiments.config.methods import method_names, parameters_of
from forestcoll.problem.sizes import MOST_BYTES
from forestcoll.topology import FAMILIES

__all__ = ["experiment_schema"]


def experiment_schema() -> dict[str, Any]:
    """Return the JSON schema of the entries, with all current families, methods and figures."""
    schema = Experiment.model_json_schema()
    entries = schema["$defs"]
    entries["Sweep"] = _SWEEP
    topology, method = entries["TopologyEntry"], entries["MethodEntry"]
    for entry in (topology, method):
        entry["properties"]["parameters"]["additionalProperties"] = _SWEEP_REFERENCE
    topology["properties"]["family"] |= {"enum": list(FAMILIES)}
    for source in ("family", "file"):
        del topology["properties"][source]["anyOf"], topology["properties"][source]["default"]
    topology["properties"]["file"] |= {"type": "string"}
    topology["oneOf"] = [{"required": ["family"]}, {"required": ["file"]}]
    topology["allOf"] = [_family_clause(name) for name in FAMILIES]
    method["properties"]["name"]["anyOf"] = [
        {"enum": list(method_names())},
        {"pattern": "^[^:]+:[^:]+$"},
    ]
    method["allOf"] = [
        _clause("name", name, dict.fromkeys(parameters_of(name), "")) for name in method_names()
    ]
    schema["properties"]["sizes"]["items"] = _SIZE_ENTRY
    with_options = "|".join(name for name, kind in KINDS.items() if kind.free)
    schema["properties"]["figures"]["items"] = {
        "anyOf": [
            *({"const": name, "description": kind.summary} for name, kind in KINDS.items()),
            {"pattern": f"^({with_options}):.+$"},
            {"pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"},
        ]
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


_SCALAR = {"type": ["string", "number", "boolean"], "minimum": -MOST_NUMBER, "maximum": MOST_NUMBER}
_SWEEP = {
    "description": "A value, or a list or a range of values: one point for each.",
    "anyOf": [
        _SCALAR,
        {"type": "array", "items": _SCALAR, "minItems": 1, "uniqueItems": True},
        {"$ref": "#/$defs/Range"},
    ],
}
_SIZE = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MOST_BYTES},
        {"pattern": "^[0-9.]+ ?([KMGT]i?)?B?$"},
    ]
}
_SIZE_ENTRY = {
    "anyOf": [
        *_SIZE["anyOf"],
        {"pattern": r"^[^.]+(\.[0-9]+)?[^.]*\.\..+$"},
        {
            "type": "object",
            "properties": {
                "from": _SIZE,
                "to": _SIZE,
                "factor": {"type": "integer", "minimum": 2, "maximum": MOST_BYTES},
            },
            "required": ["from", "to"],
            "additionalProperties": False,
        },
    ]
}
_SWEEP_REFERENCE = {"$ref": "#/$defs/Sweep"}


def _family_clause(name: str) -> dict[str, Any]:
    parameters = FAMILIES[name].parameters
    known = {p.name: f"{p.help}; {p.type}" for p in parameters}
    return _clause("family", name, known, [p.name for p in parameters if p.required])


def _clause(
    key: str, word: str, known: Mapping[str, str], required: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the clause that fixes the parameters, by name and help, of a family or method."""
    properties = {
        name: ({"description": text} if text else {}) | _SWEEP_REFERENCE
        for name, text in known.items()
    }
    parameters: dict[str, Any] = {"properties": properties, "additionalProperties": False}
    then: dict[str, Any] = {"properties": {"parameters": parameters}}
    if required:
        parameters["required"] = list(required)
        then["required"] = ["parameters"]
    return {"if": {"properties": {key: {"const": word}}, "required": [key]}, "then": then}


def main() -> None:
    """Print the schema."""
    sys.stdout.write(json.dumps(experiment_schema(), indent=2) + "\n")


if __name__ == "__main__":
    main()
