"""Which collectives a method does, and what forests serve for."""

import pytest

from baselines.building.composing import collect
from baselines.building.equal_trees import forest_of
from baselines.interface.supported import GATHERING, ROOTED, check_supported, check_whole
from baselines.networks.switch_paths import Router
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import Forest, verify
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.groups import group


def test_a_collective_that_a_method_does_not_do_is_refused() -> None:
    """With those that it does."""
    for collective in GATHERING:
        check_supported("ring", collective, GATHERING)
    with pytest.raises(UnsupportedError) as refused:
        check_supported("ring", "broadcast", GATHERING)
    assert str(refused.value) == (
        "unsupported: ring has no broadcast; it has allgather, reduce-scatter, allreduce"
    )


@pytest.mark.parametrize(
    ("collectives", "roots"), [(GATHERING, (0, 1)), (ROOTED, (0,))], ids=["gathering", "rooted"]
)
def test_one_forest_makes_all_of_them(collectives: tuple[str, ...], roots: tuple[int, ...]) -> None:
    """Of trees from all GPUs, or from one."""
    trees = [(-1, 0), (1, -1)]

    def spread(topology: Topology) -> Forest:
        return forest_of(Router(topology), "by hand", {trees[root]: 1 for root in roots})

    pair = load_topology("ring:nodes=2")
    made = [verify(collect(spread, pair, collective)).collective for collective in collectives]
    assert made == list(collectives)


def test_gpus_that_only_pass_data_on_are_refused() -> None:
    topology = load_topology("ring:nodes=4")
    check_whole("tuned", topology)
    some = group(topology, ["gpu0", "gpu1"])
    with pytest.raises(UnsupportedError, match=r"has GPUs outside of the group, .* to tuned"):
        check_whole("tuned", some)
