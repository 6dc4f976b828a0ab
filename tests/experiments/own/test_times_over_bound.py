"""Times over the least possible time: rows as computed, as stored, and as a page describes them."""

from pathlib import Path

import pytest

from experiments.own.times_figure import TimeRow
from experiments.own.times_over_bound import (
    COLLECTIVES,
    NETWORKS,
    SIZES,
    measured,
    read_rows,
    write_rows,
)

STORED = read_rows()


def test_rows_of_two_boxes_by_hand(tmp_path: Path) -> None:
    """1 KB: 10 us and 8 x 64 bytes over 25 GB/s, which is the bound."""
    rows = list(measured(["dgx_a100:boxes=2"], ["allgather"], [1024]))
    (row,) = rows
    assert row.bound_us == row.planned_us == pytest.approx(10 + 8 * 64 / 25_000)
    assert (row.of_bound, row.method) == (pytest.approx(1), "planned: constant rates")
    write_rows(rows, tmp_path / "rows" / "times.csv")
    (again,) = read_rows(tmp_path / "rows" / "times.csv")
    assert (again.topology, again.size_bytes, again.plan) == (row.topology, 1024, row.plan)
    assert again.planned_us == pytest.approx(row.planned_us, abs=1e-3)


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "none.csv") == []


def test_all_rows_are_stored_and_none_is_below_its_bound() -> None:
    places = [(row.topology, row.collective, row.size_bytes) for row in STORED]
    assert places == [(n, c, s) for n in NETWORKS for c in COLLECTIVES for s in SIZES]
    assert all(row.best_us >= row.bound_us * (1 - 1e-6) - 1e-3 for row in STORED)


def test_a_row_is_computed_as_stored() -> None:
    (stored,) = [
        row
        for row in STORED
        if (row.topology, row.collective, row.size_bytes)
        == ("dgx_h100:boxes=2", "allgather", 2**22)
    ]
    (row,) = measured(["dgx_h100:boxes=2"], ["allgather"], [2**22])
    assert row.bound_us == pytest.approx(stored.bound_us, abs=1e-3)
    assert row.best_us == pytest.approx(stored.best_us, rel=0.01)


def worst(collective: str, *networks: str) -> TimeRow:
    rows = [row for row in STORED if row.collective == collective and row.topology in networks]
    return max(rows, key=lambda row: row.of_bound)


@pytest.mark.parametrize("network", [name for name in NETWORKS if name.startswith(("dgx", "nvl"))])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_boxes_with_switches_are_within_a_tenth(network: str, collective: str) -> None:
    assert worst(collective, network).of_bound < 1.1


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_gatherings_are_as_near_to_the_bound_as_the_page_says(collective: str) -> None:
    for network in NETWORKS:
        assert worst(collective, network).of_bound < (1.09 if network == "mi250:boxes=2" else 1.07)


def allreduce(network: str, size: int) -> TimeRow:
    (row,) = [
        one
        for one in STORED
        if (one.topology, one.collective, one.size_bytes) == (network, "allreduce", size)
    ]
    return row


def test_one_hop_allreduces_are_nearest_to_the_bound_at_1_kb() -> None:
    for network in ("dgx_a100:boxes=2", "dgx_h100:boxes=2", "dgx_h100:boxes=4", "nvl72"):
        row = allreduce(network, 2**10)
        assert row.method in ("one-shot", "allgather of inputs")
        assert row.of_bound < 1.05


def test_switches_that_reduce_are_nearest_to_the_bound_at_1_gb() -> None:
    for network in ("dgx_h100:boxes=2", "nvl72"):
        row = allreduce(network, 2**30)
        assert row.method == "nccl-nvls"
        assert row.of_bound < 1.05


def test_allreduces_are_within_a_quarter_above_the_bound() -> None:
    rows = [row for row in STORED if row.collective == "allreduce"]
    assert len(rows) == 121
    assert max(row.of_bound for row in rows) < 1.25


def test_other_collectives_are_as_near_the_bound_as_the_page_says() -> None:
    for row in STORED:
        if row.collective in ("allgather", "reduce-scatter"):
            assert row.of_bound < (1.09 if row.topology == "mi250:boxes=2" else 1.05)
        if row.collective == "broadcast":
            assert row.of_bound < (1.22 if row.topology == "mi250:boxes=2" else 1.06)


def test_allreduces_between_boxes_are_near_the_bound_up_to_256_kb() -> None:
    boxes = [name for name in NETWORKS if name.startswith("dgx")]
    assert max(allreduce(name, size).of_bound for name in boxes for size in SIZES[:5]) < 1.03


@pytest.mark.slow
def test_other_schedules_are_tried_with_allreduces() -> None:
    with_baseline = {(row.topology, row.collective) for row in STORED if row.baseline}
    copying = [name for name in NETWORKS if name.startswith(("dgx_h100", "nvl72"))]
    assert with_baseline == {
        *((name, "allreduce") for name in NETWORKS),
        *((name, "broadcast") for name in copying),
    }
    small, large = measured(["dgx_a100:boxes=2"], ["allreduce"], [1024, 2**22])
    assert small.baseline in ("one-shot", "allgather of inputs")
    assert small.best_us == small.baseline_us == pytest.approx(10 + 8 * 1024 / 25_000)
    assert large.method == "planned: common slots"
    assert large.best_us == pytest.approx(allreduce("dgx_a100:boxes=2", 2**22).best_us, rel=0.01)


@pytest.mark.slow
def test_allreduces_over_switches_that_only_forward_are_near_the_bound() -> None:
    """64 KB: each NIC receives 71 times as much at 900 GB/s, after a hop."""
    (row,) = measured(["nvl72:nvls=false"], ["allreduce"], [2**16])
    assert row.best_us == pytest.approx(10 + 71 * 2**16 / 900_000, rel=1e-3)
    assert row.of_bound < 1.01


def test_allreduces_on_nvl72_are_near_the_bound_by_hand_as_the_page_says() -> None:
    """M <= b max(0, T - 20 us) + 2 b min(10 us, T - 10 us) / 72, with b = 900 GB/s."""
    rate, pairs = 900_000, 2 / 72
    found = {}
    for size in SIZES:
        row = allreduce("nvl72", size)
        least = min(10 + size / (rate * pairs), 20 + max(0, size / rate - 10 * pairs))
        assert row.bound_us == pytest.approx(least, abs=1e-3)
        found[size // 2**10] = (round(least, 1), round(row.of_bound, 2))
    assert {size: found[size] for size in (64, 256, 4096, 16_384)} == {
        64: (12.6, 1.2), 256: (20.0, 1.01), 4096: (24.4, 1.01), 16_384: (38.4, 1.03),
    }  # fmt: skip
    assert max(over for size, (_, over) in found.items() if size >= 256) <= 1.06


def broadcasts(*networks: str, sizes: tuple[int, ...]) -> list[float]:
    return [
        row.of_bound
        for row in STORED
        if row.collective == "broadcast" and row.topology in networks and row.size_bytes in sizes
    ]


def test_broadcasts_are_as_near_to_the_bound_as_the_page_says() -> None:
    boxes = [name for name in NETWORKS if name.startswith("dgx")]
    assert round(max(broadcasts(*boxes, sizes=SIZES)), 2) <= 1.08
    small = broadcasts(*boxes, sizes=SIZES[:2])
    assert 2 * sum(one < 1.001 for one in small) > len(small)
    assert max(broadcasts("nvl72", sizes=SIZES)) < 1.02
    assert max(broadcasts("torus:dims=8x8", "hypercube:dimension=6", sizes=SIZES)) < 1.07
    assert max(broadcasts("mi250:boxes=1", sizes=SIZES)) < 1.08
    assert max(broadcasts("mi250:boxes=2", sizes=SIZES)) < 1.22
    above = [size for size in SIZES if broadcasts("mi250:boxes=2", sizes=(size,))[0] > 1.11]
    assert above == [2**12, 2**18, 2**20]
