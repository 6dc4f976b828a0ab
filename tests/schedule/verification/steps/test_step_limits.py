"""Step schedules at the limits: huge numbers, malformed parts, small files that ask for much."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    synchronous,
    verify,
)
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.schedule.literals import LITERALS
from tests.schedule.made.steps import broadcast, peak


def two_ways(bandwidth: Fraction = Fraction(1)) -> Topology:
    """Two GPUs, joined by two ways over three switches each."""
    hops = ("a - s0 t0", "s0 - s1", "s1 - s2", "t0 - t1", "t1 - t2", "s2 t2 - b")
    return network_of(
        "a b [s0..2] [t0..2]", ", ".join(f"{e}: {bandwidth}" for e in hops), "two ways"
    )


def test_times_of_long_ways_do_not_overflow() -> None:
    """A unit of time fits 64 bits for each link of a way, but not for all of them together."""
    sizes = Chunks(
        np.array([1, 2, 6]), 9, np.zeros(3, dtype=np.int32), np.full(3, -1, dtype=np.int32)
    )
    ways = [Path((0, 2, 3, 4, 1), 2**61 - 1), Path((0, 5, 6, 7, 1), 2**61 + 1)]
    made = broadcast(two_ways(), Sends.of([Send(0, i, 0, 1) for i in range(3)]), ways, sizes)
    exact = Fraction(2**61 + 1, 2**62)
    assert verify(made).time_s_per_gb == cost(made).time_s_per_gb == exact
    assert verify(made).synchronous_s_per_gb == synchronous(made).time_s_per_gb == exact
    slow = broadcast(
        two_ways(Fraction(1, 2**62)),
        Sends.of([Send(0, i, 0, 1) for i in range(2)]),
        ways[:1],
        Chunks(np.array([1, 2]), 3, np.zeros(2, dtype=np.int32), np.full(2, -1, dtype=np.int32)),
    )
    assert verify(slow).time_s_per_gb == cost(slow).time_s_per_gb == 2**62


def test_a_path_that_comes_over_a_link_again_is_charged_again() -> None:
    """There, back and there: twice the load, also where it does not fit 64 bits."""
    pair = load_topology("complete:nodes=2,bandwidth=1")
    huge = Chunks.equal([0], whole=2**62, size=2**62)
    made = broadcast(pair, Sends.of([Send(0, 0, 0, 1)]), [Path((0, 1, 0, 1), 1)], huge)
    assert verify(made).time_s_per_gb == cost(made).time_s_per_gb == 2
    assert synchronous(made).time_s_per_gb == 2


def test_a_step_far_off_asks_for_no_memory() -> None:
    """Two transfers, the second in step 2^31 - 1."""
    made = LITERALS["an allreduce rooted unit by unit"].make()
    step = made.sends.step.copy()
    step[-1] = 2**31 - 1
    far = replace(made, sends=replace(made.sends, step=step))
    for measure in (verify, cost, synchronous):
        with pytest.raises(VerificationError, match=r"steps have gaps|sends.step holds"):
            measure(far)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
def test_missing_deliveries_are_found_without_a_table_of_all(collective: str) -> None:
    """1500 GPUs and no transfer: no table of chunks times GPUs is made to see that."""
    gpus = 1500
    net = network_of(f"[s] g0..{gpus - 1}", f"s - g0..{gpus - 1}", "many")
    free, aimed = collective == "allreduce", collective == "all-to-all"
    root = np.full(1, -1) if free else np.arange(gpus)
    chunks = Chunks.equal(root, whole=1 if free else gpus)
    if aimed:
        chunks = replace(chunks, target=np.roll(chunks.root, 1))
    made = StepSchedule(net, "none", collective, chunks, Sends.of([]), Routes.from_paths({}))
    with pytest.raises(VerificationError, match=r"never gets to|lacks the|of the data"):
        verify(made)
    assert peak(made) < 4 * 10**6
