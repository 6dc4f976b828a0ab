"""Trees over merged switches laid over the real planes, as fast."""

from fractions import Fraction

import pytest

from forestcoll import generate, load_topology, verify
from forestcoll.in_network.plane_trees import over_planes
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.hand_networks import network_of


def laid(topology: Topology) -> tuple[Allreduce[MulticastForest], Allreduce[MulticastForest]]:
    """Return an allreduce of the merged network, and the same over the planes."""
    planes = merged_planes(topology)
    made = generate(planes.merged, collective="allreduce", lp_time_limit_s=0.0).schedule
    assert isinstance(made, Allreduce)
    small = multicast(made)
    return small, over_planes(small, planes)


def on_planes(gpus: int, widths: tuple[int, ...], *, multicast: bool = True) -> Topology:
    planes = " ".join(f"[nv{i}{'*' * multicast}]" for i in range(len(widths)))
    links = (f"g0..{gpus - 1} - nv{i}: {width}" for i, width in enumerate(widths))
    return network_of(f"{planes} g0..{gpus - 1}", ", ".join(links), "planes")


def test_whole_trees_use_one_plane_each_if_their_number_divides() -> None:
    """72 trees on 18 planes, 4 each: no tree is there twice."""
    small, real = laid(load_topology("nvl72"))
    assert (real.gather.k, real.gather.num_batches) == (1, 72)
    assert verify(real).time_s_per_gb == small.time_s_per_gb == Fraction(1, 900)


@pytest.mark.parametrize(
    ("gpus", "widths", "k"),
    [(4, (1, 1, 1), 3), (8, (125, 125, 100, 100), 18), (2, (1, 2), 3), (6, (1, 2), 1)],
)
def test_other_trees_use_planes_by_share(gpus: int, widths: tuple[int, ...], k: int) -> None:
    """4 trees on 3 planes do not share out: each is on every plane; 6 on planes of 1 and 2 do."""
    small, real = laid(on_planes(gpus, widths))
    assert real.gather.k == k
    assert verify(real).time_s_per_gb == small.time_s_per_gb == Fraction(1, sum(widths))


@pytest.mark.parametrize("copies", [True, False])
def test_two_layers_of_planes_are_shared_out_independently(copies: bool) -> None:
    """Leaf planes of 1/3 and 2/3 below spines of 1/4 and 3/4; links between them are products."""
    builder = TopologyBuilder()
    spines = [builder.switch(f"spine{i}", multicast=copies) for i in range(2)]
    for side in range(2):
        leaves = [builder.switch(f"leaf{side}{i}", multicast=copies) for i in range(2)]
        for rank in range(2):
            gpu = builder.gpu(f"g{side}{rank}")
            for leaf, width in zip(leaves, (4, 8), strict=True):
                builder.link(gpu, leaf, width)
        for i, leaf in enumerate(leaves):
            for j, spine in enumerate(spines):
                builder.link(leaf, spine, (i + 1) * (1 + 2 * j))
    topology = builder.build("two layers")
    planes = merged_planes(topology)
    assert len(planes.merged.switches) == 3
    small, real = laid(topology)
    assert verify(real).time_s_per_gb == small.time_s_per_gb


def test_without_planes_nothing_changes() -> None:
    small, real = laid(load_topology("dgx_h100:boxes=2"))
    assert real is small
