"""``baselines.compare``: methods side by side, each proved and beside its optimum."""

from dataclasses import replace
from fractions import Fraction
from typing import cast

import pytest

import baselines
import forestcoll
from baselines import METHODS, quick_methods
from baselines.building.equal_trees import forest_of
from baselines.method_comparison import Comparison, compare
from baselines.networks.switch_paths import router_of
from forestcoll.errors import UnknownMethodError, UnsupportedError
from forestcoll.schedule.forest import Forest
from forestcoll.topology import Topology

BOXES = "dgx_a100:boxes=2"


def test_methods_are_sorted_by_rate_with_their_share_of_the_optimum() -> None:
    """The ring of two A100 boxes reaches 640/3 of 1040/3 GB/s."""
    found = compare(BOXES, ["ring", "direct", "forestcoll"])
    assert [one.method for one in found] == ["forestcoll", "ring", "direct"]
    assert [one.algbw_gb_s for one in found] == [Fraction(1040, 3), Fraction(640, 3), 50]
    assert {one.bound_gb_s for one in found} == {Fraction(1040, 3)}
    frame = found.to_frame()
    assert frame["percent_of_optimum"].round(1).tolist() == [100.0, 61.5, 14.4]
    assert frame["steps"].tolist() == [2, 15, 1]
    assert "no_schedule" not in found._repr_html_()


def test_the_default_is_every_method_that_does_not_search() -> None:
    found = compare("torus:dims=3x3")
    names = {one.method for one in found}
    assert names == set(baselines.quick_methods())
    assert {"forestcoll", "ring", "torus", "trivance"} <= names
    assert not {"taccl", "teccl", "sccl", "nccl-tree"} & names
    assert found[0].algbw_gb_s == found[0].bound_gb_s


def test_a_method_that_makes_none_says_why_and_comes_last() -> None:
    *_, last = compare(BOXES, ["torus", "ring"])
    assert (last.method, last.schedule) == ("torus", None)
    assert "is not a torus" in last.reason
    assert "is not a torus" in compare(BOXES, ["torus"])._repr_html_()


def test_switches_that_add_have_a_bound_of_their_own() -> None:
    """NVLS passes the optimum of forwarding switches, and never that of its model."""
    nvls, ours = compare("dgx_h100:boxes=2", ["forestcoll", "nccl-nvls"], "allreduce")
    assert nvls.algbw_gb_s == nvls.bound_gb_s == 400
    assert ours.algbw_gb_s == ours.bound_gb_s == Fraction(800, 3)


def test_a_size_adds_the_simulated_time() -> None:
    (ring,) = compare(BOXES, ["ring"], size="1MB")
    assert ring.time_us == forestcoll.simulate(ring.schedule, "1MB").time_s * 1e6  # type: ignore[arg-type]


def test_an_all_to_all_has_no_optimum_beside_it() -> None:
    found = compare("dgx_a100:boxes=1", ["direct"], "all-to-all")
    assert found[0].bound_gb_s is None
    assert found[0].algbw_gb_s


def chain(topology: Topology) -> Forest:
    """A reader's own method: the trees of another one."""
    return forestcoll.generate(topology, k=1).forest


def wrong(topology: Topology, collective: str) -> Forest:
    """One that forgets an edge, and takes the collective."""
    assert collective == "allgather"
    good = chain(topology)
    return replace(good, parent=good.parent.clip(max=-1))


def test_functions_and_methods_of_a_reader_are_compared_too() -> None:
    """A wrong schedule is no error of the comparison: its row says what is wrong."""
    own = baselines.Method("own", "a chain", "here", lambda t, _: chain(t), ("allgather",))
    found = baselines.compare("ring:nodes=4", [chain, own, wrong])
    assert [one.method for one in found] == ["chain", "own", "wrong"]
    assert found[0].algbw_gb_s == found[1].algbw_gb_s
    assert found[2].algbw_gb_s is None
    assert found[2].reason.startswith("wrong: ")


def test_a_right_schedule_for_another_purpose_is_wrong() -> None:
    """Its rate would be divided by the optimum of another collective or network."""

    def elsewhere(_: Topology) -> Forest:
        return forestcoll.generate("ring:nodes=5").forest

    (one,) = found = baselines.compare("ring:nodes=4", [chain], "reduce-scatter")
    assert one.reason == "wrong: the schedule is of allgather; reduce-scatter was due"
    assert repr(found) == "<1 method, 1 wrong>"
    (one,) = baselines.compare("ring:nodes=4", [elsewhere])
    assert (
        one.reason == "wrong: the schedule is for a network ring:nodes=5 that differs from this one"
    )


def test_an_exception_of_a_method_is_a_row_and_the_others_run() -> None:
    """The reader's own file and line are in the reason; so is what was returned in place of one."""

    def broken(_: Topology) -> Forest:
        return [][0]

    def other(_: Topology) -> Forest:
        return cast("Forest", [1, 2])

    found = {one.method: one.reason for one in baselines.compare("ring:nodes=4", [broken, other])}
    assert found["broken"].startswith("wrong: broken raised IndexError: list index out of range (")
    assert "test_method_comparison.py, line " in found["broken"]
    assert found["other"].startswith("wrong: the method returned an object of type list; a sched")


def test_an_allgather_of_unequal_parts_is_wrong() -> None:
    """Without a tree of rank 0 that GPU has no data; the bound is of equal parts."""

    def without_the_first(topology: Topology) -> Forest:
        trees: dict[tuple[int, ...], int] = {(1, -1, 1): 1, (2, 2, -1): 1}
        return forest_of(router_of(topology), "by hand", trees)

    (one,) = baselines.compare("complete:nodes=3", [without_the_first])
    assert one.reason.startswith("wrong: the schedule has the weights (0, 1, 1); equal ones were")


@pytest.mark.parametrize("one", ["ring", METHODS["ring"], chain])
def test_a_single_method_needs_no_list(one: str | baselines.Method) -> None:
    assert len(baselines.compare("ring:nodes=4", one)) == 1


def test_an_unknown_collective_is_refused() -> None:
    """Else every method would be listed as making none, as if they did not support it."""
    with pytest.raises(UnsupportedError, match="'allreduc'; did you mean allreduce"):
        compare("ring:nodes=4", ["ring"], "allreduc")
    with pytest.raises(UnsupportedError, match="'all-to-al'; did you mean all-to-all"):
        quick_methods("all-to-al")


def test_a_reference_is_compared_by_its_name() -> None:
    from baselines.libraries.ring import generate

    name = "baselines.libraries.ring:generate"
    found = baselines.compare("ring:nodes=4", [name, generate])
    assert [one.method for one in found] == [name, name]
    assert "wrong" not in repr(found)


def test_an_unknown_method_is_refused_and_an_empty_figure_too() -> None:
    with pytest.raises(UnknownMethodError, match=r"'rings'; known: forestcoll, ring"):
        compare(BOXES, ["rings"])
    with pytest.raises(UnsupportedError, match="no method has a schedule"):
        Comparison().figure()
