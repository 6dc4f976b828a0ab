"""Ports at the ends of paths."""

from fractions import Fraction

from forestcoll import compile_program, generate
from forestcoll.runtimes.simulators.simulator_ports import (
    PathPorts,
    most_ports,
    path_ports,
    slowest_port,
)
from forestcoll.topology import TopologyBuilder, group, load_topology


def test_a_box_and_its_network_are_two_ports() -> None:
    """A100: NVSwitch is the first neighbour of each GPU (300 GB/s), InfiniBand the second (25)."""
    program = compile_program(generate("dgx_a100:boxes=2").schedule)
    ports = path_ports(program)
    assert {(one.leaves, one.arrives, one.leaves_gb_s, one.arrives_gb_s) for one in ports} == {
        (0, 0, 300, 300),
        (1, 1, 25, 25),
    }
    assert {(one.slowest_gb_s, one.hops, one.latency_us) for one in ports} == {
        (300, 1, 0),
        (25, 1, 0),
    }
    assert most_ports(program.topology) == 2
    assert slowest_port(program, ports) == 25


def test_a_ring_counts_neighbours_in_their_order() -> None:
    """gpu0 of 0 - 1 - 2 - 0 has ports 0 to gpu1 and 1 to gpu2; gpu2 has 0 to gpu0, 1 to gpu1."""
    program = compile_program(generate("ring:nodes=3").schedule)
    ends = {
        program.paths.nodes(path): (one.leaves, one.arrives)
        for path, one in enumerate(path_ports(program))
    }
    assert (ends[0, 1], ends[0, 2], ends[2, 1]) == ((0, 0), (1, 0), (1, 1))


def test_the_slowest_link_and_all_latencies_of_a_path_count() -> None:
    """GPU - switch - GPU: one GPU sends; 4 GB/s in, 2 GB/s out, 1 + 3 us."""
    made = TopologyBuilder()
    switch = made.switch("between")
    made.link(made.gpu("left"), switch, 4, 1)
    made.link(switch, made.gpu("right"), 2, 3)
    program = compile_program(generate(made.build("line")).schedule)
    there = next(
        one
        for path, one in enumerate(path_ports(program))
        if program.paths.nodes(path)[0] == program.topology.compute[0]
    )
    assert there == PathPorts(0, 0, Fraction(4), Fraction(2), Fraction(2), 1, Fraction(4))


def test_gpus_outside_the_group_send_too() -> None:
    """In a ring of 4 with group {0, 2}, paths pass a relay: 2 hops."""
    pair = group(load_topology("ring:nodes=4"), ["gpu0", "gpu2"])
    program = compile_program(generate(pair).schedule)
    assert {one.hops for one in path_ports(program)} == {2}
