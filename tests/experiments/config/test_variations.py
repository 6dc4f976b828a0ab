"""Networks as experiments change them: what is there then, and what it is called."""

import pytest

from experiments.config.variations import changed, changes_text, network_of
from forestcoll.errors import ForestCollError
from forestcoll.topology import load_topology

SPEC = "ring:nodes=4"


def test_links_are_added_then_scaled_then_left_out() -> None:
    """A chord of 6 GB/s, a third of it taken away, and one GPU dead: 3 GPUs, 3 links both ways."""
    changes = {"with": {"gpu0 - gpu2": 6}, "scale": {"gpu0 - gpu2": "2/3"}, "without": ["gpu1"]}
    topology = network_of(SPEC, changes)
    assert [node.name for node in topology.nodes] == ["gpu0", "gpu2", "gpu3"]
    assert topology.link_between[0, 1].bandwidth_gb_s == 4
    assert len(topology.links) == 6


def test_a_network_without_changes_is_the_one_that_is_named() -> None:
    topology = load_topology(SPEC)
    assert changed(topology, {}) is topology


def test_links_that_are_dead_one_way_work_the_other_way() -> None:
    """The switch then sends more than it receives; how much of it is usable is for methods."""
    found = network_of("dgx_a100:boxes=2", {"without": ["b1.gpu7 -> ib"]})
    ib, gpu = found.position_of["ib"], found.position_of["b1.gpu7"]
    assert (gpu, ib) not in found.link_between
    assert found.link_between[ib, gpu].bandwidth_gb_s == 25


def test_a_group_is_of_the_network_as_changed() -> None:
    found = network_of(SPEC, {"without": ["gpu1"]}, "gpu0,gpu2")
    assert found.num_compute == 2
    with pytest.raises(ForestCollError, match="'gpu1', which is not a node"):
        network_of(SPEC, {"without": ["gpu1"]}, "gpu0,gpu1")


def test_names_say_all_that_was_changed() -> None:
    """However much it is: networks that differ would share a line of the table otherwise."""
    parts = [f"b{n}.gpu0" for n in range(5)]
    assert (
        changes_text({"without": parts})
        == " without b0.gpu0 and b1.gpu0 and b2.gpu0 and b3.gpu0 and " + (parts[4])
    )
    assert changes_text({"scale": {"a": "1/2"}}) != changes_text({"scale": {"a": "1/3"}})
    assert changes_text({}) == ""
