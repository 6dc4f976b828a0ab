"""Bruck's algorithms, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.libraries.bruck import generate
from forestcoll.errors import UnsupportedError
from forestcoll.problem.named_demands import named_demand
from forestcoll.schedule import synchronous, verify
from forestcoll.topology import load_topology


@pytest.mark.parametrize("nodes", range(2, 14))
def test_steps_are_few_for_any_number_of_gpus(nodes: int) -> None:
    """ceil(log2 N) steps, in which everyone sends N - 1 shards over one link a step."""
    topology = load_topology(f"complete:nodes={nodes}")
    for collective in ("allgather", "reduce-scatter"):
        verdict = verify(generate(topology, collective))
        assert verdict.steps == int(np.ceil(np.log2(nodes)))
        assert verdict.synchronous_s_per_gb == Fraction(nodes - 1, nodes)


def test_an_allgather_of_five_by_hand() -> None:
    """GPU 0 sends its shard to 4, shards 0 and 1 to 3, and then its own alone to 1."""
    sends = generate(load_topology("complete:nodes=5")).sends
    mine = sends.tail == 0
    rows = zip(sends.step[mine], sends.chunk[mine], sends.head[mine], strict=True)
    assert [tuple(map(int, row)) for row in rows] == [(0, 0, 4), (1, 0, 3), (1, 1, 3), (2, 0, 1)]


@pytest.mark.parametrize("nodes", range(2, 14))
def test_an_all_to_all_forwards_by_the_bits_of_the_distance(nodes: int) -> None:
    """In step k everyone sends the parts of all targets whose distance has bit k, M/N each."""
    schedule = generate(load_topology(f"complete:nodes={nodes}"), "all-to-all")
    verdict = verify(schedule)
    bits = [sum(distance >> step & 1 for distance in range(nodes)) for step in range(verdict.steps)]
    assert verdict.steps == (nodes - 1).bit_length()
    assert synchronous(schedule).time_s_per_gb == Fraction(sum(bits), nodes)
    sent = np.bincount(schedule.sends.step).tolist()
    assert sent == [nodes * each for each in bits]


@pytest.mark.parametrize("spec", ["complete:nodes=6", "dgx_a100:boxes=2", "ring:nodes=7"])
def test_equal_demands_are_as_fast_as_equal_parts(spec: str) -> None:
    """The chunks have the demand's order, and the same transfers."""
    topology = load_topology(spec)
    demand = named_demand("all-to-all:size=64MB", topology)
    verdict = verify(generate(topology, demand=demand))
    equal = verify(generate(topology, "all-to-all"))
    assert verdict.steps == equal.steps
    each = int(demand.size[0]) * topology.num_compute
    assert verdict.time_s_per_gb * demand.bytes == equal.time_s_per_gb * each


def test_unequal_demands_are_refused_with_the_methods_that_take_them() -> None:
    topology = load_topology("complete:nodes=4")
    with pytest.raises(UnsupportedError, match=r"zipf differ; .* direct, hierarchical and fast"):
        generate(topology, demand="zipf")
