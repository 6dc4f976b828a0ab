"""Small programs, and one that takes long."""

import numpy as np
import scipy.sparse as sp

from forestcoll.solver.linear_program import Program
from forestcoll.solver.solve import Settings

TOLERANCE = 1e-8


INF = np.inf


def settings(method: str = "highs", **changes: object) -> Settings:
    return Settings(**{"seconds": 20, "method": method, "tolerance": TOLERANCE, **changes})


def small(maximise: bool = True) -> Program:
    """Rows x + 2y <= 4 and 2x + y <= 4 with x, y >= 0; the sum is greatest, 8/3, at (4/3, 4/3)."""
    cost = np.ones(2) if maximise else -np.ones(2)
    return Program(
        cost, [[1, 2], [2, 1]], np.full(2, -INF), np.full(2, 4.0), np.zeros(2), np.full(2, INF),
        maximise,
    )  # fmt: skip


def hard(size: int = 700) -> Program:
    """A dense packing that no method solves in a few milliseconds."""
    matrix = sp.random(size, size, 0.3, random_state=np.random.default_rng(0))
    ones = np.ones(size)
    return Program(ones, matrix, -INF * ones, ones, 0 * ones, ones, maximise=True)
