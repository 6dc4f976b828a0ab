"""A picture of the front: T_L against T_B, with the bounds and the time of the workload."""

from __future__ import annotations

from experiments.advice.finding.front_entries import Answer, Entry
from experiments.figures.figure import INK, Axis, Figure, Panel, Point, Series, Style

__all__ = ["front_figure"]

_BEST = Style("#0072B2", "method", marker="o", size=7)
_OTHER = Style("#56B4E9", "method", marker="s", size=5)
_BOUND = Style(INK, "bound", line="--")


def front_figure(found: Answer) -> Figure:
    """Describe the front, a panel for each degree."""
    best = found.entries[0]
    panels = []
    for degree, bounds in found.bounds.items():
        here = sorted(
            (entry for entry in found.entries if entry.one.degree == degree),
            key=lambda entry: _place(entry),
        )
        corners = tuple(Point(*_place(entry)) for entry in here)
        edge = Series("Pareto front", Style(INK, "front", order=1), corners, width=1, opacity=0.5)
        marks = tuple(
            Series(
                "fastest for the workload" if entry is best else "other networks",
                _BEST if entry is best else _OTHER,
                (Point(*_place(entry), text=entry.one.name, label=_label(entry)),),
            )
            for entry in here
        )
        low, high = float(bounds.time), max(y for _, y in map(_place, here))
        room = 1.02 * max(x for x, _ in map(_place, here))
        limits = (
            Series("bounds", _BOUND, (Point(bounds.hops, low), Point(bounds.hops, high))),
            Series("", _BOUND, (Point(bounds.hops, low), Point(room, low))),
        )
        panels.append(
            Panel(
                f"{here[0].one.nodes} GPUs of degree {degree}",
                Axis("hops of an allgather (T_L / alpha)", "whole", margin=0.15),
                Axis("T_B in M / B", margin=0.1),
                (edge, *limits, *marks),
            )
        )
    return Figure(tuple(panels), size=(4.6, 3.4))


def _place(entry: Entry) -> tuple[float, float]:
    one = entry.one
    return (one.hops + one.reverse_hops) / 2, float(one.time + one.reverse_time) / 2


def _label(entry: Entry) -> str:
    name = entry.one.name
    return name if len(name) <= 24 else name[:22] + "…"
