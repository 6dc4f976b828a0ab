"""The best of NCCL's algorithms at each size."""

import pytest

from experiments.advice.nccl_tuner.tuner_file import MOST_BYTES
from experiments.advice.nccl_tuner.tuner_table import Choice, Table, lines_of, table
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.scoring.threadblock_rates import machine_rate
from forestcoll.topology import load_topology

BOXES = load_topology("dgx_a100:boxes=2")
A100 = machine_rate("a100")
ALL = ("ll", "ll128", "simple")
assert A100


def test_protocols_follow_each_other_by_size() -> None:
    """Trees first, with LL, LL128 and Simple; large data near the rate of NCCL's trees."""
    found = table(BOXES, "allreduce", [2**30, 2**10, 2**23], A100, ALL)
    assert [one.size_bytes for one in found.choices] == [2**10, 2**23, 2**30]
    assert [(one.algorithm, one.protocol) for one in found.choices] == [
        ("tree", "ll"),
        ("tree", "ll128"),
        ("tree", "simple"),
    ]
    last = found.choices[-1]
    assert last.share == pytest.approx(last.algbw_gb_s / 173.3333, rel=1e-3)
    assert 0.85 < last.share < 0.92


def test_no_pair_that_was_passed_over_is_faster() -> None:
    """Every pair simulated at every size, against the choice."""
    from experiments.advice.nccl_tuner.built_in import built_in

    entries, _ = built_in(BOXES, "allreduce", A100, ALL)
    for choice in table(BOXES, "allreduce", [2**10, 2**20, 2**26], A100, ALL).choices:
        assert choice.time_s == min(one.time_s(choice.size_bytes) for one in entries)


def test_ranges_cover_every_size_and_meet_in_the_middle() -> None:
    """Neighbours with one choice are one; 1 MB and 4 MB meet at 2 MB."""
    mb = 2**20
    choices = tuple(
        Choice(size, "ring", protocol, 2, 1.0, 1.0, None)
        for size, protocol in ((1, "ll"), (mb, "ll"), (4 * mb, "simple"))
    )
    lines = lines_of(Table("allgather", choices, None, ()), BOXES)
    assert [(one.min_bytes, one.max_bytes) for one in lines] == [
        (0, 2 * mb),
        (2 * mb + 1, MOST_BYTES),
    ]
    assert {(one.boxes, one.ranks) for one in lines} == {(2, 16)}


def test_a_network_without_boxes_suits_any_number() -> None:
    choices = (Choice(1, "ring", "ll", 1, 1.0, 1.0, None),)
    found = lines_of(Table("allgather", choices, None, ()), load_topology("ring:nodes=4"))
    assert (found[0].boxes, found[0].ranks) == (-1, 4)


def test_no_algorithm_at_all_is_an_error() -> None:
    with pytest.raises(UnsupportedError, match="no algorithm for allreduce on dgx_a100:boxes=2: t"):
        table(BOXES, "allreduce", [1], A100, ())
