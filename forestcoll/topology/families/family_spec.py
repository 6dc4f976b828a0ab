"""Specifications of family networks: a name with parameters, such as "torus:dims=3x3"."""

from __future__ import annotations

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.families.fabric.fabric_text import FABRICS
from forestcoll.topology.families.family import FAMILIES, Family
from forestcoll.topology.model import Topology

__all__ = ["family_topology", "names_family", "parse_spec"]

_WORDS = ("true", "false")  # these continue a list of values; no parameter has such a name


def names_family(spec: str) -> bool:
    """Whether a specification begins with the name of a family; else it may be a path."""
    return spec.partition(":")[0] in FAMILIES


def family_topology(spec: str) -> Topology:
    """Make the topology that a family's specification names.

    Raises
    ------
    InvalidTopologyError
        As for :func:`parse_spec`.

    Examples
    --------
    >>> family_topology("torus:dims=3x3").num_compute
    9
    """
    entry, values = parse_spec(spec)
    return entry.function(**values)


def parse_spec(spec: str) -> tuple[Family, dict[str, object]]:
    """Return the family that a specification names, and the values of the parameters given.

    Raises
    ------
    InvalidTopologyError
        For an unknown family, parameter or value.

    Examples
    --------
    >>> family, values = parse_spec("torus:dims=3x3")
    >>> family.name, values
    ('torus', {'dims': (3, 3)})
    """
    name, _, text = spec.partition(":")
    if name not in FAMILIES:
        raise InvalidTopologyError(f"{spec!r} names no topology family")
    entry = FAMILIES[name]
    given = _arguments(entry, spec, text)
    kinds = {parameter.name: parameter for parameter in entry.parameters}
    return entry, {key: kinds[key].read(value, name) for key, value in given.items()}


def _arguments(entry: Family, spec: str, text: str) -> dict[str, object]:
    """Split ``name=value,name=value`` and check the names; the family checks the values."""
    known = {parameter.name: parameter for parameter in entry.parameters}
    values: dict[str, object] = {}
    for part in _parted(text) if text else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InvalidTopologyError(
                f"{spec}: {part!r} is not parameter=value; see {entry.usage}"
            )
        if name not in known:
            hint = did_you_mean(name, known, f"it takes {', '.join(known)}")
            if "fabric" in values and any(name in fabric.options for fabric in FABRICS.values()):
                hint = f"put options of a fabric in parentheses: fabric=({values['fabric']},{part})"
            raise InvalidTopologyError(f"{spec}: {entry.name} has no parameter {name!r}; {hint}")
        if name in values:
            raise InvalidTopologyError(f"{spec}: {name} is given twice; remove one")
        values[name] = value
    for parameter in entry.parameters:
        if parameter.required and parameter.name not in values:
            raise InvalidTopologyError(
                f"{spec}: {entry.name} needs {parameter.name} ({parameter.help}), "
                f"{parameter.type}; write {entry.usage}"
            )
    return values


def _parted(text: str) -> list[str]:
    """Split at commas outside parentheses that a parameter's name follows.

    A piece without "=" continues the value before it: ``wrap=true,false``.
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
        if depth < 0:
            break
    if depth:
        raise InvalidTopologyError(f"{text!r} has parentheses that do not close, or none open")
    joined = parts[:1]
    for part in parts[1:]:
        if part.strip() in _WORDS and "=" in joined[-1]:
            joined[-1] += f",{part}"
        else:
            joined.append(part)
    return joined
