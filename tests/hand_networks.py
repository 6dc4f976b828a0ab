"""Networks of a few nodes, written as one line of nodes and one of links."""

import re
from itertools import product

from forestcoll.topology import Topology, TopologyBuilder


def network_of(nodes: str, links: str, name: str = "by hand") -> Topology:
    """Build a network from its drawing.

    Parameters
    ----------
    nodes : str
        Names in the order of their numbers. "[w]" is a switch, "[w*]" one that multicasts, "[w+]"
        one that stores. A GPU or switch with "@1.2" is number 2 of box 1, with "@1" in box 1
        without a number.
    links : str
        "a - b: 3" is a link both ways of 3 GB/s, "a > b: 1/2 7" one way with 7 us of latency.
        Several links have commas between them, "a b - w: 3" is one to each. 1 GB/s and no latency
        may be left out.
    name : str

    Notes
    -----
    "g0..3" stands for g0 g1 g2 g3, among nodes and in links.

    Examples
    --------
    >>> network = network_of("a@0.1 b c1..2 [s*]", "a b - s: 1/2 3, c1 > c2")
    >>> [(node.name, node.box, node.index, node.multicast) for node in network.nodes][::4]
    [('a', 0, 1, False), ('s', None, None, True)]
    >>> [(link.tail, link.head) for link in network.links]
    [(0, 4), (1, 4), (2, 3), (4, 0), (4, 1)]
    >>> str(network.links[1].bandwidth_gb_s), str(network.links[1].latency_us)
    ('1/2', '3')
    """
    builder = TopologyBuilder()
    for word in nodes.split():
        drawn, _, place = word.partition("@")
        box, _, index = place.partition(".")
        at = (int(box) if box else None, int(index) if index else None)
        for one in _expanded(drawn.strip("[*+]")):
            if drawn.startswith("["):
                builder.switch(one, *at, multicast="*" in drawn, stores="+" in drawn)
            else:
                builder.gpu(one, *at)
    for part in filter(None, links.split(", ")):
        ends, _, amounts = part.partition(": ")
        tails, both_ways, heads = re.split(" ([->]) ", ends)
        join = builder.link if both_ways == "-" else builder.arc
        for tail, head in product(_expanded(tails), _expanded(heads)):
            join(tail, head, *(amounts.split() or ["1"]))
    return builder.build(name)


def _expanded(words: str) -> list[str]:
    names = []
    for word in words.split():
        if run := re.fullmatch(r"(.*?)(\d+)\.\.(\d+)", word):
            stem, first, last = run.groups()
            names += [f"{stem}{number}" for number in range(int(first), int(last) + 1)]
        else:
            names.append(word)
    return names
