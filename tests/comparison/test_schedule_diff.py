"""What differs between two schedules, all in all."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.comparison import schedule_diff
from forestcoll.comparison.schedule_diff import diff, link_differences
from forestcoll.core.assembly import expand
from forestcoll.schedule.forest import Forest
from forestcoll.topology import load_topology
from forestcoll.what_if.tree_changes import tree_changes
from tests.schedule.made.hand import forest, topology
from tests.schedule.made.types import TYPES, schedule


def test_a_schedule_is_the_same_as_itself_with_its_trees_in_another_order() -> None:
    one = generate(load_topology("dgx_a100:boxes=2")).schedule
    order = np.arange(one.num_batches)[::-1]
    turned = replace(
        one,
        root=one.root[order],
        multiplicity=one.multiplicity[order],
        parent=one.parent[order],
    )
    assert diff(one, turned).is_same
    assert not diff(one, replace(one, method="another")).is_same


def test_a_dead_nic_is_reported_in_network_loads_and_trees() -> None:
    whole = load_topology("dgx_a100:boxes=4")
    first, second = generate(whole).schedule, generate(whole.without("b1.gpu3 - ib")).schedule
    found = diff(first, second)
    assert set(found.network) == {"b1.gpu3 -> ib is missing", "ib -> b1.gpu3 is missing"}
    dead = {one.link: one.second for one in found.links.others}
    assert dead["b1.gpu3", "ib"] == dead["ib", "b1.gpu3"] == 0
    assert found.phases[0].changes == tree_changes(first, second)
    assert not found.is_same


def test_a_factored_forest_has_the_trees_of_its_expansion() -> None:
    folded = generate(load_topology("dgx_a100:boxes=2"), factored=True).schedule
    (phase,) = diff(folded, expand(folded)).phases
    assert phase.is_same
    assert phase.pieces.same > 0
    assert diff(folded, folded).is_same


def test_large_factored_forests_stay_factored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that are equal nothing need be; of others it is said, and they are not the same."""
    folded = generate(load_topology("dgx_a100:boxes=2"), factored=True).schedule
    monkeypatch.setattr(schedule_diff, "_MOST_PARENTS", 10)
    assert diff(folded, folded).is_same
    found = diff(folded, expand(folded))
    assert found.phases == ()
    assert "more than 10 parents" in found.not_compared
    assert not found.is_same


def test_both_phases_of_an_allreduce_are_compared() -> None:
    ring = load_topology("ring:nodes=4")
    first = generate(ring, collective="allreduce").schedule
    found = diff(first, first)
    assert [phase.name for phase in found.phases] == ["reduce shared trees", "gather shared trees"]
    assert found.is_same


def test_schedules_of_unlike_kinds_have_measures_and_loads_alone() -> None:
    ring = load_topology("ring:nodes=4")
    steps = METHODS["bruck"].run(ring, "allgather")
    found = diff(generate(ring).schedule, steps)
    assert (found.phases, found.not_compared) == ((), "they are of different kinds")
    other = diff(generate(ring).schedule, generate(ring, collective="reduce-scatter").schedule)
    assert (other.phases, other.not_compared) == ((), "they are of different collectives")
    allreduces = (
        generate(ring, collective="allreduce").schedule,
        METHODS["recursive-halving-doubling"].run(ring, "allreduce"),
    )
    assert diff(allreduces[0], allreduces[1]).not_compared == "they are of different kinds"
    assert not found.is_same


def _over_two_switches(paths: str) -> Forest:
    """Trees of a and c, each to b and d; all GPUs are on both switches."""
    net = topology("rails", "abcd", "st", [(gpu, way, 1) for gpu in "abcd" for way in "st"])
    trees = [(0, 1, [(0, 1), (0, 3), (3, 2)]), (2, 1, [(2, 1), (2, 3), (3, 0)])]
    return forest(net, trees, dict.fromkeys(paths.split(), 1), k=1, congestion=1)


def test_paths_alone_may_differ() -> None:
    """The same trees and loads: a and c each reach b over one switch and d over the other."""
    one = _over_two_switches("asb atd ctb csd dsc dta")
    other = _over_two_switches("atb asd csb ctd dsc dta")
    found = diff(one, other)
    assert found.first == found.second
    assert found.phases[0].pieces.differing == 0
    assert found.phases[0].rerouted == 4
    assert not found.is_same


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_the_same_as_itself_and_not_as_another(name: str) -> None:
    one = schedule(name)
    assert diff(one, one).is_same
    other = "factored forest" if name == "forest" else "forest"
    assert not diff(one, schedule(other)).is_same


def test_the_greatest_differences_come_first_and_equal_ones_by_name() -> None:
    """Of a, b and c the loads differ by 1/4, 1/2 and 1/4; d is the same, e in the first alone."""
    shares = {"a": (1, 2), "b": (3, 1), "c": (2, 1), "d": (1, 1)}
    first = {(name, "x"): Fraction(one, 4) for name, (one, _) in shares.items()}
    second = {(name, "x"): Fraction(other, 4) for name, (_, other) in shares.items()}
    found = link_differences({**first, ("e", "x"): Fraction(1, 8)}, second)
    assert [one.link[0] for one in found.others] == ["b", "a", "c", "e"]
    assert (found.others[0].first, found.others[0].second) == (Fraction(3, 4), Fraction(1, 4))
    assert found.others[3].second == 0
    assert found.same == 1


def test_a_link_that_carries_nothing_in_both_is_the_same() -> None:
    """Also one that the other network lacks: it has none of the data there."""
    found = link_differences({("a", "x"): Fraction(0)}, {("b", "x"): Fraction(0)})
    assert (found.same, found.others) == (2, ())
