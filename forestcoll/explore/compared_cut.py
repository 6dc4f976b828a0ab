"""Comparison of a chosen cut with the tightest cuts of its network (ForestColl section 4)."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from forestcoll.core.optimality import optimum
from forestcoll.draw import draw_topology, svg_text
from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.problem.cuts import Cut
from forestcoll.problem.optimum import Optimum
from forestcoll.topology.changes.named_parts import parts_named
from forestcoll.topology.describe import counted, decimal
from forestcoll.topology.in_rows import frame_of
from forestcoll.topology.spec import Network, as_topology
from forestcoll.what_if.tightest_cuts import TightCut, tightest_cuts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CutComparison", "compare_cut"]


@dataclass(frozen=True, repr=False)
class CutComparison:
    """A cut and the tightest cuts of its network.

    Parameters
    ----------
    cut : Cut
        The chosen cut.
    tightest : tuple of TightCut
        The first is a bottleneck.
    optimum : Optimum
        Usually the bound of the tightest cut. It may be lower if switches send more than they
        receive or links share a capacity.
    """

    cut: Cut
    tightest: tuple[TightCut, ...]
    optimum: Optimum

    @property
    def optimum_gb_s(self) -> Fraction:
        """The optimal algorithmic bandwidth, which trees attain."""
        return self.optimum.algbw_gb_s

    @property
    def binds(self) -> bool:
        """Whether this cut proves the optimum, so that no schedule is faster."""
        return self.cut.algbw_gb_s == self.optimum_gb_s

    def figure(self) -> Figure:
        """Return the network with the chosen cut in colour, which ``forestcoll.draw`` shows."""
        return draw_topology(self.cut.topology, self.cut)

    def __repr__(self) -> str:
        return f"<cut of {self.cut.topology.name}: {self._rows()[0][0]} GB/s, {self._rows()[0][1]}>"

    def __str__(self) -> str:
        rows = self._rows()
        return "\n".join(f"{rate:>10} GB/s  {what:22} {words}" for rate, what, words in rows)

    def _repr_html_(self) -> str:
        """A table and, below it, the network with the cut in colour."""
        lines = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{html.escape(text)}</td>" for text in row)
            + "</tr>"
            for row in self._rows()
        )
        head = "<tr><th>GB/s</th><th></th><th style='text-align:left'>cut</th></tr>"
        title = html.escape(f"{self.cut.topology.name}, allgather")
        return (
            f"<div><b>{title}</b><table>{head}{lines}</table>"
            f"<div style='max-width:900px'>{self.svg()}</div></div>"
        )

    def svg(self) -> str:
        """Return the picture of the network, with the cut in colour, as SVG."""
        return svg_text(draw_topology(self.cut.topology, self.cut))

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame; rates become floats.

        ``what`` is the place of the cut: "your cut", "optimum", "tightest" or "next", with the
        number of copies. Where links share a capacity, the row of the optimum may be no cut.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        rates = [self.cut.algbw_gb_s, *([] if self._attained else [self.optimum_gb_s])]
        rates += [one.cut.algbw_gb_s for one in self.tightest]
        return frame_of(
            {"algbw_gb_s": rate, "what": what, "cut": words}
            for rate, (_, what, words) in zip(rates, self._rows(), strict=True)
        )

    @property
    def _attained(self) -> bool:
        """Whether the tightest cut is the optimum."""
        return self.optimum_gb_s == self.tightest[0].cut.algbw_gb_s

    def _rows(self) -> list[tuple[str, str, str]]:
        is_tightest = self.cut.algbw_gb_s == self.tightest[0].cut.algbw_gb_s
        verdict = "your cut, the tightest there is" if is_tightest else "your cut"
        verdict = "your cut, which binds" if self.binds else verdict
        rows = [(decimal(self.cut.algbw_gb_s), verdict, self.cut.in_words())]
        if not self._attained:
            rows.append(
                (decimal(self.optimum_gb_s), "optimum", "; ".join(self.optimum.what_binds()))
            )
        first = "optimum" if self._attained else "tightest"
        for place, one in enumerate(self.tightest):
            copies = "many" if one.copies is None else str(one.copies)
            what = f"{first if place == 0 else 'next'}, {copies} x"
            rows.append((decimal(one.cut.algbw_gb_s), what, one.cut.in_words()))
        return rows


def compare_cut(
    topology: Network, leaving_out: str | Iterable[str], *, count: int = 3
) -> CutComparison:
    """Compare a cut, for an allgather, with the tightest ones.

    Parameters
    ----------
    leaving_out : str or iterable of str
        The nodes that are not in S, by names or patterns, in one text with commas
        between: with "b0.*", S is everything but box 0.
    count : int
        The number of tightest cuts to search for.

    Raises
    ------
    InvalidTopologyError
        If a name is of no node, or S holds no GPU or all of them.
    InvalidParameterError
        If links are named and no nodes.
    ForestCollError
        As :func:`forestcoll.core.optimality.optimum`.

    Examples
    --------
    >>> seen = compare_cut("dgx_a100:boxes=2", "b0.*")
    >>> float(seen.cut.algbw_gb_s), float(seen.optimum_gb_s), seen.binds
    (400.0, 346.6666666666667, False)
    """
    topology = as_topology(topology)
    texts = leaving_out.split(",") if isinstance(leaving_out, str) else list(leaving_out)
    outside: set[int] = set()
    for text in filter(None, map(str.strip, texts)):
        nodes = parts_named(topology, text).nodes
        if not nodes:
            raise InvalidParameterError(f"{text!r} names links; a cut is a set of nodes")
        outside.update(nodes)
    inside = [v for v in range(len(topology.nodes)) if v not in outside]
    left_out = len(outside.intersection(topology.compute))
    if not 0 < left_out < topology.num_compute:
        raise InvalidTopologyError(
            f"the cut leaves out {left_out} of {counted(topology.num_compute, 'GPU')}; leave out "
            f"some and not all, for example {topology.nodes[topology.compute[0]].name}"
        )
    cut = Cut(topology, inside)
    return CutComparison(cut, tightest_cuts(topology, count=count), optimum(topology))
