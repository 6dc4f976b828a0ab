"""What a forest of some weights is called, and its bandwidth."""

from fractions import Fraction

import pytest

from forestcoll import generate
from forestcoll.errors import UnsupportedError
from forestcoll.problem.collective import algbw_of, collective_of
from forestcoll.topology import load_topology


def test_names_of_collectives_follow_from_weights_and_direction() -> None:
    """One positive weight is a root, unless there is a single GPU or all weigh the same."""
    ring = load_topology("ring:nodes=3")
    for collective in ("allgather", "broadcast", "reduce-scatter", "reduce"):
        root = 1 if collective in ("broadcast", "reduce") else None
        assert generate(ring, collective=collective, root=root).schedule.collective == collective
    assert generate(ring, weights=[0, 2, 0]).schedule.collective == "broadcast"
    assert generate(ring, weights=[0, 2, 1]).schedule.collective == "allgather"
    pair = load_topology("complete:nodes=2")
    assert generate(pair, collective="reduce", root=0).schedule.collective == "reduce"


@pytest.mark.parametrize(
    ("weights", "forwards", "back"),
    [
        ((1, 1, 1), "allgather", "reduce-scatter"),
        ((0, 2, 5), "allgather", "reduce-scatter"),
        ((0, 0, 3), "broadcast", "reduce"),
        ((1,), "allgather", "reduce-scatter"),
        ((0, 0), "allgather", "reduce-scatter"),
    ],
)
def test_single_roots_are_broadcasts(weights: tuple[int, ...], forwards: str, back: str) -> None:
    """A GPU alone, or nobody with data, roots no broadcast."""
    assert (collective_of(weights, False), collective_of(weights, True)) == (forwards, back)


def test_no_time_has_no_bandwidth() -> None:
    """Three seconds for two GB are 2/3 GB/s; a GPU alone has nothing to wait for."""
    assert algbw_of(Fraction(3, 2)) == Fraction(2, 3)
    with pytest.raises(UnsupportedError, match="a single GPU takes no time; it has no bandwidth"):
        algbw_of(Fraction(0))
