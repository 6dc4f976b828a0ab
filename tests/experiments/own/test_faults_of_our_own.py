"""What docs/papers/own-figures.md says of faults is what the kept rows say."""

from fractions import Fraction
from pathlib import Path

import pytest

from experiments.results.rows import Row, read_rows

RESULTS = Path(__file__).parents[3] / "results"
SLOW, DEAD = "with b0.* - ib x 1/2", "without b0.gpu0 - ib"


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], Row]:
    """By topology and method."""
    kept = read_rows(RESULTS / "own-faults" / "rows.jsonl")
    return {(row.topology, row.method): row for row in kept}


def cost(rows: dict[tuple[str, str], Row], boxes: int, fault: str, method: str) -> float:
    """Return the time with a fault as a multiple of the optimum without."""
    name = f"dgx_a100:boxes={boxes}"
    best = rows[name, "forestcoll"].optimum
    return float(Fraction(best) / Fraction(rows[f"{name} {fault}", method].algbw))


def test_forestcoll_is_optimal_on_damaged_networks(rows: dict[tuple[str, str], Row]) -> None:
    """Exactly, and no other method is above it."""
    ours = [row for row in rows.values() if row.method == "forestcoll"]
    assert len(ours) == 18
    assert all(row.verified and row.algbw == row.optimum for row in ours)
    assert all(Fraction(row.algbw) <= Fraction(row.optimum) for row in rows.values() if row.algbw)


@pytest.mark.parametrize(
    ("boxes", "fault", "percent"),
    [(4, SLOW, 33.3), (128, SLOW, 0.8), (4, DEAD, 3.2), (16, DEAD, 0.8), (128, DEAD, 0.1)],
)
def test_faults_cost_the_percentages_of_the_page(
    rows: dict[tuple[str, str], Row], boxes: int, fault: str, percent: float
) -> None:
    assert 100 * (cost(rows, boxes, fault, "forestcoll") - 1) == pytest.approx(percent, abs=0.05)


def test_rings_wait_for_the_slowest_box(rows: dict[tuple[str, str], Row]) -> None:
    """Twice the time and more; 15 % and more where a NIC is dead."""
    for boxes in (4, 8, 16, 32, 64, 128):
        assert cost(rows, boxes, SLOW, "ring") > 2
        assert cost(rows, boxes, DEAD, "ring") > 1.15
        assert rows[f"dgx_a100:boxes={boxes}", "nccl-tree"].algbw == "100"
        assert rows[f"dgx_a100:boxes={boxes} {DEAD}", "nccl-tree"].algbw == "100"
