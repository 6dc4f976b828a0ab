"""Output of a schedule comparison: facts for people and a document for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from forestcoll.comparison.schedule_diff import PhaseDiff, ScheduleDiff
from forestcoll.comparison.schedule_measures import Measured
from forestcoll.topology.describe import counted, decimal, rate

__all__ = ["as_document", "in_words"]

_SHOWN = 10


def as_document(found: ScheduleDiff) -> dict[str, Any]:
    """Return the whole comparison as plain data, with exact numbers."""
    return {
        "same": found.is_same,
        "first": _figures(found.first),
        "second": _figures(found.second),
        "network": list(found.network),
        "links": {"same": found.links.same, "others": [asdict(one) for one in found.links.others]},
        **{phase.name.replace(" ", "_"): _of_phase(phase) for phase in found.phases},
        "not_compared": found.not_compared,
        "same_clock": found.same_clock,
    }


def in_words(found: ScheduleDiff) -> dict[str, Any]:
    """Return a summary that fits a screen: a figure once if equal, else "one | other"."""
    first, second = _figures(found.first), _figures(found.second)
    figures = {
        key.removesuffix("_gb_s").removesuffix("_s_per_gb"): _both(key, first[key], second[key])
        for key in first
    }
    return {
        "same": found.is_same,
        **figures,
        "network": list(_network(found.network)),
        "loads": list(_loads(found)),
        **{phase.name: list(_pieces(phase)) for phase in found.phases},
        "pieces": f"not compared: {found.not_compared}" if found.not_compared else None,
        "clock": None if found.same_clock else "other times",
    }


def _figures(one: Measured) -> dict[str, Any]:
    names = [name for name in Measured.__slots__ if name != "loads"]
    return {name: getattr(one, name) for name in names}


def _of_phase(phase: PhaseDiff) -> dict[str, Any]:
    pieces, changes = phase.pieces, phase.changes
    return {
        "same": pieces.same,
        "other_share": pieces.other_share,
        "only_first": pieces.only_first,
        "only_second": pieces.only_second,
        "by_gpu": [asdict(one) for one in pieces.by_gpu],
        "data_on_the_same_trees": None if changes is None else changes.kept,
        "gpus_touched": None if changes is None else list(changes.touched),
        "rerouted": phase.rerouted,
    }


def _both(key: str, first: Any, second: Any) -> str | None:
    """Return a figure once if it is equal in both, else both; None if neither has it."""
    if first is None and second is None:
        return None
    one, other = _cell(key, first), _cell(key, second)
    return one if first == second else f"{one} | {other}"


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return " and ".join(map(str, dict.fromkeys(value)))
    if not isinstance(value, Fraction):
        return str(value)
    if key.endswith("_gb_s"):
        return rate(value)
    return f"{_exact(value)} s/GB" if key.endswith("_s_per_gb") else _exact(value)


def _exact(value: Fraction) -> str:
    exact, near = str(value), decimal(value)
    return exact if exact == near else f"{exact} = {near}"


def _loads(found: ScheduleDiff) -> Iterator[str]:
    links = found.links
    yield f"the same on {counted(links.same, 'link')}, others on {len(links.others)}"
    shown = links.others[:_SHOWN]
    rows = [(" -> ".join(one.link), _exact(one.first), _exact(one.second)) for one in shown]
    if rows:
        yield from _columns([("link", "first, of the data", "second"), *rows])
    if more := len(links.others) - len(shown):
        yield f"and {counted(more, 'link')} more"


def _pieces(phase: PhaseDiff) -> Iterator[str]:
    """Yield the numbers of pieces in both and in one, then by GPU where they differ."""
    pieces, changes = phase.pieces, phase.changes
    yield (
        f"{pieces.same} in both, {pieces.other_share} in both with other shares of the data, "
        f"{pieces.only_first} in the first alone, {pieces.only_second} in the second alone"
    )
    if changes is not None and pieces.differing:
        yield (
            f"{_exact(changes.kept)} of the data on the same trees, "
            f"{counted(len(changes.touched), 'GPU')} touched"
        )
    if phase.rerouted:
        yield f"{counted(phase.rerouted, 'pair')} of nodes with other paths between them"
    differing = [one for one in pieces.by_gpu if one.differing]
    if differing:
        head = (
            "root" if pieces.what == "trees" else "sender",
            "both",
            "other share",
            "first",
            "second",
        )
        rows = [
            (one.gpu, *map(str, (one.same, one.other_share, one.only_first, one.only_second)))
            for one in differing[:_SHOWN]
        ]
        yield from _columns([head, *rows])
    if more := len(differing[_SHOWN:]):
        yield f"and {counted(more, 'GPU')} more"


def _network(differences: tuple[str, ...]) -> Iterator[str]:
    yield counted(len(differences), "difference") if differences else "the same"
    yield from differences[:_SHOWN]
    if more := len(differences[_SHOWN:]):
        yield f"and {more} more"


def _columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
