"""Paths of merged planes laid over the real ones: no link carries more than its part."""

import numpy as np
import pytest

from forestcoll import generate, load_topology, optimum, verify
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.transform.plane_routes import paths_over_planes, split_edges
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.hand_networks import network_of


def on_planes(widths: tuple[int, ...], gpus: int = 8) -> Topology:
    """GPUs on as many planes as there are widths, each as wide to all."""
    links = (f"g0..{gpus - 1} - plane{i}: {width}" for i, width in enumerate(widths))
    return network_of(f"[plane0..{len(widths) - 1}] g0..{gpus - 1}", ", ".join(links), "planes")


@pytest.mark.parametrize("weights", [(1, 1), (1, 2), (5, 5, 4, 4), (1,) * 18, (3, 1, 1)])
def test_every_part_has_no_more_than_its_share_of_any_degree(weights: tuple[int, ...]) -> None:
    """Random bundles; a node of degree d has at most ceil(d / W) w_i edges in part i."""
    random = np.random.default_rng(sum(weights))
    for _ in range(20):
        sizes = random.integers(1, 9, size=2)
        near, far = (side.ravel() for side in np.indices(sizes))
        kept = random.random(len(near)) < 0.7
        near, far = near[kept], far[kept]
        if not len(near):
            continue
        amount = random.integers(1, 3 * sum(weights), size=len(near))
        parts = split_edges(near, far, amount, weights)
        assert (parts >= 0).all()
        assert (parts.sum(axis=1) == amount).all()
        for side in (near, far):
            degree = np.bincount(side, amount).astype(np.int64)
            most = -(-degree // sum(weights))
            for part, weight in zip(parts.T, weights, strict=True):
                assert (np.bincount(side, part, minlength=len(degree)) <= most * weight).all()


def test_full_planes_cut_paths() -> None:
    """Two GPUs, planes of 1 and 2 GB/s; 3 trees from one to the other: 1 and 2 of them."""
    topology = on_planes((1, 2), gpus=2)
    planes = merged_planes(topology)
    gpus, switch = planes.merged.compute, planes.merged.switches[0]
    merged = Routes.from_paths({(0, 1): [Path((gpus[0], switch, gpus[1]), 3)]})
    paths = paths_over_planes(merged, planes).paths()
    assert paths == {(0, 1): (Path((2, 0, 3), 1), Path((2, 1, 3), 2))}


def test_a_path_twice_through_merged_planes_is_cut_at_both() -> None:
    """g0 - X - hub - X - g1, X of two planes, a tree each: in and out of the hub by either."""
    merged = merged_planes(network_of("[x0] [x1] g0 g1 [hub]", "g0 g1 hub - x0 x1", "twice"))
    x, g0, g1, h = (merged.merged.position_of[name] for name in ("x0", "g0", "g1", "hub"))
    routes = Routes.from_paths({(0, 1): [Path((g0, x, h, x, g1), 2)]})
    laid = paths_over_planes(routes, merged)
    hops = {(a, b): 0 for a in range(5) for b in range(5)}
    for path in laid.paths()[0, 1]:
        for pair in zip(path.nodes, path.nodes[1:], strict=False):
            hops[pair] += path.multiplicity
    assert set(hops.values()) == {0, 1}
    assert sum(hops.values()) == 8


@pytest.mark.parametrize(
    "topology",
    [
        on_planes((125, 125, 100, 100)),
        on_planes((3, 4), gpus=5),
        on_planes((1,) * 7, gpus=3),
        load_topology("nvl72:gpus_per_rack=6,planes=4,racks=2"),
        load_topology("nvl72:gpus_per_rack=5,planes=3,racks=3"),
    ],
    ids=lambda topology: f"{topology.name} {topology.num_compute}",
)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_schedules_over_planes_attain_the_optimum(topology: Topology, collective: str) -> None:
    """As many trees as the optimum asks for, explicit and factored, proved on the real network."""
    forest = generate(topology, collective=collective, lp_time_limit_s=0.0).schedule
    verdict = verify(forest)
    best = optimum(topology)
    if collective == "allreduce":
        assert verdict.algbw_gb_s == best.algbw_gb_s / 2
        return
    assert (forest.k, verdict.time_s_per_gb) == (best.k, best.time_s_per_gb)
    assert verify(generate(topology, collective=collective, factored=True).schedule) == verdict


def test_weights_and_roots_over_planes() -> None:
    topology = on_planes((3, 5, 2), gpus=4)
    for asked in ({"weights": (1, 2, 0, 3)}, {"weights": (0, 1, 0, 0)}):
        forest = generate(topology, **asked).schedule
        assert verify(forest).time_s_per_gb == optimum(topology, **asked).time_s_per_gb


@pytest.mark.parametrize("k", [1, 2, 3, 18])
def test_a_given_k_is_that_of_the_real_network(k: int) -> None:
    """Links that hold other whole numbers of trees than their shares are not merged."""
    topology = on_planes((125, 125, 100, 100))
    forest = generate(topology, k=k).schedule
    verify(forest)
    assert forest.k == k
