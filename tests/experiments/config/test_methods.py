"""The methods behind their names, for every collective that an experiment can ask for."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from experiments.config.methods import run_method
from experiments.config.points import Job, Status
from experiments.run.worker import work
from forestcoll.optimality import optimum
from forestcoll.topology import load_topology

SPEC = "dgx_a100:boxes=2"


def columns(method: str, collective: str) -> dict[str, object]:
    """Run a point in this process and gather what it tells."""
    job: Job = {
        "source": SPEC,
        "collective": collective,
        "method": method,
        "parameters": {},
        "seconds": 60.0,
    }
    found: dict[str, object] = {}
    work(job, lambda event: found.update(event.get("fields", {})))
    return found


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
    in steps as flowing; TACOS has a finish besides, here between the two.
    """
    found = columns("blueconnect", "allgather")
    assert (found["algbw"], found["algbw_in_steps"]) == ("2400/7", "2400/13")
    assert found["algbw_in_steps_gb_s"] == pytest.approx(2400 / 13)
    assert (found["chunks"], found["steps"]) == (16, 8)
    assert not found.keys() & {"algbw_at_finish", "num_batches", "height", "num_trees", "k"}
    ring = columns("ring", "allgather")
    assert ring["algbw"] == ring["algbw_in_steps"] == "640/3"
    assert not ring.keys() & {"algbw_at_finish", "chunks", "steps"}
    tacos = columns("tacos", "allgather")
    rates = [Fraction(str(tacos[f"algbw{name}"])) for name in ("_in_steps", "_at_finish", "")]
    assert rates == sorted(set(rates))
    assert tacos["algbw_at_finish_gb_s"] == pytest.approx(float(rates[1]))


def test_what_a_method_does_not_do_is_a_row() -> None:
    """An unknown collective of a baseline is "unsupported", with what it has."""
    found = columns("ring", "broadcast")
    assert found["status"] == Status.UNSUPPORTED
    assert "allgather, reduce-scatter, allreduce" in str(found["reason"])


def test_another_collective_than_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that answers another question has failed, whatever its schedule is worth."""

    def wrong(name: str, topology: object, collective: str, *rest: object) -> object:
        ask: Callable[..., object] = run_method
        return ask(name, topology, "allgather", *rest)

    monkeypatch.setattr("experiments.run.worker.run_method", wrong)
    found = columns("ring", "reduce-scatter")
    assert found["status"] == Status.FAILED
    assert "the schedule is of allgather" in str(found["reason"])
