"""Schedules that are right, but for another purpose."""

from dataclasses import replace
from typing import Any, cast

import pytest

from baselines.building.equal_trees import forest_of
from baselines.interface.schedule_asked_for import check_asked_for, weights_of
from baselines.libraries import direct
from baselines.networks.switch_paths import Router
from forestcoll import generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import Forest
from forestcoll.topology import load_topology

NET = load_topology("complete:nodes=3")


def stars(*copies: int) -> Forest:
    """Stars around ranks 0, 1 and 2 in so many copies, 0 for none."""
    trees = zip([(-1, 0, 0), (1, -1, 1), (2, 2, -1)], copies, strict=True)
    return forest_of(Router(NET), "by hand", {tree: count for tree, count in trees if count})


def test_the_schedule_asked_for_passes() -> None:
    check_asked_for(stars(1, 1, 1), NET, "allgather")
    check_asked_for(stars(2, 2, 2), NET, None)
    check_asked_for(stars(1, 0, 0), NET, "broadcast")
    check_asked_for(stars(2, 1, 1), NET, "allgather", (2, 1, 1))
    check_asked_for(direct.generate(NET, "all-to-all"), NET, "all-to-all")


@pytest.mark.parametrize(
    ("copies", "weights", "message"),
    [
        ((0, 1, 1), None, r"weights \(0, 1, 1\); equal ones were due, as many trees for each root"),
        ((2, 1, 1), None, r"weights \(2, 1, 1\)"),
        ((1, 1, 1), (2, 1, 1), r"has the weights \(1, 1, 1\); \(2, 1, 1\) were due"),
    ],
)
def test_other_weights_are_refused(
    copies: tuple[int, ...], weights: tuple[int, ...] | None, message: str
) -> None:
    """A GPU without data makes the others' rate higher than any allgather's."""
    with pytest.raises(VerificationError, match=message):
        check_asked_for(stars(*copies), NET, None, weights)


def test_another_collective_network_or_type_is_refused() -> None:
    made = stars(1, 1, 1)
    with pytest.raises(VerificationError, match="of allgather; allreduce was due"):
        check_asked_for(made, NET, "allreduce")
    with pytest.raises(VerificationError, match="network complete:nodes=3 that differs"):
        check_asked_for(made, load_topology("ring:nodes=4"), "allgather")
    for wrong in (None, [made], replace):
        with pytest.raises(VerificationError, match=r"a schedule was due: Forest, Allreduce, Step"):
            check_asked_for(cast("Any", wrong), NET, "allgather")


def test_an_allreduce_has_the_weights_of_both_phases() -> None:
    assert weights_of(generate(NET, collective="allreduce").schedule) == {(1, 1, 1)}
