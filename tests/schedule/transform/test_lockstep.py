"""Forests hop by hop."""

import pytest

from forestcoll import generate
from forestcoll.schedule import (
    lockstep,
    verify,
)
from forestcoll.topology import Topology, load_topology


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "allreduce"])
def test_a_single_gpu_in_lockstep_has_nothing_to_send(collective: str) -> None:
    """And all of the data."""
    alone = load_topology("complete:nodes=2")
    alone = Topology("alone", alone.nodes[:1], ())
    root = 0 if collective == "broadcast" else None
    steps = lockstep(generate(alone, collective=collective, root=root))
    assert (verify(steps).sends, verify(steps).time_s_per_gb) == (0, 0)
