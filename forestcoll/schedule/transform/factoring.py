"""Conversion of explicit forests to factored form.

Problem: one type where some forests are factored and some are not.
Input:   an explicit forest.
Output:  the same trees as the packing of one set of all GPUs.
Cost:    linear in the trees and the paths.
Source:  docs/mathematics/factored-forests.md.
"""

from __future__ import annotations

import numpy as np

from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.factored import FactoredForest, Links, Sets, Shapes
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.verification.arrays import check_arrays
from forestcoll.schedule.verification.naming import fail

__all__ = ["as_factored"]


def as_factored(forest: Forest) -> FactoredForest:
    """Convert an explicit forest to factored form with one set of all GPUs.

    Raises VerificationError if the arrays of the forest cannot be read.
    """
    check_arrays(forest)
    routes, gpus = forest.routes, forest.topology.num_compute
    amounts = exact(routes.multiplicity, len(routes.multiplicity))
    upto = np.concatenate([[0], np.cumsum(amounts)])
    load = np.diff(upto[routes.first_path])
    if load.dtype == object and max(load, default=0) >= 2**63:
        fail(f"a logical link carries {max(load)} trees; 2^63 - 1 is the most to be held")
    return FactoredForest(
        topology=forest.topology,
        method=forest.method,
        k=forest.k,
        congestion=forest.congestion,
        sets=Sets(np.zeros(gpus, np.int32), np.full(1, -1, np.int32), np.zeros(1, np.int32)),
        shapes=Shapes(
            items=np.array([gpus], dtype=np.int32),
            batches=np.array([len(forest.root)], dtype=np.int64),
            root=forest.root.astype(np.int32),
            multiplicity=forest.multiplicity.astype(np.int64),
            parent=forest.parent.astype(np.int32).reshape(-1),
        ),
        links=Links(
            routes.tail.astype(np.int32),
            routes.head.astype(np.int32),
            load.astype(np.int64),
        ),
        routes=routes,
        optimum=forest.optimum,
        weights=forest.weights,
        reduction=forest.reduction,
    )
