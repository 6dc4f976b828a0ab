"""Importer of SimAI's and ASTRA-sim's topology files for ns-3.

Problem: which network a file of numbers means.
Input:   a first line ``nodes gpus_per_server nv_switches switches links gpu_type`` (SimAI) or
         ``nodes switches links`` (ns-3), the numbers of the switches, then a line
         ``from to 400Gbps 0.0005ms 0`` a cable.
Output:  a topology. Nodes that are no switches are GPUs, ranks in the order of their numbers.
Cost:    linear in links.
Source:  aliyun/SimAI, ``inputs/topo/gen_Topo_Template.py``; ns-3's data rates are in bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.importers.text_lines import Line, text_lines
from forestcoll.topology.model import Topology

__all__ = ["topology_from_simai"]

_WHOLE = re.compile(r"[0-9]{1,9}")
_RATE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)([kKMGT]?)(?:bps|b/s)")
_DELAY = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ns|us|ms|s)")
_BITS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_US = {"ns": Fraction(1, 1000), "us": Fraction(1), "ms": Fraction(1000), "s": Fraction(10**6)}
_BITS_PER_GB = 8 * 10**9


@dataclass(frozen=True, slots=True)
class _Header:
    nodes: int
    gpus_per_server: int | None
    nv_switches: int
    switches: int
    links: int


def topology_from_simai(text: str, source: str, name: str) -> Topology:
    """Read a topology file of SimAI or of ASTRA-sim's ns-3 back end.

    Raises
    ------
    InvalidTopologyError
        If the counts of the first line are not those of the file, or a link is wrong.
    """
    lines = list(text_lines(text, source))
    if not lines:
        raise InvalidTopologyError(f"{source}: is empty; it must begin with the counts")
    header = _header(lines[0])
    expect_size(header.nodes, 2 * header.links, source)
    wanted = header.nv_switches + header.switches
    numbers: list[int] = []
    at = 1
    while len(numbers) < wanted:
        if at == len(lines):
            raise lines[0].fault(
                f"counts {wanted} switches, but {len(numbers)} follow; it may be cut off"
            )
        numbers += [_node(lines[at], word, header) for word in lines[at].text.split()]
        at += 1
    if len(numbers) != wanted or len(set(numbers)) < wanted:
        raise lines[at - 1].fault(f"lists switches twice, or more than the {wanted} of line 1")
    found = len(lines) - at
    if found != header.links:
        raise lines[0].fault(f"counts {header.links} links, but {found} follow; it may be cut off")
    return _topology(header, numbers, lines[at:], name)


def _header(line: Line) -> _Header:
    words = line.text.split()
    counts = [int(word) for word in words[:5] if _WHOLE.fullmatch(word)]
    if len(words) == len(counts) == 3:
        nodes, switches, links = counts
        made = _Header(nodes, None, 0, switches, links)
    elif len(counts) == 5 and len(words) <= 7:
        made = _Header(*counts)
    else:
        raise line.fault(
            f"{line.shown()} is not a first line of counts: nodes, GPUs of a server, NVSwitches, "
            f"switches, links, GPU type"
        )
    gpus = made.nodes - made.nv_switches - made.switches
    if gpus < 1 or (made.gpus_per_server is not None and made.gpus_per_server < 1):
        raise line.fault(f"counts {gpus} GPUs, {made.gpus_per_server} a server; correct it")
    return made


def _node(line: Line, word: str, header: _Header) -> int:
    if not _WHOLE.fullmatch(word) or int(word) >= header.nodes:
        raise line.fault(f"{word[:20]!r} is not a node; they are 0 to {header.nodes - 1}")
    return int(word)


def _topology(
    header: _Header, switches: Sequence[int], lines: Sequence[Line], name: str
) -> Topology:
    builder = TopologyBuilder()
    special = {number: i for i, number in enumerate(switches)}
    names: list[str] = []
    gpus = 0
    a_box = header.gpus_per_server or header.nodes
    for number in range(header.nodes):
        place = special.get(number)
        if place is None:
            names.append(builder.gpu(f"gpu{number}", gpus // a_box, gpus % a_box))
            gpus += 1
        else:
            kind = "nvswitch" if place < header.nv_switches else "switch"
            names.append(builder.switch(f"{kind}{number}"))
    for line in lines:
        words = line.text.split()
        if len(words) != 5:
            raise line.fault(
                f"has {len(words)} fields; a link has from, to, rate, delay, error rate"
            )
        ends = [_node(line, word, header) for word in words[:2]]
        if ends[0] == ends[1]:
            raise line.fault("is a link from a node to itself; remove it")
        rate = _value(line, words[2], _RATE, "rate, such as 400Gbps")
        delay = _value(line, words[3], _DELAY, "delay, such as 0.0005ms")
        width = Fraction(rate[1]) * _BITS[rate[2]] / _BITS_PER_GB
        if not width:
            raise line.fault("is a link without bandwidth; remove it")
        builder.link(names[ends[0]], names[ends[1]], width, Fraction(delay[1]) * _US[delay[2]])
    return builder.build(name)


def _value(line: Line, word: str, form: re.Pattern[str], what: str) -> re.Match[str]:
    match = form.fullmatch(word)
    if match is None:
        raise line.fault(f"{word[:20]!r} is not a {what}")
    return match
