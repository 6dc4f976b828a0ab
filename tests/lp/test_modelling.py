"""Programs stated in cvxpy."""

import cvxpy as cp
import pytest

from forestcoll.errors import (
    InfeasibleError,
)
from forestcoll.solver.solve import available_methods
from lp.modelling import solve_stated
from tests.solver.programs import settings


@pytest.mark.parametrize("method", available_methods())
def test_cvxpy_problems_go_the_same_way(method: str) -> None:
    """Maximise x + y + z + 7 on the small program with 0 <= z <= 1 and z = x / 4: 8/3 + 1/3 + 7."""
    x, z = cp.Variable(2, nonneg=True), cp.Variable(bounds=[0, 1])
    rows = [x[0] + 2 * x[1] <= 4, 2 * x[0] + x[1] <= 4, 4 * z == x[0]]
    problem = cp.Problem(cp.Maximize(cp.sum(x) + z + 7), rows)
    found = solve_stated(problem, settings(method))
    assert problem.value == pytest.approx(10, abs=1e-6)
    assert x.value == pytest.approx([4 / 3, 4 / 3], abs=1e-5)
    assert abs(found.objective) == pytest.approx(3, abs=1e-6)
    assert rows[0].dual_value == pytest.approx(0.25, abs=1e-5)
    assert rows[1].dual_value == pytest.approx(0.5, abs=1e-5)
    with pytest.raises(InfeasibleError):
        solve_stated(cp.Problem(cp.Minimize(z), [z >= 2]), settings(method))
