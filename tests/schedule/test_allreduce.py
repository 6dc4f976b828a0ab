"""Allreduces: two phases, their times at once and in turn, and the bound they may attain."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule import Allreduce, Forest
from forestcoll.schedule.allreduce import not_taken
from forestcoll.schedule.transform.reversal import transposed
from tests.schedule.made.hand import forest, leaves4, topology


def both(gather: Forest) -> Allreduce[Forest]:
    """The same trees, first upwards, then down; links are alike both ways."""
    return Allreduce(transposed(gather, gather.topology), gather)


def chain() -> Forest:
    """A broadcast a -> b -> c of 2 GB/s: U = 1/2, one way over either link."""
    net = topology("chain", "abc", "", [("a", "b", 2), ("b", "c", 2)])
    made = forest(
        net, [(0, 1, [(0, 1), (1, 2)])], {"ab": 1, "bc": 1}, k=1, congestion=Fraction(1, 2)
    )
    return replace(made, weights=(1, 0, 0))


def test_phases_that_share_no_link_take_the_time_of_one() -> None:
    """Up and down the chain run over different directions: 1/2 s at once, 1/2 + 1/2 in turn."""
    schedule = both(chain())
    assert schedule.time_s_per_gb == Fraction(1, 2)
    assert schedule.sequential_s_per_gb == 1
    assert schedule.algbw_gb_s == 2


def test_phases_that_share_their_busiest_link_take_the_sum() -> None:
    """Two leaves: both phases put three trees on every link of a GPU, 1/4 s each."""
    schedule = both(leaves4())
    assert schedule.time_s_per_gb == schedule.sequential_s_per_gb == Fraction(1, 2)


def test_an_allreduce_is_optimal_if_it_attains_its_bound() -> None:
    """All sums enter {b, c} over 2 GB/s: no allreduce is faster, and the chain is as fast."""
    schedule = both(chain())
    assert not schedule.optimal
    bound = AllreduceBound.of_cut(schedule.topology, (1, 2), into=True)
    assert replace(schedule, bound=bound).optimal
    assert not replace(schedule, bound=replace(bound, algbw_gb_s=Fraction(3))).optimal


def test_collective_and_topology_follow_from_the_phases() -> None:
    """A reduction first; a remark is not part of it."""
    schedule = both(chain())
    assert (schedule.collective, schedule.topology) == ("allreduce", chain().topology)
    assert [phase.collective for phase in schedule.phases] == ["reduce", "broadcast"]
    assert replace(schedule, remark="made by hand") == schedule
    assert schedule != Allreduce(schedule.gather, schedule.reduce)
    with pytest.raises(AttributeError):
        schedule.remark = "new"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("found", "takes", "message"),
    [
        (3, "a schedule", "unsupported: draw takes a schedule, not int"),
        (int, "trees", "unsupported: draw takes trees, not type"),
        (None, "a forest or two", "unsupported: draw takes a forest or two, not NoneType"),
    ],
)
def test_errors_name_the_operation_the_accepted_and_the_given_type(
    found: object, takes: str, message: str
) -> None:
    """The value itself is not shown: it may be large."""
    error = not_taken("draw", found, takes)
    assert isinstance(error, UnsupportedError)
    assert str(error) == message
    assert error.exit_code == 2
