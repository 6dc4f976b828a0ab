"""Baselines for demands of any amounts, on random ones: verified, and above the bound."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from baselines import METHODS
from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.problem.demand import Demand
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from tests.baselines.claims import load

NETWORKS = (
    "dgx_h100:boxes=1",
    "dgx_h100:boxes=3",
    "rail_optimized:boxes=4,gpus_per_box=2",
    "fat_tree:leaves=3,hosts=2,spines=2",
    "a dead NIC",
    "a single NIC",
)

VARIANTS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("direct", {}),
    ("direct", {"order": "rotation"}),
    ("hierarchical", {"order": "rotation"}),
    ("hierarchical", {"over": "leader"}),
    ("fast-reading", {}),
    ("fast-reading", {"alpha_us": "0.01"}),
)

KINDS = ("uniform", "one hot row", "one hot column", "blocks", "sparse", "single bytes")


def random_demand(gpus: int, kind: str) -> Demand:
    """Amounts of a kind; one in three is 0 besides."""
    draw = np.random.default_rng(KINDS.index(kind))
    shape = (gpus, gpus)
    amounts = draw.integers(0, 1000, shape) * (draw.random(shape) < 2 / 3)
    hot, half = draw.integers(gpus), np.arange(gpus) < gpus // 2
    if kind == "one hot row":
        amounts[hot] *= 10_000
    elif kind == "one hot column":
        amounts[:, hot] *= 10_000
    elif kind == "blocks":
        amounts *= half[:, None] == half
    elif kind == "sparse":
        amounts *= draw.random(shape) < 2 / gpus
    elif kind == "single bytes":
        amounts = np.minimum(amounts, 1)
    amounts[hot, hot - 1] += 1
    return Demand.of_matrix(amounts, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NETWORKS)
def test_every_method_meets_random_demands_and_beats_no_bound(name: str, kind: str) -> None:
    planner = AllToAllPlanner(load(name))
    demand = random_demand(planner.topology.num_compute, kind)
    least = planner.least_us(demand)
    for method, parameters in VARIANTS:
        made = METHODS[method].run(planner.topology, None, {**parameters, "demand": demand})
        assert isinstance(made, StepSchedule)
        assert verify(made).demand == kind
        pipelined = cost(made).time_s_per_gb
        assert least <= pipelined * demand.bytes / 1000
        assert pipelined <= synchronous(made).time_s_per_gb
