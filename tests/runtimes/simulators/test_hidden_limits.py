"""Links between switches and shared capacities that limit more than ports."""

from fractions import Fraction

from forestcoll import compile_program, generate
from forestcoll.runtimes.simulators.hidden_limits import slower_than_ports
from forestcoll.topology import Topology, TopologyBuilder, load_topology


def two_leaves(between: int) -> Topology:
    """Two leaf switches with two GPUs each at 10 GB/s, and a cable between the leaves."""
    made = TopologyBuilder()
    leaves = [made.switch(f"leaf{i}") for i in range(2)]
    for i in range(4):
        made.link(made.gpu(f"gpu{i}"), leaves[i // 2], 10)
    made.link(leaves[0], leaves[1], between)
    return made.build("leaves")


def test_a_narrow_cable_between_switches_is_named() -> None:
    """An allgather brings each GPU 3/4 of the data at 10 GB/s, and each leaf 1/2.

    Over 5 GB/s that takes (1/2) / 5 = 1/10, a port (3/4) / 10 = 3/40: 4/3 times as long.
    """
    found = slower_than_ports(compile_program(generate(two_leaves(5)).schedule, loopback=False))
    assert found == [("leaf0 -> leaf1", Fraction(4, 3)), ("leaf1 -> leaf0", Fraction(4, 3))]


def test_a_wide_cable_is_none() -> None:
    assert (
        slower_than_ports(compile_program(generate(two_leaves(20)).schedule, loopback=False)) == []
    )


def test_a_shared_capacity_is_a_limit() -> None:
    """Both directions of a cable of 1 GB/s, together 1 GB/s: twice the time of one direction."""
    network = load_topology("ring:nodes=2").with_shared("wire", ["gpu0 - gpu1"], 1)
    width = network.links[0].bandwidth_gb_s
    found = slower_than_ports(compile_program(generate(network).schedule))
    assert found == [("wire", 2 * width)]


def test_a_narrow_port_that_receives_is_none() -> None:
    """gpu1 sends at 4 GB/s and receives at 1: the busiest port is that of its receives."""
    made = TopologyBuilder()
    switch = made.switch("switch")
    made.link(made.gpu("gpu0"), switch, 4)
    made.arc(made.gpu("gpu1"), switch, 4)
    made.arc(switch, "gpu1", 1)
    program = compile_program(generate(made.build("uneven")).schedule, loopback=False)
    assert slower_than_ports(program) == []


def test_every_link_of_a_gpu_in_use_is_a_port() -> None:
    for spec in ("torus:dims=3x3", "mi250:boxes=2"):
        assert slower_than_ports(compile_program(generate(spec).schedule, loopback=False)) == []
