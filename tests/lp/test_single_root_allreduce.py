"""The best overlap of a reduce and a broadcast, beside counting links."""

import pytest

from baselines import blink, blink_switch
from forestcoll import load_topology
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import cost
from forestcoll.topology import TopologyBuilder
from lp.single_root_allreduce import overlapped_allreduce_gb_s


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
    best = overlapped_allreduce_gb_s(topology, 0, time_limit_s=60)
    assert best == pytest.approx(rate, rel=1e-6)
    packed = cost(blink.generate(topology, "allreduce", root=0)).algbw_gb_s
    assert float(packed) <= best * (1 + 1e-6)


@pytest.mark.parametrize("removal", blink_switch.REMOVALS)
def test_a_single_root_can_overlap_as_well_as_forestcoll_on_mi250(removal: str) -> None:
    """On 8+8 GPUs 104 GB/s, ForestColl's own allreduce; what it takes is the right trees."""
    topology = load_topology("mi250:boxes=2,gpus_per_box=8")
    logical = blink_switch.without_switches(topology, removal).topology
    best = overlapped_allreduce_gb_s(logical, 0, time_limit_s=60)
    assert best == pytest.approx(104, rel=1e-6)


def test_each_way_has_its_own_links() -> None:
    """1 GB/s from the root to the other GPU, 3 back: what comes must go."""
    builder = TopologyBuilder()
    builder.arc(builder.gpu("a"), builder.gpu("b"), 1)
    builder.arc("b", "a", 3)
    best = overlapped_allreduce_gb_s(builder.build("one-sided"), 0, time_limit_s=60)
    assert best == pytest.approx(1, rel=1e-6)


def test_switches_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: paper_example has switches"):
        overlapped_allreduce_gb_s(load_topology("paper_example"), 0, time_limit_s=60)
