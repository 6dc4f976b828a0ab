"""Model of training iterations with faster collectives: figure 13 of the ForestColl paper.

The input is, for each language model, the printed share of computation with NCCL (section 6.4), and
the simulated algbw of figure 11. The model of sharded data-parallel training (FSDP) is ours, and
nothing here is measured.

Each layer has two allgathers of its weights, for the forward and the backward pass, and one
reduce-scatter of its gradients, in 2 bytes a parameter. Embeddings are spread over the layers. With
NCCL, visible communication (not hidden by computation) takes the share 1 - c of an iteration. Let r
be the ratio of the new time of all collectives to the old. If the hidden part shrinks by the same
ratio, the saving is (1 - c) (1 - r): the lower end. If as many seconds stay hidden as before, the
saving is larger. For collectives beside all of the computation it is 1 - r, but at most 1 - c. The
papers do not print the hidden time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.published import printed
from experiments.results.rows import Row, Status

__all__ = ["Saving", "algbw_at", "savings"]

_BYTES = 2
"""Bytes of a parameter in BF16."""

_ALLGATHER, _REDUCE_SCATTER = "forestcoll-figure11-allgather", "forestcoll-figure11-reduce-scatter"


@dataclass(frozen=True, slots=True)
class Saving:
    """The saving in one model's iterations."""

    model: str
    layer_bytes: float
    compute_share: float  # printed share of computation in an iteration with NCCL
    ratio: float  # time of the collectives with ForestColl over that with NCCL's rings
    printed: str  # the printed saved share, and whether it is "exactly" or "at most"
    printed_is: str  # the printed saved share, and whether it is "exactly" or "at most"

    @property
    def least(self) -> float:
        """The saved share if the hidden part shrinks in proportion."""
        return (1 - self.compute_share) * (1 - self.ratio)

    @property
    def most(self) -> float:
        """The saved share if as much stays hidden as before, beside all of the computation."""
        return min(1 - self.compute_share, 1 - self.ratio)


def savings(rows: Mapping[str, Sequence[Row]]) -> list[Saving]:
    """Return the model's saving for each language model of figure 13; empty without rows."""
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

    Linear interpolation over the logarithm of the size; constant beyond the first and last size.
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
