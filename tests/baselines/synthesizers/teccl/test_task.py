"""What is asked for: refused where it makes no sense, reported where it is searched for."""

from typing import Any

import pytest

from baselines.interface.search import Search
from baselines.synthesizers.teccl.task import Task
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule import verify
from forestcoll.topology import load_topology

ASKED = {"collective": "allgather", "root": 0, "size_bytes": 10**6, "chunks": 1}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"size_bytes": 0}, "size_bytes is 0"),
        ({"chunks": 0}, "chunks is 0"),
        ({"work": float("nan")}, "work is nan"),
        ({"epoch": "middling"}, "epoch is 'middling'; it must be fastest or slowest"),
        ({"crossing": "over"}, "crossing is 'over'"),
        ({"switches": "off"}, "switches is 'off'"),
        ({"buffering": "never"}, "buffering is 'never'"),
        ({"solver": "glpk"}, "solver is 'glpk'"),
        ({"objective": "fame"}, "objective is 'fame'"),
        ({"epochs": "few"}, "epochs is 'few'"),
        ({"gap": 1.0}, "gap is 1.0"),
        ({"gap": 0.5}, "give objective=reward or round_epochs"),
        ({"objective": "reward"}, "the reward is that of a number of epochs"),
        ({"round_epochs": 4, "epochs": 4}, "round_epochs is given with epochs"),
        ({"epochs": 10_001}, "epochs is 10001; it must be 10000 or less"),
        ({"round_epochs": 10_001}, "round_epochs is 10001; it must be 10000 or less"),
        ({"windows": False}, "windows=false is for parts of chunks"),
        ({"buffer": 3, "round_epochs": 4}, "buffer and slow are for whole chunks"),
        ({"collective": "all-to-all", "buffer": 9}, "give milp=true"),
        ({"collective": "all-to-all", "round_epochs": 4}, "give milp=true"),
    ],
)
def test_invalid_tasks_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        Task(**(ASKED | wrong))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "unit"),
    [
        ({}, "epochs"),
        ({"epochs": 3}, "epochs"),
        ({"epochs": "estimated"}, "epochs"),
        ({"round_epochs": 2}, "epochs"),
        ({"epochs": 3, "objective": "reward"}, "reward"),
        ({"collective": "all-to-all"}, "epochs"),
        ({"collective": "all-to-all", "epochs": 5}, "epochs"),
        ({"collective": "all-to-all", "milp": True}, "epochs"),
    ],
)
def test_every_search_reports_its_incumbent_and_bound(asked: dict[str, Any], unit: str) -> None:
    """Last of all the answer, with a bound that it does not go beyond."""
    message: list[Search] = []
    made = Task(**(ASKED | asked)).spread(load_topology("ring:nodes=5"), "phase", message.append)
    verify(made)
    last = message[-1]
    assert last.unit == unit
    assert last.stage.endswith("of the phase, crossing through")
    assert last.incumbent is not None
    assert last.bound is not None
    if unit == "epochs":
        assert made.clock is not None
        assert last.bound <= last.incumbent
    else:
        assert last.bound >= last.incumbent


@pytest.mark.parametrize(
    ("collective", "whole", "asked", "message"),
    [
        ("all-to-all", False, "cp-sat", "highs"),
        ("all-to-all", False, "highs", "highs"),
        ("all-to-all", True, "cp-sat", "cp-sat"),
        ("allgather", False, "cp-sat", "cp-sat"),
    ],
)
def test_the_reported_solver_ran(collective: str, whole: bool, asked: str, message: str) -> None:
    """CP-SAT has no linear programs: HiGHS stands in for it."""
    heard: list[Search] = []
    task = Task(**(ASKED | {"collective": collective, "milp": whole, "solver": asked}))
    task.spread(load_topology("ring:nodes=3"), "phase", heard.append)
    assert {search.solver for search in heard} == {message}
