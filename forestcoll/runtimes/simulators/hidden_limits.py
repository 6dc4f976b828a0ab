"""Limits of a network that a simulator of ports does not see.

Problem: links between switches, and shared capacities, may limit a schedule more than any port.
Input:   a program with transfers between GPUs.
Output:  such parts of the network, with the time that they need over that of the busiest port.
Cost:    linear in the hops of all transfers.
Source:  ours. Times are loads over bandwidths, without latencies.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

from forestcoll.schedule.program import Program

__all__ = ["slower_than_ports"]

_Hop = tuple[int, int]


def slower_than_ports(program: Program) -> list[tuple[str, Fraction]]:
    """Return what is slower than the busiest port, slowest first, with the ratio of the times.

    Ports are the first and the last link of each path in use.

    Examples
    --------
    >>> import forestcoll
    >>> forest = forestcoll.generate("dgx_a100:boxes=2").schedule
    >>> slower_than_ports(forestcoll.compile_program(forest))
    []
    """
    loads, ports = _loads(program)
    times = _times(program, loads)
    busiest = max((times[hop] for hop in ports), default=Fraction(0))
    names = [node.name for node in program.topology.nodes]
    parts = [(f"{names[a]} -> {names[b]}", time) for (a, b), time in times.items()]
    parts += _shared_times(program, loads)
    slower = [(name, time / busiest) for name, time in parts if time > busiest]
    return sorted(slower, key=lambda part: (-part[1], part[0]))


def _loads(program: Program) -> tuple[Counter[_Hop], set[_Hop]]:
    """Return the units over each link in use, and the links that are ports."""
    on_path: Counter[int] = Counter()
    for path, amount in zip(program.path.tolist(), program.amount.tolist(), strict=True):
        on_path[path] += amount
    loads: Counter[_Hop] = Counter()
    ports: set[_Hop] = set()
    for path, amount in on_path.items():
        nodes = program.paths.nodes(path)
        hops = list(pairwise(nodes))
        ports |= {hops[0], hops[-1]}
        for hop in hops:
            loads[hop] += amount
    return loads, ports


def _times(program: Program, loads: Counter[_Hop]) -> dict[_Hop, Fraction]:
    links = {(link.tail, link.head): link for link in program.topology.links}
    return {hop: Fraction(load) / links[hop].bandwidth_gb_s for hop, load in loads.items()}


def _shared_times(program: Program, loads: Counter[_Hop]) -> list[tuple[str, Fraction]]:
    return [
        (shared.name, Fraction(sum(loads[hop] for hop in shared.links)) / shared.bandwidth_gb_s)
        for shared in program.topology.shared
    ]
