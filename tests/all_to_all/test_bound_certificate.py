"""Certificates of demands state the bound that was found."""

from fractions import Fraction

from forestcoll.all_to_all.bound_certificate import certify_demand
from forestcoll.problem.demand import Demand
from forestcoll.schedule import verify_certificate
from forestcoll.topology import load_topology


def test_by_hand_a_scatter_on_a_ring() -> None:
    """GPU 0 sends 9 bytes over two links of 1 GB/s; two of three links out of it are dear."""
    demand = Demand.of_matrix([[0, 4, 5], [0, 0, 0], [0, 0, 0]], "scatter")
    made = certify_demand("ring:nodes=3", demand)
    assert made.least_ns == Fraction(9, 2)
    assert [one.price for one in made.links if one.tail == "gpu0"] == [1, 1]
    assert made.demand == "scatter"
    assert made.chunks is not None
    assert [(one.tail, one.head, one.size) for one in made.chunks] == [
        ("gpu0", ["gpu1"], 4),
        ("gpu0", ["gpu2"], 5),
    ]
    assert verify_certificate(made).least_us == Fraction(9, 2000)


def test_chunks_for_several_gpus_have_the_bound_of_their_cuts() -> None:
    """9 bytes for all others leave GPU 0 once, by 2 GB/s, whatever is copied."""
    demand = Demand.of_chunks(4, [(0, 9, [1, 2, 3])])
    made = certify_demand("ring:nodes=4", demand)
    assert verify_certificate(made).least_us >= Fraction(9, 2000)
    assert made.chunks is not None
    assert made.chunks[0].head == ["gpu1", "gpu2", "gpu3"]


def test_certificates_name_gpus_and_forwarding_nodes() -> None:
    network = load_topology("dgx_a100:boxes=2")
    made = certify_demand(network)
    assert made.gpus[:2] == ["b0.gpu0", "b0.gpu1"]
    assert made.forwarding == [node.name for node in network.nodes if node.is_switch]
    assert len(made.links) == len(network.links)
