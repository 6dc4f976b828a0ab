"""GPUs by box and number, whatever the order of the nodes."""

from baselines.networks.boxes import by_number, gpus_by_box
from forestcoll.topology import load_topology
from tests.hand_networks import network_of


def test_gpus_are_taken_by_box_and_number() -> None:
    """Whatever the order of the nodes."""
    topology = load_topology("dgx_a100:boxes=2")
    turned = topology.relabelled(range(len(topology.nodes))[::-1])
    names = [turned.nodes[turned.compute[rank]].name for rank in by_number(turned)]
    assert names == [topology.nodes[gpu].name for gpu in topology.compute]


def test_boxes_come_in_order_and_gpus_by_number() -> None:
    """Two boxes and a GPU of none, which stands alone behind them; made in no order at all."""
    topology = network_of("d@1.1 x b@0.1 c@1.0 a@0.0", "", "mixed")
    boxes = gpus_by_box(topology)
    assert [[topology.nodes[gpu].name for gpu in box] for box in boxes] == [
        ["a", "b"],
        ["c", "d"],
        ["x"],
    ]


def test_gpus_that_are_in_no_box_at_all_are_together() -> None:
    assert gpus_by_box(load_topology("ring:nodes=4")) == [[0, 1, 2, 3]]
