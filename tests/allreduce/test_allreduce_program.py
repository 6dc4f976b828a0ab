"""The allreduce program within a time limit: schedule and bound, or why there is none."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.allreduce import allreduce_program
from forestcoll.allreduce.allreduce_program import improved, proved
from forestcoll.errors import SolverError
from forestcoll.schedule import verify
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology import Topology, load_topology
from tests.lp.networks import BETTER, line, star


@pytest.mark.parametrize("topology", [line(4), star(1, 1, 2)], ids=lambda given: given.name)
def test_schedule_and_bound_meet(topology: Topology) -> None:
    """At the rate found by hand, in fractions."""
    rate = next(rate for network, rate, _ in BETTER if network == topology)
    found = improved(topology, None, multicast=False, seconds=20)
    assert found.schedule is not None
    assert found.bound is not None
    assert found.remark == ""
    assert verify(found.schedule).algbw_gb_s == check_bound(found.bound) == rate


def test_a_request_for_the_bound_makes_no_schedule() -> None:
    found = proved(line(4), None, multicast=False, seconds=20)
    assert (found.schedule, found.remark) == (None, "")
    assert found.bound is not None
    assert check_bound(found.bound) == 1


def test_weights_decide_the_roots_of_sums() -> None:
    """The fast GPU as only root takes in 1 + 1 and sends out 1 + 1."""
    found = improved(star(1, 1, 2), (0, 0, 1), multicast=False, seconds=20)
    assert found.schedule is not None
    assert found.bound is not None
    assert found.schedule.gather.weights == (0, 0, 1)
    assert found.bound.weights == (0, 0, 1)
    assert verify(found.schedule).algbw_gb_s == check_bound(found.bound) == 1


def test_the_bound_is_that_of_the_switches() -> None:
    """All eight GPUs send M over 450 GB/s to be added, and get it; else 7/8 of it, and again."""
    box = load_topology("dgx_h100:boxes=1")
    for multicast, rate in ((True, Fraction(450)), (False, Fraction(450 * 8, 2 * 7))):
        found = proved(box, None, multicast=multicast, seconds=20)
        assert found.bound is not None
        assert found.bound.algbw_gb_s == rate


def test_without_time_it_is_said_so() -> None:
    for solve in (improved, proved):
        found = solve(line(4), None, multicast=False, seconds=1e-9)
        assert found.schedule is None
        assert found.remark == "the allreduce program did not finish in 1e-09 s"


def test_too_many_kinds_of_links_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of four has two, up to its symmetry: at the ends and in the middle, either way."""
    monkeypatch.setattr(allreduce_program, "MOST_LINKS", 2)
    found = improved(line(4), None, multicast=False, seconds=20)
    assert (found.schedule, found.bound) == (None, None)
    assert "has 3 kinds of links, more than the 2" in found.remark


def test_a_bound_is_kept_if_its_shares_make_no_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SolverError("no grid fits")

    monkeypatch.setattr(allreduce_program, "allreduce_forest", refuse)
    found = improved(line(4), None, multicast=False, seconds=20)
    assert found.schedule is None
    assert found.remark == "the program's shares make no schedule: no grid fits"
    assert found.bound is not None
    assert check_bound(replace(found.bound)) == 1
