"""Networks whose all-to-all rate is known, and how to ask for it."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum, all_to_all_rate
from forestcoll.all_to_all.path_schedule import schedule_of
from forestcoll.schedule import verify
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import (
    Topology,
    load_topology,
)
from tests.hand_networks import network_of

SETTINGS = Settings(seconds=60, method="highs-ipm")


BIPARTITE = "complete_bipartite:degree=4"


def optimum(topology: Topology, **given) -> AllToAllOptimum:
    found = all_to_all_rate(topology, settings=SETTINGS, **given)
    assert found.status == "optimal"
    assert found.rate_gb_s <= found.bound_gb_s * (1 + 1e-9)
    assert found.gap < 1e-6
    return found


def exact_rate(topology: Topology) -> Fraction:
    """The rate as the fraction it must be, which a schedule attains."""
    found = optimum(topology)
    made = 1 / verify(schedule_of(found)).congestion
    assert float(made) == pytest.approx(found.bound_gb_s, rel=1e-9)
    return made


def uni(gpus: int) -> Topology:
    return load_topology(f"ring:nodes={gpus},bidirectional=false")


def line(bandwidths: tuple[int, int]) -> Topology:
    links = (f"gpu{i} - gpu{i + 1}: {bandwidth}" for i, bandwidth in enumerate(bandwidths))
    return network_of("gpu0..2", ", ".join(links), "line")


SYMMETRIC = [
    BIPARTITE,
    "circulant:nodes=13,offsets=2+3",
    "torus:dims=3x4,bandwidth=3/2",
    "torus:dims=3x4,wrap=false",
    "mi250:boxes=1,gpus_per_box=8",
    "dgx_a100:boxes=2,ib_switches=2",
    "fat_tree:leaves=3,hosts=3,spines=2",
]


def delivered(demands: FlowProblem, flow_gb_s) -> float:
    """The least of what arrives and stays, over all pairs with a demand, per unit of it."""
    arrived = np.zeros_like(demands.amount)
    np.add.at(arrived.T, demands.head, flow_gb_s.T)
    np.subtract.at(arrived.T, demands.tail, flow_gb_s.T)
    wanted = demands.amount > 0
    return float((arrived[wanted] / demands.amount[wanted]).min())
