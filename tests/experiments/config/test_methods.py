"""The methods behind their names, for every collective that an experiment can ask for."""

from fractions import Fraction

import pytest

from experiments.config.methods import claims
from experiments.config.points import Status
from forestcoll.core.optimality import optimum
from forestcoll.topology import load_topology
from tests.experiments.working import SPEC, columns


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("method", ["forestcoll", "forestcoll-paper", "ring", "multitree"])
def test_a_point_asks_for_any_collective(method: str, collective: str) -> None:
    """The schedule is of the collective that was asked for, and no faster than the bound."""
    found = columns(method, collective)
    assert found["status"] == Status.OK, found
    phases = 2 if collective == "allreduce" else 1
    best = optimum(load_topology(SPEC)).algbw_gb_s / phases
    assert Fraction(str(found["optimum"])) == best
    assert Fraction(str(found["algbw"])) <= best
    assert (found["algbw"] == found["optimum"]) == method.startswith("forestcoll")


def test_every_measure_is_a_column() -> None:
    """Two A100 boxes. BlueConnect in steps: M/16 over NICs of 25, then 7/8 M over 300 GB/s.

    Flowing, the longer of the two. Chunks and steps have columns of their own. Rings are as fast
    in steps as pipelined; TACOS has a finish besides, here between the two.
    """
    found = columns("blueconnect", "allgather")
    assert (found["algbw"], found["algbw_synchronous"]) == ("2400/7", "2400/13")
    assert found["algbw_synchronous_gb_s"] == pytest.approx(2400 / 13)
    assert (found["chunks"], found["steps"]) == (16, 8)
    assert not found.keys() & {"algbw_makespan", "num_batches", "depth", "num_trees", "k"}
    ring = columns("ring", "allgather")
    assert ring["algbw"] == ring["algbw_synchronous"] == "640/3"
    assert not ring.keys() & {"algbw_makespan", "chunks", "steps"}
    tacos = columns("tacos", "allgather")
    rates = [Fraction(str(tacos[f"algbw{name}"])) for name in ("_synchronous", "_makespan", "")]
    assert rates == sorted(set(rates))
    assert tacos["algbw_makespan_gb_s"] == pytest.approx(float(rates[1]))


def test_unsupported_collectives_are_rows() -> None:
    """An unknown collective of a baseline is "unsupported", with what it has."""
    found = columns("bruck", "broadcast")
    assert found["status"] == Status.UNSUPPORTED
    assert "allgather, reduce-scatter, allreduce" in str(found["reason"])


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("method", ["forestcoll", "blink-switch", "unwound", "multicast"])
def test_a_point_has_the_given_root(method: str, collective: str) -> None:
    """Two A100 boxes: any root reaches, or is reached by, the other box at 200 GB/s."""
    more = {"parameters": {"multicast": True}} if method == "multicast" else {}
    name = "forestcoll" if more else method
    for root in (3, "b1.gpu2"):
        found = columns(name, collective, root=root, **more)
        assert found["status"] == Status.OK, found
        best = optimum(
            load_topology(SPEC),
            weights=[int(rank == (10 if root == "b1.gpu2" else root)) for rank in range(16)],
            reduction=collective == "reduce",
        ).algbw_gb_s
        assert Fraction(str(found["optimum"])) == best
        assert Fraction(str(found["algbw"])) <= best
        assert found["algbw"] == found["optimum"] or name != "forestcoll"


@pytest.mark.parametrize("method", ["direct", "bruck"])
def test_an_all_to_all_has_a_bound_that_prices_prove(method: str) -> None:
    """Everyone to everyone on two A100 boxes: 64 pairs each way between the boxes, over 200 GB/s.

    So each pair has 200/64 GB/s at most, and each GPU 16 times that, its own part included.
    """
    found = columns(method, "all-to-all")
    assert found["status"] == Status.OK, found
    assert found["optimum"] == "50"
    assert found["optimum_by"] == "prices of the links"
    assert 0 < Fraction(str(found["algbw"])) <= 50


@pytest.mark.parametrize(
    ("method", "collective"),
    [("forestcoll", "all-to-all"), ("forestcoll-paper", "broadcast"), ("bruck", "reduce")],
)
def test_unclaimed_collectives_are_unsupported(method: str, collective: str) -> None:
    """A row with the reason, whoever the method is; and what it claims, it is asked for."""
    done = claims(method)
    assert done is not None
    assert collective not in done
    more = {} if collective == "all-to-all" else {"root": 0}
    assert columns(method, collective, **more)["status"] == Status.UNSUPPORTED
