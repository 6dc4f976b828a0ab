"""Output of results: the same facts as aligned lines for people or as JSON for machines.

An exact number is "800/3 = 266.667" for people and {"exact": "800/3", "value": 266.66...} for
machines, whose value is null beyond the range of floats. The ending of a key is its unit:
``algbw_gb_s`` is in GB/s, ``time_s_per_gb`` in s/GB.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestcoll.errors import VerificationError
from forestcoll.problem.cuts import Cut
from forestcoll.topology.describe import LinkClass, SharedInWords, as_float, decimal

if TYPE_CHECKING:
    from forestcoll.runtimes.scoring.file_bounds import FileBound

__all__ = ["as_json", "as_text", "bound_facts", "share_facts"]

_UNITS = {"_s_per_gb": "s/GB", "_gb_s": "GB/s", "_us": "us", "_s": "s"}  # by a key's ending
_ONE = {"trees per GB/s": "tree per GB/s"}
_NAMED = {"inverse_rate": ("1/x*", "s/GB"), "congestion": ("congestion", "trees per GB/s")}


def as_json(facts: object) -> str:
    """Return one JSON document; fractions keep their exact value beside the decimal."""
    return json.dumps(_document(facts), indent=2, ensure_ascii=False)


def as_text(facts: Mapping[str, Any]) -> str:
    """Return one or more lines for each fact, with labels aligned; omit facts that are None."""
    entries = [(*_label_and_unit(key), value) for key, value in facts.items() if value is not None]
    width = max(len(label) for label, _, _ in entries) + 2
    lines = []
    for label, unit, value in entries:
        first, *more = _lines(value, unit)
        lines.append(f"{label:{width}}{first}")
        lines += [" " * width + line for line in more]
    return "\n".join(lines)


def bound_facts(bound: FileBound | None, algbw_gb_s: Fraction | None) -> dict[str, Any]:
    """Return a bound on any schedule of a collective, and whether a rate attains it.

    ``optimal`` is None if there is no bound, or the rate is below one that no schedule is known to
    attain. Nothing is faster than a schedule without a rate, which has nothing to send.

    Raises
    ------
    VerificationError
        If the rate is above the bound: a bug.
    """
    if bound is None or algbw_gb_s is None:
        return {"optimal": True if algbw_gb_s is None else None}
    if algbw_gb_s > bound.algbw_gb_s:
        raise VerificationError(
            f"the schedule makes {algbw_gb_s} GB/s, but {bound.by} proves that none makes more "
            f"than {bound.algbw_gb_s}: one of the two is wrong; please report this"
        )
    attained = algbw_gb_s == bound.algbw_gb_s
    return {
        "at_most_gb_s": bound.algbw_gb_s,
        "at_most_for": bound.model,
        **share_facts(bound, algbw_gb_s),
        "optimal": attained if attained or bound.optimal else None,
    }


def share_facts(bound: FileBound | None, algbw_gb_s: Fraction | None) -> dict[str, Any]:
    """Return a rate as a share of the optimum where that is known, else of a bound."""
    optimal = bound is not None and bound.optimal
    share = None if bound is None or algbw_gb_s is None else algbw_gb_s / bound.algbw_gb_s
    return {
        "share_of_optimum": share if optimal else None,
        "share_at_least": None if optimal else share,
    }


def _document(value: object) -> object:
    match value:
        case Fraction():
            return {"exact": str(value), "value": as_float(value)}
        case Cut():
            return _document(_cut(value))
        case LinkClass() | SharedInWords():
            return _document(asdict(value))
        case object(as_facts=facts):
            return _document(facts())
        case Path():
            return str(value)
        case Mapping():
            return {key: _document(item) for key, item in value.items()}
        case list() | tuple():
            return [_document(item) for item in value]
        case _:
            return value


def _cut(cut: Cut) -> dict[str, object]:
    return {
        "in_words": cut.in_words(),
        "gpus": len(cut.compute),
        "exit_gb_s": cut.exit_gb_s,
        "ratio": cut.inverse_rate,
        "exit_links": list(cut.exit_classes()),
        "nodes": [cut.topology.nodes[v].name for v in cut.nodes],
    }


def _lines(value: object, unit: str) -> list[str]:
    match value:
        case bool():
            return ["yes" if value else "no"]
        case Fraction():
            exact, near = str(value), decimal(value)
            unit = _ONE.get(unit, unit) if value == 1 else unit
            return [(f"{exact} {unit}" if exact == near else f"{exact} = {near} {unit}").rstrip()]
        case float() if unit == "s" and value < 1:
            return [f"{1000 * value:.2f} ms"]
        case float():
            return [f"{value:.3g} {unit}"]
        case tuple((str(tail), str(head))):
            return [f"{tail} -> {head}"]
        case Cut():
            return [value.in_words(), *map(str, value.exit_classes())]
        case Mapping():
            known = ((key, item) for key, item in value.items() if item is not None)
            return [", ".join(_inner(key, item, unit) for key, item in known)]
        case list() | tuple():
            return [line for item in value for line in _lines(item, unit)] or ["none"]
        case _:
            return [f"{value} {unit}".rstrip()]


def _inner(key: str, value: object, unit: str) -> str:
    """Return an entry of a mapping as text, with its own unit or else that of the mapping."""
    label, own = _label_and_unit(key)
    text = _lines(value, own or unit)[0]
    return f"{label} ({text})" if isinstance(value, Mapping) else f"{label} {text}"


def _label_and_unit(key: str) -> tuple[str, str]:
    if key in _NAMED:
        return _NAMED[key]
    ending = next((ending for ending in _UNITS if key.endswith(ending)), "")
    label = key.removesuffix(ending).replace("_", " ").replace("gpu", "GPU")
    return label, _UNITS.get(ending, "")
