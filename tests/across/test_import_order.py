"""The solvers share one process, whichever is imported first.

OR-Tools and HiGHS both export HiGHS symbols: with ortools 9.15 and highspy 1.15 the second import
fails, whatever the order. The pin of highspy is what keeps this test green.
"""

import subprocess
import sys

import pytest

SOLVE = {
    "ortools": """
from ortools.graph.python import max_flow
network = max_flow.SimpleMaxFlow()
network.add_arcs_with_capacity([0, 1], [1, 2], [3, 2])
assert network.solve(0, 2) == network.OPTIMAL and network.optimal_flow() == 2
from ortools.sat.python import cp_model
model = cp_model.CpModel()
x = model.new_int_var(0, 9, "x")
model.add(3 * x <= 20)
model.maximize(x)
solver = cp_model.CpSolver()
solver.parameters.num_workers = 1
assert solver.solve(model) == cp_model.OPTIMAL and solver.value(x) == 6
""",
    "highspy": """
import highspy
highs = highspy.Highs()
highs.silent()
x, y = highs.addVariable(ub=4), highs.addIntegral(ub=9)
highs.addConstr(x + 2 * y <= 9)
assert highs.maximize(x + y) == highspy.HighsStatus.kOk
assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
assert abs(highs.getObjectiveValue() - 6) < 1e-9
""",
    "cvxpy": """
import cvxpy
x = cvxpy.Variable(2, nonneg=True)
problem = cvxpy.Problem(cvxpy.Maximize(x[0] + x[1]), [x[0] + 2 * x[1] <= 4, 2 * x[0] + x[1] <= 4])
problem.solve(solver=cvxpy.HIGHS)
assert problem.status == cvxpy.OPTIMAL and abs(problem.value - 8 / 3) < 1e-9
""",
}


ORDERS = [
    tuple(SOLVE),
    ("highspy", "ortools"),
    pytest.param(tuple(reversed(SOLVE)), marks=pytest.mark.slow),
]
"""Of any two each comes first in one of them; in the last cvxpy, which takes long to load."""


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS, ids=",".join)
def test_solvers_import_and_solve_in_one_process(order: tuple[str, ...]) -> None:
    """Each solves a problem whose optimum is plain by hand: min(3, 2) = 2 and floor(20 / 3) = 6.

    HiGHS: x <= 4 and x + 2y <= 9 with y whole: x = 4 leaves y <= 2.5, so 4 + 2 = 6; x = 3, y = 3
    is as good. cvxpy: both rows tight give x = (4/3, 4/3), the sum 8/3. Each is solved again at the
    end, when all are loaded.
    """
    program = "".join(SOLVE[name] for name in (*order, *order))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
