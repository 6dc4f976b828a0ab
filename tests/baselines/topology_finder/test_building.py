"""The network and the schedule of a chosen candidate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from baselines.direct_connect.bfb.bfb import generate
from baselines.topology_finder import building
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.building import built, network_of
from baselines.topology_finder.finder import Question, find
from baselines.topology_finder.workload import Fabric
from forestcoll.errors import VerificationError
from forestcoll.schedule import StepSchedule, verify
from forestcoll.topology import Topology

FABRIC = Fabric(Fraction(1, 10**5), Fraction(25 * 10**9, 2))


def test_a_network_has_the_bandwidths_and_latencies_of_the_fabric() -> None:
    (one, *_) = find(Question(32, 4), BaseTable())
    topology = network_of(one, FABRIC)
    assert {link.bandwidth_gb_s for link in topology.links} == {Fraction(25, 8)}
    assert {link.latency_us for link in topology.links} == {10}
    (ring,) = find(Question(3, 4), BaseTable())  # parallel links
    assert sum(e.bandwidth_gb_s for e in network_of(ring, FABRIC).links if e.tail == 0) == 12.5


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_a_schedule_on_the_fabric_is_verified(collective: str) -> None:
    for one in find(Question(32, 4), BaseTable()):
        made = built(one, collective, FABRIC)
        assert made.collective == collective
        assert made.topology == network_of(one, FABRIC)
        verify(made)


def test_a_wrong_prediction_is_found() -> None:
    (one,) = find(Question(12, 4), BaseTable())
    with pytest.raises(VerificationError, match="takes 2 steps and 11/12 M/B, not 1 and 11/12"):
        built(replace(one, hops=1), "allgather")
    with pytest.raises(VerificationError, match="not 2 and 1/2 as predicted"):
        built(replace(one, reverse_time=Fraction(1, 2)), "reduce-scatter")


def test_a_wrong_schedule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One transfer is missing, which makes the schedule no slower."""

    def incomplete(topology: Topology, collective: str) -> StepSchedule:
        made = generate(topology, collective)
        return replace(made, sends=made.sends.taken(np.arange(1, len(made.sends))))

    (one,) = find(Question(12, 4), BaseTable())
    monkeypatch.setattr(building, "breadth_first", incomplete)
    with pytest.raises(VerificationError, match="the sender does not have the chunk"):
        built(one, "allgather")


def test_a_wrong_number_of_gpus_is_found() -> None:
    (one,) = find(Question(12, 4), BaseTable())
    for make in (network_of, partial(built, collective="allgather")):
        with pytest.raises(VerificationError, match="has 12 GPUs, not 24 as predicted"):
            make(replace(one, nodes=24))
