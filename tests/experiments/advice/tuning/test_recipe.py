"""What is tried when the best schedule of each size is looked for."""

import pytest

from baselines.registry import METHODS
from experiments.advice.tuning.recipe import BASELINES, forests, recipes
from forestcoll.errors import UnknownMethodError
from forestcoll.topology import load_topology

RING = load_topology("ring:nodes=4")


def test_forests_of_few_trees_the_optimal_number_and_low_ones_are_tried() -> None:
    """In a ring of four the farthest is two hops away."""
    found = [dict(one.parameters) for one in forests(RING)]
    tree_depths: list[dict[str, int]] = [{"max_depth": h} for h in (2, 3, 4, 5, 7)]
    assert found == [{"k": 1}, {"k": 2}, {"k": 3}, {"k": 4}, {}, *tree_depths]
    assert all(one.method == "forestcoll" for one in forests(RING))


def test_heights_are_of_both_phases_and_of_the_root() -> None:
    def tree_depths(*asked: str) -> list[int]:
        line = load_topology("torus:dims=5,wrap=false")
        found = (one.parameters.get("max_depth") for one in forests(line, *asked))
        return [depth for depth in found if depth is not None]

    assert tree_depths("allreduce") == [8, 10, 12, 14]
    assert tree_depths("broadcast", "gpu2") == [2, 3, 4, 5, 7, 10]
    assert tree_depths("all-to-all") == []


def test_multicast_networks_try_forests_with_and_without_multicast() -> None:
    found = forests(load_topology("dgx_h100:boxes=1"))
    assert [one.parameters.get("multicast", False) for one in found] == [False] * 10 + [True] * 5


def test_default_baselines_are_of_the_registry_and_names_differ() -> None:
    """What searches by programs is asked for by name only."""
    assert set(BASELINES) <= set(METHODS)
    assert not {"sccl", "teccl", "taccl", "tacos"} & set(BASELINES)
    found = recipes(load_topology("dgx_h100:boxes=1"))
    assert len({one.name for one in found}) == len(found) == 15 + len(BASELINES)


def test_sums_are_exchanged_along_each_number_of_dimensions_but_one() -> None:
    """Boxes have two dimensions; of a hypercube of 7 at most 4 are halved.

    Where a ring has six GPUs or more, any number of dimensions is folded, and none halved.
    """

    def halved(name: str) -> list[int | None]:
        found = recipes(load_topology(name), ["sum-exchange"], "allreduce")
        assert len({one.name for one in found}) == len(found)
        return [one.parameters.get("halved") for one in found]

    assert halved("dgx_a100:boxes=2") == [0, 1]
    assert halved("torus:dims=3x3x3") == [0, 1, 2]
    assert halved("hypercube:dimension=7") == [0, 1, 2, 3, 4]
    assert halved("ring:nodes=4") == [None]
    assert halved("torus:dims=3x6") == [0, 1, 0, 0]
    found = recipes(load_topology("torus:dims=3x6"), ["sum-exchange"], "allreduce")
    assert [one.parameters.get("folded") for one in found] == [None, None, 1, 2]
    assert found[-1].name == "sum-exchange, 2 folded"
    (refused,) = recipes(load_topology("dgx_a100:boxes=2"), ["sum-exchange"], "allgather")
    assert refused.name == "sum-exchange"


def test_those_named_are_tried_once_each_in_their_order() -> None:
    found = recipes(RING, ["sccl", "ring", "sccl"])
    assert [one.name for one in found] == ["sccl", "ring"]


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["gossip"], "no method 'gossip' to try; known: forestcoll, ring"),
        ([], "no method is named"),
    ],
)
def test_methods_that_are_not_there_are_refused(methods: list[str], message: str) -> None:
    with pytest.raises(UnknownMethodError, match=message):
        recipes(RING, methods)
