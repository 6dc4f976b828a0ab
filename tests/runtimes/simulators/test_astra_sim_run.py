"""ASTRA-sim's system, memory and network files."""

import json

import pytest
import yaml

from forestcoll import Program, compile_program, generate
from forestcoll.errors import ExportError
from forestcoll.runtimes.simulators.astra_sim_run import MEMORY, network_files, system_file
from forestcoll.runtimes.simulators.chakra_trace import ChakraOptions
from forestcoll.topology import Topology, TopologyBuilder, load_topology


def program(network: str | Topology, collective: str = "allgather") -> Program:
    return compile_program(generate(network, collective=collective).schedule, loopback=False)


@pytest.mark.parametrize(
    ("collective", "key"),
    [
        ("allgather", "all-gather"),
        ("reduce-scatter", "reduce-scatter"),
        ("allreduce", "all-reduce"),
    ],
)
def test_the_system_runs_the_traces_in_place_of_a_built_in(collective: str, key: str) -> None:
    made = program("ring:nodes=3", collective)
    assert json.loads(system_file(made, ChakraOptions(prefix="there/t"))) == {
        "scheduling-policy": "FIFO",
        "endpoint-delay": 0,
        "preferred-dataset-splits": 1,
        f"{key}-implementation-custom": ["there/t"],
        "local-mem-bw": 50,
    }
    assert json.loads(MEMORY) == {"memory-type": "NO_MEMORY_EXPANSION"}


def test_a_torus_is_rings_in_gigabytes_of_2_to_the_30() -> None:
    """2.147483648 GB/s are 2 of ASTRA-sim's; each hop has alpha. The last dimension is fastest."""
    network = load_topology("torus:dims=3x4,bandwidth=2.147483648")
    (ending,) = files = network_files(program(network), ChakraOptions(alpha_us=3))
    assert ending == ".network.yml"
    assert yaml.safe_load(files[ending]) == {
        "topology": ["Ring", "Ring"],
        "npus_count": [4, 3],
        "bandwidth": [2.0, 2.0],
        "latency": [3000.0, 3000.0],
    }


def test_half_of_a_hop_is_on_each_side_of_a_switch() -> None:
    files = network_files(program("dgx_h100:boxes=1"), ChakraOptions(alpha_us=3))
    read = yaml.safe_load(files[".network.yml"])
    assert (read["topology"], read["npus_count"], read["latency"]) == (["Switch"], [8], [1500.0])


def test_other_networks_are_cables_of_ns3() -> None:
    """Two GPUs on leaf0, one on leaf1: 3 GPUs, 2 switches, 4 cables. 5 GB/s are 40 Gb/s.

    A cable of a GPU has half of alpha and its own 1 us; one between switches has only its own.
    """
    made = TopologyBuilder()
    leaves = [made.switch(f"leaf{i}") for i in range(2)]
    for i in range(3):
        made.link(made.gpu(f"gpu{i}"), leaves[i // 2], 5, 1)
    made.link(leaves[0], leaves[1], "2.5", 2)
    files = network_files(program(made.build("leaves")), ChakraOptions(alpha_us=10))
    assert json.loads(files[".logical.json"]) == {"logical-dims": ["3"]}
    assert files[".ns3.txt"].splitlines() == [
        "5 2 4",
        "3 4",
        "0 3 40Gbps 0.006ms 0",
        "1 3 40Gbps 0.006ms 0",
        "2 4 40Gbps 0.006ms 0",
        "3 4 20Gbps 0.002ms 0",
    ]


def test_a_cable_with_two_speeds_is_reported() -> None:
    made = TopologyBuilder()
    first, second = made.gpu("a"), made.gpu("b")
    made.arc(first, second, 1)
    made.arc(second, first, 2)
    with pytest.raises(ExportError, match="pair: the cable between a and b has two speeds"):
        network_files(program(made.build("pair")), ChakraOptions())
