"""Greedy solutions are solutions of the program, row by row, and schedules that pass the check."""

import time
from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.cleaning import needed
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from baselines.synthesizers.teccl.milp.epoch_program import write
from baselines.synthesizers.teccl.milp.greedy import greedy_sends
from baselines.synthesizers.teccl.milp.horizon import least_epochs
from forestcoll.errors import TimeLimitError
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from tests.baselines.once_each import every
from tests.random_topologies import KINDS, random_topology, rounds

FAMILIES = (
    "dgx1",
    "ndv2:chassis=2",
    "dgx2:chassis=2,multicast=true",
    "mi250:boxes=1",
    "ring:nodes=5",
)


def epochs_of(
    spec_or_seed: str | tuple[int, str], collective: str, crossing: str, which: str
) -> int:
    """Send greedily, look at it in every way, and return the epochs that it takes."""
    topology = (
        load_topology(spec_or_seed)
        if isinstance(spec_or_seed, str)
        else random_topology(*spec_or_seed)
    )
    size = 10**6
    demand = demand_of(topology.num_compute, collective, 2, size)
    epoch = epoch_us(topology, demand.chunk_kb, which)
    network = EpochNetwork.of(topology, demand.chunk_kb, epoch, crossing)
    sent = greedy_sends(network, demand)
    kept = needed(network, demand, sent)
    verify(schedule_of(network, demand, kept, collective, size))
    epochs = max(k + network.arcs[i].span + 1 for _, i, k in kept)
    assert epochs >= least_epochs(network, demand)
    program = write(network, demand, epochs)
    assert set(kept) <= program.sent.keys()
    loads = [row for row in program.rows if not row.minus and not row.equal]
    chosen = {program.sent[send] for send in kept}
    assert all(sum(x in chosen for x in row.plus) <= row.bound for row in loads)
    return epochs


@pytest.mark.parametrize("spec", every(2, FAMILIES))
@pytest.mark.parametrize(
    ("crossing", "which"), [("through", "fastest"), ("rounded", "slowest"), ("stored", "slowest")]
)
@pytest.mark.each_value_once
def test_greedy_allgathers_are_solutions(spec: str, crossing: str, which: str) -> None:
    epochs_of(spec, "allgather", crossing, which)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("collective", ["allgather", "broadcast", "all-to-all"])
@pytest.mark.each_value_once
def test_greedy_solutions_of_random_networks(kind: str, collective: str) -> None:
    for seed in range(rounds(3, 1)):
        for which in ("fastest", "slowest"):
            epochs_of((seed, kind), collective, "through", which)


def test_two_chassis_of_ndv2_take_the_published_time() -> None:
    """35 epochs of 1.25 ms, for 1 GB: what Table 8 has after two hours of search."""
    topology = load_topology("ndv2:chassis=2")
    demand = demand_of(16, "allgather", 1, 10**9)
    network = EpochNetwork.of(topology, demand.chunk_kb, Fraction(1250))
    last = max(k + network.arcs[i].span + 1 for _, i, k in greedy_sends(network, demand))
    assert last == 35


def test_the_deadline_holds() -> None:
    topology = load_topology("ring:nodes=4")
    demand = demand_of(4, "allgather", 1, 10**6)
    network = EpochNetwork.of(topology, demand.chunk_kb, Fraction(1))
    with pytest.raises(TimeLimitError):
        greedy_sends(network, demand, time.monotonic() - 1)
