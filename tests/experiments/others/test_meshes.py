"""Stored rows of allreduces on meshes, against TTO's rate and the ceiling of all GPUs."""

from fractions import Fraction
from pathlib import Path

import pytest

from experiments.results.rows import read_rows

ROWS = Path(__file__).parents[3] / "results" / "own-meshes" / "rows.jsonl"


@pytest.mark.parametrize("side", [3, 4, 5, 8, 9])
def test_the_optimum_attains_the_ceiling(side: int) -> None:
    """Among all GPUs min(2, 2 n / (n + 1)); without the corner above TTO's 3/2, and proved."""
    rates = {(row.topology, row.method): row.algbw for row in read_rows(ROWS) if row.algbw}
    ceiling = min(Fraction(2), Fraction(2 * side, side + 1))
    assert Fraction(rates[f"torus:dims={side}x{side},wrap=false", "forestcoll"]) == ceiling
    idle = f"meshes/mesh-{side}x{side}-idle-corner.yaml"
    assert Fraction(rates[idle, "tto"]) == Fraction(3, 2) < Fraction(rates[idle, "forestcoll"])
    assert (f"torus:dims={side}x{side},wrap=false", "tto") not in rates
