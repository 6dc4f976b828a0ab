"""Networks for GOAL files: parameters of LogGP, and topologies of htsim.

Problem: GOAL says who sends what; the simulator must be told how fast.
Input:   a program; the options of its GOAL file.
Output:  the arguments of LogGOPSim, or the topology file of htsim.
Cost:    linear in the hops of all paths.
Source:  spcl/atlahs: the options of ``sim/LogGOPSim``, whose G may be a fraction, and the reader of
         ``fat_tree_topology.cpp``. In both, ports limit and the network between them does not.

G is the nanoseconds of a byte at the slowest port in use, for which GOAL scales its messages. L is
the latency of the slowest path. Overheads o, g and O are 0, and every message is eager: a receive
never makes its sender wait. htsim gets one switch with a host for each port of each GPU; hosts of
port p are numbered rank times ports plus p, as ATLAHS looks them up.
"""

from __future__ import annotations

import math
from fractions import Fraction

from forestcoll.errors import ExportError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.simulators.goal import GoalOptions
from forestcoll.runtimes.simulators.simulator_ports import most_ports, path_ports, slowest_port
from forestcoll.schedule.program import Program

__all__ = ["htsim_topology", "latency_ns", "loggp_arguments"]

_MOST_NS = 2**31 - 1
_EAGER = 2**31 - 1


def loggp_arguments(program: Program, options: GoalOptions) -> str:
    """Return the arguments of LogGOPSim for a program's network, in a line.

    Raises ExportError if the latency exceeds 2^31 - 1 ns.

    Examples
    --------
    >>> import forestcoll
    >>> forest = forestcoll.generate("dgx_a100:boxes=2").schedule
    >>> loggp_arguments(forestcoll.compile_program(forest), GoalOptions()).split()
    ['-L', '10000', '-o', '0', '-g', '0', '-G', '0.04', '-O', '0', '-S', '2147483647']
    """
    program = between_gpus(program)
    per_byte = float(1 / slowest_port(program, path_ports(program)))
    latency = latency_ns(program, options)
    return f"-L {latency} -o 0 -g 0 -G {per_byte!r} -O 0 -S {_EAGER}\n"


def latency_ns(program: Program, options: GoalOptions) -> int:
    """Return the latency of the slowest path in use in nanoseconds, rounded up."""
    ports = path_ports(program)
    used = (ports[path] for path in set(program.path.tolist()))
    alpha = Fraction(options.alpha_us)
    found = max((one.hops * alpha + one.latency_us for one in used), default=Fraction(0))
    if (latency := math.ceil(1000 * found)) > _MOST_NS:
        raise ExportError(
            f"{program.topology.name}: a path has a latency of {latency} ns; simulators of GOAL "
            "take 2^31 - 1 at most; lower alpha or the latencies of the links"
        )
    return latency


def htsim_topology(program: Program, options: GoalOptions) -> str:
    """Return the topology file of htsim for a program's network.

    Raises
    ------
    ExportError
        If a path leaves and arrives by ports of different numbers, since ATLAHS gives both ends
        one; or if the slowest port is not a whole number of Gb/s.
    """
    program = between_gpus(program)
    ports = path_ports(program)
    _check_numbers(program)
    gigabits = 8 * slowest_port(program, ports)
    if gigabits.denominator > 1:
        raise ExportError(
            f"{program.topology.name}: its slowest port has {float(gigabits):g} Gb/s; htsim takes "
            "whole Gb/s; round the bandwidths of the network first"
        )
    hosts = program.topology.num_compute * most_ports(program.topology)
    # Two links lead from host to host; htsim refuses a latency of 0.
    link_ns = max(1, latency_ns(program, options) // 2)
    tier = f"Downlink_speed_Gbps {gigabits}\n"
    return (
        f"Nodes {hosts}\nTiers 2\nPodsize {hosts}\n\n"
        f"Tier 0\n{tier}Radix_Down {hosts}\nRadix_Up {hosts}\n"
        f"Downlink_Latency_ns {link_ns}\nSwitch_Latency_ns 0\nOversubscribed 1\n\n"
        f"Tier 1\n{tier}Radix_Down 1\nDownlink_Latency_ns 1\nSwitch_Latency_ns 0\n"
    )


def _check_numbers(program: Program) -> None:
    ports = path_ports(program)
    for path in sorted(set(program.path.tolist())):
        one = ports[path]
        if one.leaves != one.arrives:
            names = [program.topology.nodes[node].name for node in program.paths.nodes(path)]
            raise ExportError(
                f"{program.topology.name}: {' - '.join(names)} leaves by port {one.leaves} and "
                f"arrives by port {one.arrives}; htsim gives both ends one number; export for "
                "loggopsim"
            )
