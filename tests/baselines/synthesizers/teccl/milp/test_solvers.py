"""Programs of 0 and 1 by either solver."""

from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.milp import solvers
from baselines.synthesizers.teccl.milp.epoch_program import EpochProgram, Row
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, Status, solve
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
        "baselines.synthesizers.teccl.milp.solvers._cp_sat",
        lambda *asked: solvers._Point([1, 1, 1]),
    )
    with pytest.raises(SolverError, match="calls a point a solution that breaks Row"):
        solve(program(Row((0, 1, 2), (), 2)), "cp-sat", Effort())


def valued(objective: dict[int, Fraction], *rows: Row) -> EpochProgram:
    made = program(*rows)
    made.objective, made.constant = objective, Fraction(1, 7)
    return made


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
def test_the_most_is_found_and_reported_in_fractions(solver: str) -> None:
    """Two of three: a half and a third, and the constant."""
    worth = {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 3)}
    found = solve(valued(worth, Row((0, 1, 2), (), 2)), solver, Effort())
    assert (found.value, found.status) == (Fraction(41, 42), Status.OPTIMAL)
    assert {chunk for chunk, _, _ in found.sent} == {0, 2}


def test_the_bound_includes_the_loss_by_rounding() -> None:
    """Denominators too large for whole numbers: the value is exact, the bound above it."""
    worth = {i: Fraction(1, prime) for i, prime in enumerate((99991, 99989, 99971))}
    found = solve(valued(worth, Row((0, 1, 2), (), 2)), "cp-sat", Effort())
    assert found.value == Fraction(1, 7) + worth[1] + worth[2]
    assert found.bound is not None
    assert found.value <= found.bound <= float(found.value) + 1e-9


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
def test_hints_change_no_outcome(solver: str) -> None:
    """A solution, half of one, what the program has not, what breaks a row."""
    rows = (Row((0, 1), (), 1, equal=True), Row((1,), (2,), 0))
    one, other, third = ((chunk, 0, 0) for chunk in range(3))
    for hint in ([one], [other, third], [other], [one, other], [(9, 9, 9)]):
        assert solve(program(*rows), solver, Effort(), hint).outcome is Outcome.FOUND
        nothing = (*rows, Row((0, 1), (), 0, equal=True))
        assert solve(program(*nothing), solver, Effort(), hint).outcome is Outcome.INFEASIBLE
        most = solve(valued({1: Fraction(1)}, *rows), solver, Effort(), hint)
        assert most.value == Fraction(8, 7)


def test_highs_answers_when_cp_sat_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found, or proved, is the same; where CP-SAT has an answer HiGHS is not asked."""
    either = Row((0, 1), (), 1, equal=True)
    for row, outcome in (
        (Row((2,), (0,), 0), Outcome.FOUND),
        (Row((0, 1), (), 0), Outcome.INFEASIBLE),
    ):
        asked = program(either, row)
        assert solve(asked, "either", Effort(work=1)).outcome is outcome
        with monkeypatch.context() as without:
            without.setattr(solvers, "_mixed", None)
            assert solve(asked, "either", Effort(work=1)).outcome is outcome
        with monkeypatch.context() as without:
            without.setattr(solvers, "_cp_sat", lambda *_: Outcome.OPEN)
            assert solve(asked, "either", Effort(work=1)).outcome is outcome
            assert solve(asked, "either", Effort(seconds=60)).outcome is outcome
