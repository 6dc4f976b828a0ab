"""Remarks below a table of rows: what its columns mean, and where pipelining is not the measure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from experiments.measures.declared import MEASURES, reading_order
from experiments.results.rows import Row, Status

__all__ = ["behind_in_steps", "columns"]

_MORE = {"steps": "; of trees, the depth of the deepest in GPU hops"}
"""What a table shows where the row has no such value."""

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def columns(heads: Sequence[str]) -> list[str]:
    """Return a line for each column of a table that is a measure: its heading and its meaning.

    Examples
    --------
    >>> columns(["topology", "method", "GPUs", "k", "trees"])
    ['k      trees per root', 'trees  trees, counted with multiplicity']
    """
    known = {one.heading: one for one in reading_order(MEASURES.values()) if one.heading}
    shown = [head for head in heads if head in known]
    width = max(map(len, shown), default=0) + 2
    return [f"{head:{width}}{_plain(known[head].meaning)}{_MORE.get(head, '')}" for head in shown]


def behind_in_steps(rows: Sequence[Row], method: str = "forestcoll") -> list[str]:
    """Return a remark where others beat a method in synchronous steps alone; else none.

    Pipelined, ForestColl is optimal. A barrier after every hop is another timing model, in which
    uneven hops wait for their slowest link.
    """
    done = [row for row in rows if row.status is Status.OK and row.algbw_synchronous_gb_s]
    ours = {_where(row): row for row in done if row.method == method and not row.parameters}
    ahead: dict[str, set[object]] = {}
    for row in done:
        own = ours.get(_where(row))
        if own is not None and (row.algbw_synchronous_gb_s or 0) > (
            own.algbw_synchronous_gb_s or 0
        ):
            ahead.setdefault(row.method, set()).add(_where(row))
    if not ahead:
        return []
    others = ", ".join(f"{name} on {len(where)}" for name, where in ahead.items())
    return [
        f"in synchronous steps (in sync) these are ahead of {method}: {others} of {len(ours)} "
        f"points. {method} is optimal with pipelining, where all links are busy at once. With a "
        "barrier after each step, a step lasts as long as its slowest link, and its trees load "
        "links unevenly hop by hop: docs/baselines.md, What they cost"
    ]


def _where(row: Row) -> tuple[object, ...]:
    return row.cluster, row.topology, row.collective, row.root, str(row.weights), str(row.group)


def _plain(meaning: str) -> str:
    """Return a meaning without Markdown, and without references to its page."""
    return _LINK.sub(lambda link: link[1], meaning).replace("`", "").replace(", see below", "")
