"""Programs of 0 and 1 by either solver."""

import pytest

from baselines.synthesizers.teccl.epoch_program import EpochProgram, Row
from baselines.synthesizers.teccl.solvers import Effort, Outcome, solve
from forestcoll.errors import SolverError


def program(*rows: Row) -> EpochProgram:
    """Three transfers and some rows of them."""
    made = EpochProgram(1, rows=list(rows))
    for chunk in range(3):
        made.sent[chunk, 0, 0] = made.new()
    return made


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
def test_every_form_of_row_is_kept(solver: str) -> None:
    """One of the first two; the second only with the third; two at most."""
    rows = (Row((0, 1), (), 1, equal=True), Row((1,), (2,), 0), Row((0, 1, 2), (), 2))
    found = solve(program(*rows), solver, Effort())
    assert found.outcome is Outcome.FOUND
    chosen = {chunk for chunk, _, _ in found.sent}
    assert chosen & {0, 1} in ({0}, {1})
    assert 1 not in chosen or 2 in chosen
    forced = solve(program(*rows, Row((1,), (), 1, equal=True)), solver, Effort())
    assert {chunk for chunk, _, _ in forced.sent} == {1, 2}
    differing = Row((0, 1), (2,), 2)
    assert solve(program(*rows, differing), solver, Effort()).outcome is Outcome.FOUND
    none = solve(program(*rows, Row((0, 1), (), 0, equal=True)), solver, Effort())
    assert none.outcome is Outcome.INFEASIBLE


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
def test_no_time_leaves_it_open(solver: str) -> None:
    assert solve(program(Row((0,), (), 1)), solver, Effort(seconds=0)).outcome is Outcome.OPEN


def test_a_point_that_breaks_a_row_is_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "baselines.synthesizers.teccl.solvers._cp_sat", lambda program, effort: [1, 1, 1]
    )
    with pytest.raises(SolverError, match="calls a point a solution that breaks Row"):
        solve(program(Row((0, 1, 2), (), 2)), "cp-sat", Effort())
