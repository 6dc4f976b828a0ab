"""The best overlap of a reduce and a broadcast, beside counting links."""

import pytest

from baselines.synthesizers.blink import blink, blink_switch
from forestcoll import load_topology
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    InvalidTopologyError,
    UnsupportedError,
)
from forestcoll.schedule import cost
from lp.allreduce.single_root import overlapped_allreduce_gb_s
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    ("spec", "rate"),
    [
        ("ring:nodes=2", 1),
        ("ring:nodes=4", 4 / 3),  # 8 links of 1 GB/s; an in-tree and an out-tree take 3 each
        ("complete:nodes=4", 2),  # 12 links
        ("mi250:boxes=1", 1200 / 7),  # ForestColl's allreduce, half of its allgather's 2400/7
    ],
)
def test_overlap_is_bounded_by_the_links_that_both_trees_take(spec: str, rate: float) -> None:
    topology = load_topology(spec)
    best = overlapped_allreduce_gb_s(topology, 0, seconds=60)
    assert best == pytest.approx(rate, rel=1e-6)
    packed = cost(blink.generate(topology, "allreduce", root=0)).algbw_gb_s
    assert float(packed) <= best * (1 + 1e-6)


@pytest.mark.parametrize("removal", blink_switch.REMOVALS)
def test_a_single_root_can_overlap_as_well_as_forestcoll_on_mi250(removal: str) -> None:
    """On 8+8 GPUs 104 GB/s, ForestColl's own allreduce; what it takes is the right trees."""
    topology = load_topology("mi250:boxes=2,gpus_per_box=8")
    logical = blink_switch.without_switches(topology, removal).topology
    best = overlapped_allreduce_gb_s(logical, 0, seconds=60)
    assert best == pytest.approx(104, rel=1e-6)


def test_each_way_has_its_own_links() -> None:
    """1 GB/s from the root to the other GPU, 3 back: what comes must go."""
    net = network_of("a b", "a > b, b > a: 3", "one-sided")
    best = overlapped_allreduce_gb_s(net, 0, seconds=60)
    assert best == pytest.approx(1, rel=1e-6)


def test_switches_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: paper_example has switches"):
        overlapped_allreduce_gb_s(load_topology("paper_example"), 0, seconds=60)


@pytest.mark.parametrize("root", [-1, 4, 1.0, "0", True])
def test_a_root_that_is_no_rank_is_refused(root: object) -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(InvalidParameterError, match=f"root is {root!r}; .* ranks 0 to 3"):
        overlapped_allreduce_gb_s(ring, root, seconds=60)  # type: ignore[arg-type]


def test_networks_without_an_allreduce_are_refused() -> None:
    """No links at all; a GPU that cannot send; one GPU."""
    for links in ("", "a > b"):
        with pytest.raises(DisconnectedError):
            overlapped_allreduce_gb_s(network_of("a b", links, "cut off"), 0, seconds=60)
    with pytest.raises(InvalidTopologyError, match="at least 2"):
        overlapped_allreduce_gb_s(network_of("a", "", "alone"), 0, seconds=60)


@pytest.mark.parametrize("wide", [10**6, 10**9])
def test_a_wide_link_does_not_blur_a_narrow_one(wide: int) -> None:
    """Of three GPUs in a row 1 GB/s each way joins the last: the root at the other end has 1."""
    row = network_of("a b c", f"a - b: {wide}, b - c", "row")
    assert overlapped_allreduce_gb_s(row, 0, seconds=60) == pytest.approx(1, rel=1e-6)
