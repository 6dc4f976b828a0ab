"""Networks that could explain a measured rate, each with the rate by hand."""

from fractions import Fraction

import pytest

from experiments.advice.measured.hypotheses import Explained, explain, hypotheses
from forestcoll.errors import UnsupportedError
from forestcoll.topology import load_topology

TWO = "dgx_a100:boxes=2"


def widths(words: str, spec: str = TWO) -> dict[str, Fraction]:
    """Return the bandwidth between the boxes and the network, by GPU, under a hypothesis."""
    (one,) = [each for each in hypotheses(load_topology(spec)) if each.words == words]
    names = one.topology.node_names
    return {
        names[link.tail]: link.bandwidth_gb_s
        for link in one.topology.links
        if names[link.head] == "ib"
    }


def test_every_kind_of_fault_is_tried_once() -> None:
    assert [one.words for one in hypotheses(load_topology(TWO))] == [
        "the network as it is",
        "the NIC of b0.gpu0 were dead",
        "one NIC of each box were used",
        "every second NIC were dead",
        "the NIC of b0.gpu0 had half its rate",
        "every NIC had half its rate",
        "boxes had PCIe 5.0 only",
        "boxes had PCIe 4.0 only",
    ]
    assert [one.words for one in hypotheses(load_topology("ring:nodes=4"))] == [
        "the network as it is"
    ]


def test_nics_are_dead_or_slow_as_the_words_say() -> None:
    gpus = [f"b{box}.gpu{i}" for box in range(2) for i in range(8)]
    assert widths("the network as it is") == dict.fromkeys(gpus, 25)
    assert widths("the NIC of b0.gpu0 were dead") == dict.fromkeys(gpus[1:], 25)
    assert widths("one NIC of each box were used") == {"b0.gpu0": 25, "b1.gpu0": 25}
    assert widths("every second NIC were dead") == dict.fromkeys(gpus[::2], 25)
    assert widths("the NIC of b0.gpu0 had half its rate") == {
        **dict.fromkeys(gpus, Fraction(25)), "b0.gpu0": Fraction(25, 2),
    }  # fmt: skip
    assert widths("every NIC had half its rate") == dict.fromkeys(gpus, Fraction(25, 2))


def test_boxes_on_pcie_keep_their_nics() -> None:
    """16 lanes of 4.0 are 31.5 GB/s where NVLink has 300."""
    (one,) = [
        each.topology
        for each in hypotheses(load_topology(TWO))
        if each.words == "boxes had PCIe 4.0 only"
    ]
    place = one.position_of
    to_switch = one.link_between[place["b0.gpu0"], place["b0.nvswitch"]]
    assert to_switch.bandwidth_gb_s == 16 * Fraction(128, 65)
    assert one.link_between[place["b0.gpu0"], place["ib"]].bandwidth_gb_s == 25


def test_one_of_several_planes_can_be_dead() -> None:
    found = {one.words: one.topology for one in hypotheses(load_topology("nvl72:planes=4"))}
    dead = found["switch b0.nvswitch0 were dead"]
    assert len(dead.links) == 72 * 3 * 2


def test_shared_capacities_of_dead_links_go_with_them() -> None:
    nics = load_topology(TWO).with_shared("b0.copy", ["b0.gpu0 - ib", "b0.gpu1 - ib"], 30)
    found = {one.words: one.topology for one in hypotheses(nics)}
    (left,) = found["the NIC of b0.gpu0 were dead"].shared
    assert len(left.links) == 2
    assert found["every second NIC were dead"].shared[0].bandwidth_gb_s == 30


def test_rates_are_those_of_nccl_on_the_changed_network() -> None:
    """Two DGX A100: 8 NICs of 25 GB/s. A ring over all of them has 200 of busbw, over one 25."""
    found = explain(load_topology(TWO), "allreduce", None, 60)
    rates = {(one.words, one.method): one.rate_gb_s for one in found}
    factor = Fraction(15, 8)
    assert rates["the network as it is", "NCCL ring"] * factor == 200
    alone = [one for one in found if one.words == "one NIC of each box were used"]
    assert len(alone) == 1
    assert alone[0].rate_gb_s is not None
    assert alone[0].bound_gb_s is not None
    assert alone[0].rate_gb_s <= alone[0].bound_gb_s <= 2 * 25


@pytest.mark.parametrize(("measured", "is_out"), [(24.9, False), (25.0, False), (25.1, True)])
def test_measurements_above_the_bound_rule_out_a_network(measured: float, is_out: bool) -> None:
    one = Explained("slow", Fraction(25), "NCCL ring", Fraction(20))
    assert one.is_ruled_out(measured) is is_out
    assert not Explained("unknown", None, "", None).is_ruled_out(measured)


def test_a_collective_that_has_no_rates_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="collective is 'gossip'"):
        explain(load_topology(TWO), "gossip", None, 10)
