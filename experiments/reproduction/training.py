"""Model of training iterations with faster collectives: figure 13 of the ForestColl paper.

Problem: how much shorter an iteration of sharded data-parallel training (FSDP) gets if its
         collectives do.
Input:   for each language model the printed share of computation with NCCL; simulated algbw of
         allgathers and reduce-scatters by size (the rows of figure 11).
Output:  a range of the share of time that is saved.
Source:  ForestColl section 6.4. The model is ours.

Each layer's weights are gathered twice, for the forward and the backward pass, and its gradients
are reduced and scattered once, in 2 bytes a parameter; embeddings are spread over the layers. Time
that computation does not hide is 1 - c of an iteration with NCCL. Let all of the collectives take r
of what they took. If what is hidden shrinks alike, (1 - c) (1 - r) is saved: the least. If as many
seconds are hidden as before, more is: of collectives that go beside all of the computation 1 - r,
but never more than was visible. How much was hidden is not printed; nothing here is measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.published import printed
from experiments.results.rows import Row, Status

__all__ = ["Saving", "algbw_at", "savings"]

_BYTES = 2
"""Of a parameter, in BF16."""

_ALLGATHER, _REDUCE_SCATTER = "forestcoll-figure11-allgather", "forestcoll-figure11-reduce-scatter"


@dataclass(frozen=True, slots=True)
class Saving:
    """What one model's iterations save.

    Parameters
    ----------
    model : str
    layer_bytes : float
    compute_share : float
        Of the time of an iteration with NCCL, as printed.
    ratio : float
        What the collectives take with ForestColl, of what they take with NCCL's rings.
    printed, printed_is : str
        The share of time that was saved, and whether "exactly" or "at most".
    """

    model: str
    layer_bytes: float
    compute_share: float
    ratio: float
    printed: str
    printed_is: str

    @property
    def least(self) -> float:
        """The share that is saved if what is hidden shrinks with the rest."""
        return (1 - self.compute_share) * (1 - self.ratio)

    @property
    def most(self) -> float:
        """That if as much is hidden as before, beside all of the computation."""
        return min(1 - self.compute_share, 1 - self.ratio)


def savings(rows: Mapping[str, Sequence[Row]]) -> list[Saving]:
    """Return what the model says of each language model of figure 13; nothing without rows."""
    gather, scatter = rows.get(_ALLGATHER, ()), rows.get(_REDUCE_SCATTER, ())
    if not gather or not scatter:
        return []
    found = []
    for line in printed("forestcoll_training.csv"):
        size = _BYTES * float(line["parameters"]) / int(line["layers"])
        ours, theirs = (
            2 / algbw_at(gather, method, size) + 1 / algbw_at(scatter, method, size)
            for method in ("forestcoll", "ring")
        )
        share = float(line["compute_share"])
        saving = Saving(
            line["model"], size, share, ours / theirs, line["saving"], line["saving_is"]
        )
        found.append(saving)
    return found


def algbw_at(rows: Sequence[Row], method: str, size: float) -> float:
    """Return the best simulated algbw of a method at any size, in GB/s.

    On a straight line between the two sizes beside it, sizes to their logarithm; beyond all of them
    that of the last.
    """
    best: dict[int, float] = {}
    for row in rows:
        if row.method == method and row.status is Status.OK:
            for text, values in row.sizes.items():
                rate = float(values.get("algbw_simulated_gb_s", 0.0))
                best[int(text)] = max(best.get(int(text), 0.0), rate)
    sizes = sorted(best)
    below = max((s for s in sizes if s <= size), default=sizes[0])
    above = min((s for s in sizes if s >= size), default=sizes[-1])
    if below >= above:
        return best[below]
    way = math.log(size / below) / math.log(above / below)
    return best[below] + way * (best[above] - best[below])
