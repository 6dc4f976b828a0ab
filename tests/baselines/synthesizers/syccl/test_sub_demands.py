"""Sub-demands of boxes of direct links."""

import pytest

from baselines.synthesizers.syccl.layers import cluster_of
from baselines.synthesizers.syccl.sketch_search import find_sketches
from baselines.synthesizers.syccl.sub_demands import DIRECT, solve
from forestcoll.topology import load_topology
from tests.baselines.claims import one_way_boxes

MI250 = cluster_of(load_topology("mi250:boxes=2,gpus_per_box=8"))


@pytest.mark.parametrize(
    "spec",
    [
        "dgx_a100:boxes=2",
        "fat_tree:leaves=2,hosts=2,spines=1",
        "rtx_4090:boxes=2,gpus_per_box=2",  # a switch for each GPU, the two joined
        "a100_pcie:boxes=2",  # pairs of GPUs have links, behind several switches
    ],
)
def test_behind_switches_nothing_is_left_open(spec: str) -> None:
    cluster = cluster_of(load_topology(spec))
    assert solve(cluster, find_sketches(cluster), 0) is DIRECT


def test_the_only_class_is_solved_once_by_trees_of_links() -> None:
    """8 GPUs: one class, all 7 distances; each tree enters the 7 others over links of the box."""
    solved = solve(MI250, find_sketches(MI250), 0)
    (distances,) = solved.trees
    assert distances == tuple(range(1, 8))
    topology = MI250.topology
    for source, (hop, tail, head) in enumerate(solved.trees[distances]):
        assert sorted(head.tolist()) == [n for n in range(8) if n != source]
        have = {source: 0}
        for depth, one, other in zip(hop.tolist(), tail.tolist(), head.tolist(), strict=True):
            assert have[one] == depth
            have[other] = depth + 1
            ends = topology.compute[MI250.rank[one]], topology.compute[MI250.rank[other]]
            assert ends in topology.link_between
    assert solved.hops(distances) > 1 == DIRECT.hops(distances)


def test_a_box_that_reaches_itself_only_over_the_network_is_left_alone() -> None:
    """Without its ring, GPU 2 of each box has no link inside; boxes that differ are left, too."""
    ring = one_way_boxes()
    cut = ring.without("b0.gpu2 -> b0.gpu0", "b1.gpu2 -> b1.gpu0")
    uneven = ring.scaled("b1.gpu0 -> b1.gpu1", 2)
    for topology, solves in ((ring, True), (uneven, False)):
        cluster = cluster_of(topology)
        assert bool(solve(cluster, find_sketches(cluster), 0).trees) is solves
    assert cluster_of(cut).places == 6
