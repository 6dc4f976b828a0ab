"""The allreduce by one orientation: what it attains, and where there is none."""

from fractions import Fraction

import pytest

from forestcoll import generate, load_topology, verify
from forestcoll.allreduce.orientation import oriented_allreduce
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology import Topology
from forestcoll.topology.shared_capacity import SharedCapacity
from tests.hand_networks import network_of
from tests.lp.networks import line, one_way_detour, star, two_boxes


def clique(name: str, gpus: int) -> str:
    """Links of 1 GB/s between all pairs."""
    pairs = ((i, j) for i in range(gpus) for j in range(i))
    return ", ".join(f"{name}{i} - {name}{j}" for i, j in pairs)


MESH = network_of("gpu0..5", "gpu0 - gpu1, gpu1 - gpu2, gpu3 - gpu4, gpu4 - gpu5, "
                  "gpu0 - gpu3, gpu1 - gpu4, gpu2 - gpu5")  # fmt: skip


def test_gpus_with_too_many_links_send_over_them_more_than_they_receive() -> None:
    """Two rows of three: 7 links over 5. The middle ones get at most 7/5 of 3, not half of it."""
    found = oriented_allreduce(MESH)
    assert found is not None
    assert found.optimal
    assert found.bound is not None
    assert verify(found).algbw_gb_s == check_bound(found.bound) == Fraction(7, 5)


def test_parts_are_what_a_gpu_does_not_receive() -> None:
    """On a line of three M = 2/2 = 1. With halves of its links an end gets 1/2, the middle 1."""
    found = oriented_allreduce(line(3))
    assert found is not None
    assert found.gather.weights == (1, 0, 1)
    assert verify(found).algbw_gb_s == 1


def test_bandwidths_may_differ() -> None:
    """A triangle of 1, 2 and 3 GB/s: M = 6/2 = 3, and each GPU has at least 3."""
    triangle = network_of("gpu0..2", "gpu0 - gpu1, gpu0 - gpu2: 2, gpu1 - gpu2: 3")
    found = oriented_allreduce(triangle)
    assert found is not None
    assert verify(found).algbw_gb_s == 3


@pytest.mark.parametrize(
    ("spec", "dead", "rate"),
    [
        ("tpu_v5e:dims=8x16", "gpu0.0 - gpu0.1", Fraction(239 * 50, 127)),
        ("tpu_v4:dims=4x4x4", "gpu0.0.0 - gpu0.0.1", Fraction(191 * 50, 63)),
        ("dgx1", "b0.gpu0 - b0.gpu1", Fraction(22 * 25, 7)),
    ],
)
def test_machines_with_a_dead_link(spec: str, dead: str, rate: Fraction) -> None:
    """All bandwidths that are left, over the number of the other GPUs."""
    made = generate(load_topology(spec).without(dead), collective="allreduce").schedule
    assert made.optimal
    assert verify(made).algbw_gb_s == rate


@pytest.mark.parametrize(
    "topology",
    [
        star(1, 1, 1),  # a switch
        one_way_detour(),  # links that differ from their reverses
        load_topology("pcie_box"),
        network_of("gpu0", ""),
    ],
    ids=lambda one: one.name,
)
def test_other_networks_have_none(topology: Topology) -> None:
    assert oriented_allreduce(topology) is None


def test_none_where_a_clique_cannot_receive_all_its_links() -> None:
    """Five GPUs with 10 links and a GPU behind each of four: M = 14/8, and 5 M < 10."""
    behind = ", ".join(f"a{i} - b{i}" for i in range(4))
    crowded = network_of("a0..4 b0..3", f"{clique('a', 5)}, {behind}", "crowded")
    assert oriented_allreduce(crowded) is None


def test_none_where_a_set_binds_more_than_its_gpus() -> None:
    """Four GPUs with 6 links and one behind: M = 7/4, 4 M > 6, but 3 M < 6: two trees at most."""
    uneven = network_of("a0..3 b0", f"{clique('a', 4)}, a0 - b0", "uneven")
    assert oriented_allreduce(uneven) is None


def test_none_where_the_orientation_cuts_gpus_off() -> None:
    """Five GPUs with 10 links, three with 3, one link between: M = 2, and 5 M = 10: all go out."""
    apart = network_of("a0..4 b0..2", f"{clique('a', 5)}, {clique('b', 3)}, a0 - b0", "apart")
    assert oriented_allreduce(apart) is None


@pytest.mark.parametrize(
    ("width", "fits"), [(100_000_005, True), (300_000_005, False), (10**9, False)]
)
def test_numbers_up_to_those_of_the_max_flow(width: int, fits: bool) -> None:
    """Three unlike links both ways, in halves: 12 times the narrowest, and at most 2^31."""
    links = f"gpu0 - gpu1: {width}, gpu1 - gpu2: {width + 1}, gpu0 - gpu2: {width + 2}"
    found = oriented_allreduce(network_of("gpu0..2", links, "wide"))
    assert (found is not None) == fits
    assert found is None or verify(found).algbw_gb_s == Fraction(3 * width + 3, 2)


def test_none_with_shared_capacities() -> None:
    """A bus that holds less than its two links: the cuts around single GPUs do not bind."""
    path = line(3)
    held = ((0, 1), (1, 0))
    bus = path.like(
        "bus", path.nodes, path.links, shared=(SharedCapacity("bus", held, Fraction(1)),)
    )
    assert oriented_allreduce(bus) is None


def test_none_behind_a_narrow_link() -> None:
    """As :func:`two_boxes`, whose switches are no GPUs either."""
    assert oriented_allreduce(two_boxes(2, 3)) is None
