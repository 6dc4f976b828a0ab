"""The search for shallow trees: proved by verify, whatever it begins with."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import Topology, generate, load_topology, optimum, verify
from forestcoll.bounded_depth.depth_bounded_trees import Seeds, depth_bounded_trees, fits, seeds
from forestcoll.bounded_depth.hop_distances import eccentricities
from forestcoll.errors import InfeasibleError
from tests.strategies import topologies

ZERO = Fraction(0)


@settings(deadline=None)
@given(topologies(), st.integers(1, 3), st.integers(0, 2), st.booleans())
def test_trees_are_proved_within_depth(topology: Topology, k: int, slack: int, cut: bool) -> None:
    """From trees that are grown, and from the core's, cut."""
    weights = [1] * topology.num_compute
    depth = max(eccentricities(topology, range(topology.num_compute))) + slack
    begin = Seeds.of(generate(topology, k=k).schedule) if cut else seeds(weights, k)
    made = depth_bounded_trees(topology, weights, begin, depth, ZERO, looks=2**16)
    verdict = verify(made)
    assert verdict.depth <= depth
    assert verdict.congestion == made.congestion
    again = depth_bounded_trees(topology, weights, begin, depth, ZERO, looks=2**16)
    assert np.array_equal(made.parent, again.parent)


def test_trees_that_attain_the_optimum_claim_it() -> None:
    torus = load_topology("torus:dims=4x4")
    best = optimum(torus)
    begin = Seeds.of(generate(torus).schedule)
    made = depth_bounded_trees(
        torus, [1] * 16, begin, 4, best.inverse_rate, optimum=best, looks=2**20
    )
    assert verify(made).optimal
    assert (
        depth_bounded_trees(torus, [1] * 16, seeds([1] * 16, 1), 4, ZERO, looks=0).optimum is None
    )


def test_roots_have_as_many_trees_as_their_weight() -> None:
    """Nine trees in eight batches, none of the root without weight."""
    begin = seeds([3, 0, 1, 1, 1], 3)
    assert begin.multiplicity.sum() == 18
    assert begin.root.tolist() == [0] * 8 + [2] * 3 + [3] * 3 + [4] * 3
    assert begin.multiplicity.tolist() == [1] * 7 + [2] + [1] * 9


def test_lower_than_a_gpu_is_far_there_is_nothing() -> None:
    ring = load_topology("ring:nodes=6")
    with pytest.raises(InfeasibleError, match="depth 2"):
        depth_bounded_trees(ring, [1] * 6, seeds([1] * 6, 1), 2, ZERO, looks=100)


def test_trees_of_few_roots_begin_in_more_parts() -> None:
    """One root: 32 parts of 100 trees; sixteen: 8 each, as of any number of roots."""
    assert len(seeds([0, 1, 0], 100).root) == 32
    assert sum(seeds([0, 1, 0], 100).multiplicity.tolist()) == 100
    assert len(seeds([1] * 16, 100).root) == 16 * 8
    assert len(seeds([0, 3, 0], 1).root) == 3


def test_large_numbers_do_not_fit() -> None:
    ring = load_topology("ring:nodes=6")
    assert fits(ring, [1] * 6, 100)
    assert not fits(ring, [1] * 6, 2**40)


def test_progress_may_stop_it() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    box = load_topology("mi250:boxes=2")
    with pytest.raises(KeyboardInterrupt):
        depth_bounded_trees(box, [1] * 32, seeds([1] * 32, 1), 3, ZERO, looks=2**26, progress=stop)
