"""Programs and settings, checked."""

import math
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.solver.linear_program import Basis, Program, dual_bound
from tests.solver.programs import INF, TOLERANCE, settings, small


def test_weak_duality_bounds_by_any_multipliers() -> None:
    """Prices (1/2, 0) on x + 2y <= 4 leave 1/2 x, which nothing bounds; (1, 0) prove 4, and (1/2,
    1/2) prove 4 as well.
    """
    program = small()
    assert dual_bound(program, np.array([0.5, 0.0]), TOLERANCE) == INF
    assert dual_bound(program, np.array([1.0, 0.0]), TOLERANCE) == pytest.approx(4)
    assert dual_bound(program, np.array([0.5, 0.5]), TOLERANCE) == pytest.approx(4)
    assert dual_bound(small(False), np.array([-0.5, -0.5]), TOLERANCE) == pytest.approx(-4)
    assert dual_bound(program, np.array([-1.0, 3.0]), TOLERANCE) == pytest.approx(12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"seconds": bad}, f"seconds is {bad}") for bad in (0, -1, math.nan, INF)),
        *(({"tolerance": bad}, f"tolerance is {bad}") for bad in (0, -1, math.nan, INF, 0.01)),
        *(({"threads": bad}, f"threads is {bad}; it must be 1") for bad in (0, -1, 10**6)),
        *(({"seed": bad}, f"seed is {bad}; it must be 0") for bad in (-1, 2**40)),
        *(({"gap": bad}, f"gap is {bad}") for bad in (-1, math.nan, INF, 2)),
        *(({name: "10"}, f"{name} is '10'") for name in ("seconds", "tolerance", "gap")),
        *(({name: 1.5}, rf"{name} is 1\.5; it must be a whole") for name in ("threads", "seed")),
        ({"threads": True}, "threads is True"),
        ({"seconds": None}, "seconds is None"),
        ({"method": ["highs"]}, "method is"),
    ],
)
def test_settings_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        settings(**changes)


def test_settings_take_numbers_of_any_type() -> None:
    """Whole numbers and reals of numpy, and fractions, are the numbers they stand for."""
    given = settings(threads=np.int64(2), seconds=Fraction(1, 2), tolerance=np.float32(2**-20))
    assert given == settings(threads=2, seconds=0.5, tolerance=2**-20)
    assert (type(given.threads), type(given.seconds)) == (int, float)


def test_programs_are_checked() -> None:
    one = np.ones(1)
    with pytest.raises(InvalidParameterError, match=r"row_lower has shape \(1,\)"):
        Program(one, [[1.0], [1.0]], one, np.ones(2), one, one)
    with pytest.raises(InvalidParameterError, match="cost holds NaN"):
        Program(one * np.nan, [[1.0]], one, one, one, one)
    with pytest.raises(InvalidParameterError, match=r"column 0 .* 2\.0 from below"):
        Program(one, [[1.0]], one, one, 2 * one, one)
    with pytest.raises(InvalidParameterError, match="matrix holds NaN"):
        Program(one, [[math.inf]], one, one, one, one)
    for columns, rows in ((2, 1), (1, 2)):
        basis = Basis(np.zeros(columns, dtype=np.int8), np.zeros(rows, dtype=np.int8))
        with pytest.raises(InvalidParameterError, match=f"is of {rows} rows and {columns} columns"):
            Program(one, [[1.0]], one, one, one, one, start=basis)
