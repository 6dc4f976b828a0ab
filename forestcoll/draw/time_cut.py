"""Drawing of a bound on time: when each node turns to the side of the sources.

The darker a node, the earlier it turns. Links that carry data across the cut over time are
highlighted. Of a rate after a delay, the widest of its cuts is drawn; of gossip or passes, one set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forestcoll.draw.canvas import CROSSING, INK
from forestcoll.draw.topology import Colouring, colouring_of, draw_coloured
from forestcoll.problem.over_time.time_bound import (
    DelayedRate,
    GossipOverTime,
    PassesOverTime,
    TimeBound,
    TimeCut,
)
from forestcoll.problem.rate_bound import RateBound
from forestcoll.topology.describe import counted, decimal

__all__ = ["draw_time_bound"]

_EARLY, _LATE = "#56a0cf", "#ffffff"
"""Fill of the nodes that turn first and last; between them lightness rises, also in grey."""

_MOST_ENTRIES = 6


def draw_time_bound(bound: TimeBound) -> Figure:
    """Draw the network of a bound, each node coloured by its label."""
    if isinstance(bound.proof, DelayedRate):
        return draw_coloured(bound.topology, _of_rate(bound, bound.proof))
    if isinstance(bound.proof, GossipOverTime | PassesOverTime):
        return draw_coloured(bound.topology, _of_gossip(bound, bound.proof))
    labels = bound.proof.labels_us
    steps = sorted(set(labels))
    shade = {label: _shade(rank, len(steps)) for rank, label in enumerate(steps)}
    crossing = {(link.tail, link.head): open_us for link, open_us in bound.crossing}
    colouring = Colouring(
        colours={v: shade[label] for v, label in enumerate(labels)},
        framed=frozenset(v for v, label in enumerate(labels) if label == 0),
        crossing=frozenset(crossing),
        caption=f"{bound.in_a_line()}\n{bound.in_words()[0]}",
        legend=[*_turns(bound, steps, shade), _crossing_entry(list(crossing.values()))],
    )
    return draw_coloured(bound.topology, colouring)


def _of_rate(bound: TimeBound, proof: DelayedRate) -> Colouring:
    """Mark the widest cut of the bound on the rate, where it has cuts."""
    words = "\n".join((bound.in_a_line(), *bound.in_words()))
    if not isinstance(proof.bound, RateBound):
        return Colouring(caption=words)
    return replace(colouring_of(proof.bound.widest), caption=words)


def _of_gossip(bound: TimeBound, proof: GossipOverTime | PassesOverTime) -> Colouring:
    """Mark the first set and the links between it and other nodes."""
    first = frozenset(proof.sets[0])
    return Colouring(
        colours=dict.fromkeys(first, _EARLY),
        crossing=frozenset(
            (link.tail, link.head)
            for link in bound.topology.links
            if (link.tail in first) != (link.head in first)
        ),
        caption=f"{bound.in_a_line()}\n{bound.in_words()[0]}",
    )


def _shade(rank: int, steps: int) -> str:
    """Mix the colours of the first and the last label."""
    part = rank / max(steps - 1, 1)
    early, late = to_rgb(_EARLY), to_rgb(_LATE)
    red, green, blue = (a + part * (b - a) for a, b in zip(early, late, strict=True))
    return to_hex((red, green, blue))


def _turns(
    bound: TimeBound, steps: Sequence[Fraction], shade: dict[Fraction, str]
) -> list[Line2D | Patch]:
    """Return an entry for each label, or for the first and last ones of many."""
    assert isinstance(bound.proof, TimeCut)
    nodes = Counter(bound.proof.labels_us)
    when = " before the end" if bound.reduction else ""
    shown = list(steps)
    if len(steps) > _MOST_ENTRIES:
        shown = [*steps[: _MOST_ENTRIES // 2], *steps[-_MOST_ENTRIES // 2 :]]
    return [
        Patch(
            facecolor=shade[label],
            edgecolor=INK,
            label=f"from {decimal(label)} us{when}: {counted(nodes[label], 'node')}",
        )
        for label in shown
    ]


def _crossing_entry(open_us: Sequence[Fraction]) -> Line2D:
    """Return the entry of the links that carry data across the cut."""
    low, high = min(open_us), max(open_us)
    span = decimal(low) if low == high else f"{decimal(low)} to {decimal(high)}"
    label = f"{counted(len(open_us), 'link')} across, for {span} us"
    return Line2D([], [], c=CROSSING, lw=2.5, label=label)
