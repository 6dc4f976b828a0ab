"""The bottleneck of arrays: by hand, and the same as of the network that they describe."""

import numpy as np
import pytest

from forestcoll.core.bottleneck_cut import narrowest_cut_over
from forestcoll.core.optimality import narrowest_cut
from forestcoll.errors import CapacityOverflowError, DisconnectedError
from forestcoll.topology import load_topology


def over(links: list[tuple[int, int, int]], weights: list[int], target: list[int]):
    tail, head, capacity = (np.array(column) for column in zip(*links, strict=True))
    return narrowest_cut_over(
        tail.astype(np.int32),
        head.astype(np.int32),
        capacity.astype(np.int64),
        np.array(weights, dtype=np.int64),
        np.array(target, dtype=np.uint8),
    )


def test_the_cut_with_the_most_weight_for_its_capacity() -> None:
    """A ring of 3, 2 and 6: {0, 1} has weight 2 for 2, {1, 2} has 2 for 6, {0, 2} has 2 for 3."""
    p, q, cut = over([(0, 1, 3), (1, 2, 2), (2, 0, 6)], [1, 1, 1], [1, 1, 1])
    assert (p, q, cut.tolist()) == (1, 1, [1, 1, 0])


def test_a_node_that_is_no_target_forwards_only() -> None:
    """GPU 0 sends over node 1, with 5 in and 4 out, to GPU 2, which sends 1 back."""
    p, q, cut = over([(0, 1, 5), (1, 2, 4), (2, 0, 1)], [3, 0, 0], [1, 0, 1])
    assert (p, q, cut.tolist()) == (3, 4, [1, 1, 0])


def test_the_arrays_of_a_network_have_its_cut() -> None:
    """Ratio and nodes, on any number of threads."""
    topology = load_topology("mi250:boxes=2")
    links = topology.integer_capacities
    target = np.array([not node.is_switch for node in topology.nodes], dtype=np.uint8)
    of_network = narrowest_cut(topology, (1,) * topology.num_compute)
    for threads in (1, 3):
        p, q, cut = narrowest_cut_over(
            links.tail, links.head, links.capacity, target.astype(np.int64), target, threads=threads
        )
        assert (p, q, cut.tolist()) == (*of_network[:2], of_network[2].tolist())


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    """The array interface checks its input instead of reading beyond it."""
    one = np.ones(1, dtype=np.int64)
    both = np.ones(2, dtype=np.int64)
    ends = np.zeros(2, np.int32), np.ones(1, np.int32)
    with pytest.raises(ValueError, match="differ in length"):
        narrowest_cut_over(*ends, one, both, np.ones(2, np.uint8))
    with pytest.raises(ValueError, match="one entry a node"):
        over([(0, 1, 1), (1, 0, 1)], [1, 1], [1])


def test_errors_are_typed() -> None:
    """A target that no root reaches, and numbers beyond 62 bits."""
    with pytest.raises(DisconnectedError):
        over([(1, 0, 1)], [1, 1], [1, 1])
    with pytest.raises(CapacityOverflowError):
        over([(0, 1, 2**61), (1, 0, 2**61)], [1, 1], [1, 1])
