"""Networks of GOAL files: LogGP's parameters and htsim's topology."""

from fractions import Fraction

import pytest

from forestcoll import Program, compile_program, generate
from forestcoll.errors import ExportError
from forestcoll.runtimes.simulators.goal import GoalOptions
from forestcoll.runtimes.simulators.goal_network import (
    htsim_topology,
    latency_ns,
    loggp_arguments,
)
from forestcoll.topology import TopologyBuilder


def star(width: Fraction | int = 5, latency: Fraction | int = 0) -> Program:
    made = TopologyBuilder()
    switch = made.switch("switch")
    for name, bandwidth in (("gpu0", width), ("gpu1", 2 * width)):
        made.link(made.gpu(name), switch, bandwidth, latency)
    return compile_program(generate(made.build("star")).schedule, loopback=False)


def arguments(program: Program, alpha: Fraction | int = 10) -> dict[str, str]:
    words = loggp_arguments(program, GoalOptions(alpha_us=alpha)).split()
    return dict(zip(words[::2], words[1::2], strict=True))


def test_the_slowest_port_gives_the_time_of_a_byte() -> None:
    """5 GB/s are 0.2 ns a byte. Everything is eager, and nothing but L and G costs time."""
    given = arguments(star())
    assert (given["-G"], given["-L"], given["-S"]) == ("0.2", "10000", "2147483647")
    assert [given[name] for name in ("-o", "-g", "-O")] == ["0", "0", "0"]


def test_the_latency_has_alpha_and_that_of_the_links() -> None:
    """Two links of 1/3 us and an alpha of 1 us: 1666.7 ns, rounded up."""
    assert latency_ns(star(5, Fraction(1, 3)), GoalOptions(alpha_us=1)) == 1667
    assert arguments(star(), 0)["-L"] == "0"


def test_htsim_has_a_host_for_each_port_on_one_switch() -> None:
    """Two GPUs with one port each; 5 GB/s are 40 Gb/s; half of 10 us a link."""
    lines = htsim_topology(star(), GoalOptions()).splitlines()
    values = [tuple(one.split(" ")) for one in lines if one]
    assert values == [
        *(("Nodes", "2"), ("Tiers", "2"), ("Podsize", "2")),
        *(("Tier", "0"), ("Downlink_speed_Gbps", "40"), ("Radix_Down", "2"), ("Radix_Up", "2")),
        *(("Downlink_Latency_ns", "5000"), ("Switch_Latency_ns", "0"), ("Oversubscribed", "1")),
        *(("Tier", "1"), ("Downlink_speed_Gbps", "40"), ("Radix_Down", "1")),
        *(("Downlink_Latency_ns", "1"), ("Switch_Latency_ns", "0")),
    ]
    boxes = compile_program(generate("dgx_a100:boxes=2").schedule, loopback=False)
    assert htsim_topology(boxes, GoalOptions()).startswith("Nodes 32\nTiers 2\nPodsize 32\n")
    assert htsim_topology(star(), GoalOptions(alpha_us=0)).count("Downlink_Latency_ns 1\n") == 2


def test_networks_that_htsim_cannot_have_are_reported() -> None:
    with pytest.raises(
        ExportError, match=r"star: its slowest port has 2.4 Gb/s; htsim takes whole"
    ):
        htsim_topology(star(Fraction(3, 10)), GoalOptions())
    ring = compile_program(generate("ring:nodes=3").schedule)
    with pytest.raises(ExportError, match=r"gpu\d - gpu\d leaves by port 1 and arrives by port 0"):
        htsim_topology(ring, GoalOptions())


def test_a_latency_beyond_32_bits_is_reported() -> None:
    with pytest.raises(ExportError, match=r"a latency of 2147484000 ns; .* lower alpha"):
        latency_ns(star(), GoalOptions(alpha_us=2147484))
