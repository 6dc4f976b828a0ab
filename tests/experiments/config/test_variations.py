"""Networks as experiments change them: what is there then, what was lowered, what it is called."""

import pytest

from experiments.config.variations import changed, network_of, said
from forestcoll.errors import ForestCollError
from forestcoll.topology import load_topology

SPEC = "ring:nodes=4"


def test_links_are_added_then_scaled_then_left_out() -> None:
    """A chord of 6 GB/s, a third of it taken away, and one GPU dead: 3 GPUs, 3 links both ways."""
    changes = {"with": {"gpu0 - gpu2": 6}, "scale": {"gpu0 - gpu2": "2/3"}, "without": ["gpu1"]}
    topology = network_of(SPEC, "allgather", changes).topology
    assert [node.name for node in topology.nodes] == ["gpu0", "gpu2", "gpu3"]
    assert topology.link_between[0, 1].bandwidth_gb_s == 4
    assert len(topology.links) == 6


def test_a_network_without_changes_is_the_one_that_is_named() -> None:
    """Not even balanced: what is wrong with it is for the methods to say."""
    topology = load_topology(SPEC)
    found = changed(topology, "allgather", {})
    assert found.topology is topology
    assert found.lowered == ()


@pytest.mark.parametrize(
    ("collective", "lowered"),
    [("allgather", ["ib -> b1.gpu7"]), ("reduce-scatter", []), ("all-to-all", [])],
)
def test_switches_are_balanced_for_the_collective(collective: str, lowered: list[str]) -> None:
    """A switch that gets less may send sums out of proportion, but not copies."""
    changes = {"without": ["b1.gpu7 -> ib"]}
    found = network_of("dgx_a100:boxes=2", collective, changes)
    assert [f"{one.tail} -> {one.head}" for one in found.lowered] == lowered


def test_a_group_is_of_the_network_as_changed() -> None:
    found = network_of(SPEC, "allgather", {"without": ["gpu1"]}, "gpu0,gpu2")
    assert found.topology.num_compute == 2
    with pytest.raises(ForestCollError, match="'gpu1', which is no node"):
        network_of(SPEC, "allgather", {"without": ["gpu1"]}, "gpu0,gpu1")


def test_names_say_all_that_was_changed() -> None:
    """However much it is: networks that differ would share a line of the table otherwise."""
    parts = [f"b{n}.gpu0" for n in range(5)]
    assert (
        said({"without": parts})
        == " without b0.gpu0 and b1.gpu0 and b2.gpu0 and b3.gpu0 and " + (parts[4])
    )
    assert said({"scale": {"a": "1/2"}}) != said({"scale": {"a": "1/3"}})
    assert said({}) == ""
