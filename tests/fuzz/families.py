"""Families of random networks: a name and a seed give a network, always the same.

A seed first decides how many GPUs there should be about (:func:`size_of`), then the family draws
the rest. An allgather is possible on every one of them. Three families draw all those of the
registry (:mod:`tests.fuzz.registered`). Sizes are met from above: a network asked
for 128 GPUs has that many or a few more; families of whole machines cannot get very small.
"""

import math
import random
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction

from benchmarks.topologies import (
    dragonfly,
    loose_boxes,
    mixed_boxes,
    pods,
    random_regular,
    rescaled,
)
from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Link, Topology, TopologyBuilder, load_topology, validate
from tests.fuzz.registered import FABRICS, GPU_NETWORKS, MACHINES, Draw, draw_registered
from tests.random_topologies import KINDS, MAX_NODES, sized_topology

LARGE = 128
"""GPUs from which a network counts as large; six seeds in ten ask for one."""

Family = Callable[[random.Random, int], Topology]

SPEEDS = (Fraction(25), Fraction(50), Fraction(100), Fraction(25, 2), Fraction(16), Fraction(1))
PRIMES = (7919, 7927, 9973, 10007, 10009, 10037, 10039, 10061, 10067, 10069)
DENOMINATORS = (1, 1, 3, 7, 64, 100)


def build(family: str, seed: int) -> Topology:
    """Return the network of a family and a seed."""
    size = size_of(family, seed)
    return FAMILIES[family](random.Random(f"{family} {seed}"), size)


def size_of(family: str, seed: int) -> int:
    """Return about how many GPUs the network of a seed has, without building it."""
    chance = random.Random(f"size of {family} {seed}")
    ranges = {(2, 8): 20, (9, 127): 20, (128, 160): 54, (161, 256): 5, (257, 512): 1}
    return chance.randint(*chance.choices(list(ranges), list(ranges.values()))[0])


# --- random graphs -----------------------------------------------------------------------------


def directed(chance: random.Random, size: int) -> Topology:
    """One-way links, every node balanced, through up to a switch for every eight GPUs."""
    return _graph("directed", chance, size)


def bidirectional(chance: random.Random, size: int) -> Topology:
    """A tree with some more links, equal both ways."""
    return _graph("bidirectional", chance, size)


def unbalanced(chance: random.Random, size: int) -> Topology:
    """GPUs that send more than they receive or less, switches that may receive more."""
    return _graph("unbalanced", chance, size)


def _graph(kind: str, chance: random.Random, size: int) -> Topology:
    assert kind in KINDS
    most = max(size // 8, MAX_NODES - size)
    return sized_topology(kind, size, chance.randint(0, most), chance.randint)


def regular(chance: random.Random, size: int) -> Topology:
    """As many links into every GPU as out of it; at degree 2 and more nothing else is tight."""
    return random_regular(size, chance.randint(1, 5), chance.randrange(2**32))


# --- machines ----------------------------------------------------------------------------------


def dgx(chance: random.Random, size: int) -> Topology:
    """Boxes on an NVSwitch, their NICs on one InfiniBand switch, on two, or on rails; jittered."""
    per_box = _box(chance, size)
    boxes = _at_least(size, per_box)
    nic = chance.choice(SPEEDS)
    nvswitch = nic * chance.choice([12, 9, 6, 4])
    if chance.random() < 0.5:
        spec = f"rail_optimized:boxes={boxes},gpus_per_box={per_box},rail_bandwidth={nic}"
        spines = chance.choice([0, 1, 3])
        topology = load_topology(f"{spec},nvswitch_bandwidth={nvswitch},spines={spines}")
    else:
        boxes = _at_least(size, 8)
        spec = f"dgx_a100:boxes={boxes},nic_bandwidth={nic},nvswitch_bandwidth={nvswitch}"
        nics = chance.choice(["implicit", "implicit", "nodes"])
        topology = load_topology(f"{spec},ib_switches={chance.choice([1, 2])},nics={nics}")
    return _jittered(topology, chance)


def machines_of_chassis(chance: random.Random, size: int) -> Topology:
    """Chassis of which only some GPUs send to others or receive from them, or all in pairs."""
    nic = chance.choice(SPEEDS)
    kind = chance.choice(["ndv2", "mi250_teccl", "dgx2" if size <= 32 else "ndv2"])
    if kind != "mi250_teccl":
        chassis = -(-size // (16 if kind == "dgx2" else 8))
        return load_topology(f"{kind}:chassis={chassis},nic_bandwidth={nic}")
    chassis = -(-size // 16)
    return _jittered(load_topology(f"{kind}:chassis={chassis},switch_bandwidth={nic}"), chance)


def loose(chance: random.Random, size: int) -> Topology:
    """Boxes with a little more bandwidth than they need, so that no box is tight."""
    nic = chance.choice(SPEEDS)
    return loose_boxes(_at_least(size, 8), nic * Fraction(chance.randint(50, 69), 10), nic)


def mixed(chance: random.Random, size: int) -> Topology:
    """Boxes like A100, H100 and MI250 on one or two switches."""
    mi250 = chance.randint(0, size // 16)
    left = max(0, size - 16 * mi250)
    h100 = chance.randint(0, left // 8)
    a100 = max(-(-(left - 8 * h100) // 8), 2 - h100 - mi250)
    topology = mixed_boxes(a100, h100, mi250, chance.choice([1, 2]))
    return _jittered(topology, chance)


def three_levels(chance: random.Random, size: int) -> Topology:
    """Boxes, pods, a spine; pods have more uplink than they need, or less."""
    per_box = _box(chance, size)
    boxes = chance.randint(1, max(1, math.isqrt(size // per_box) + 1))
    nic = chance.choice(SPEEDS)
    full = nic * boxes * per_box
    topology = pods(
        _at_least(size, per_box * boxes),
        boxes,
        per_box,
        nvswitch=nic * chance.choice([12, 6, 4]),
        nic=nic,
        uplink=full / Fraction(chance.choice(["1", "3/2", "2", "3", "8"])),
    )
    return _jittered(topology, chance)


# --- fabrics -----------------------------------------------------------------------------------


def fat_tree(chance: random.Random, size: int) -> Topology:
    """Leaves and spines, with bandwidth to spare or too little; half have uneven uplinks."""
    hosts = chance.randint(1, max(1, min(24, size // 2)))
    leaves, spines = _at_least(size, hosts), chance.randint(1, max(1, min(8, size // 4)))
    ratio = chance.choice(["1", "1", "2", "3", "3/2", "1/2", str(hosts), str(2 * hosts)])
    topology = load_topology(
        f"fat_tree:leaves={leaves},hosts={hosts},spines={spines},oversubscription={ratio}"
    )
    if chance.random() < 0.5:
        return topology
    is_switch = [node.is_switch for node in topology.nodes]
    return _scaled_pairs(
        topology,
        lambda link: (
            Fraction(chance.randint(6, 10), 8)
            if is_switch[link.tail] and is_switch[link.head]
            else Fraction(1)
        ),
    )


def torus(chance: random.Random, size: int) -> Topology:
    """One to four dimensions of any lengths and weights, closed or open."""
    dims: list[int] = []
    for left in range(chance.randint(0, min(3, size.bit_length() - 2)), 0, -1):
        rest = size / math.prod(dims)
        dims.append(max(2, round(rest ** (1 / (left + 1)) * chance.uniform(0.6, 1.2))))
    dims.append(max(2, -(-size // math.prod(dims))))
    wrap = chance.choice(["true", "true", "false"])
    spec = f"torus:dims={'x'.join(map(str, dims))},wrap={wrap}"
    topology = load_topology(spec)
    weight = [Fraction(chance.choice([1, 1, 1, 2, 3, 5])) for _ in dims]

    def axis(link: Link) -> int:
        ends = [topology.nodes[v].name[3:].split(".") for v in (link.tail, link.head)]
        return next(i for i, (a, b) in enumerate(zip(*ends, strict=True)) if a != b)

    return rescaled(topology, lambda link: weight[axis(link)])


def cayley(chance: random.Random, size: int) -> Topology:
    """The same steps from every node of a product of rings; one in four has a dent.

    The first steps go round one ring each, so that every node is reached.
    """
    radices: list[int] = []
    while math.prod(radices) < size:
        rest = -(-size // math.prod(radices))
        radices.append(min(chance.choice([2, 3, 4, 5, 8, 16, rest]), max(rest, 2)))
    units = [math.prod(radices[i + 1 :]) for i in range(len(radices))]
    steps = [tuple(int(i == axis) for i in range(len(radices))) for axis in range(len(radices))]
    for _ in range(chance.randint(0, 4)):
        steps.append(tuple(chance.randrange(radix) for radix in radices))
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{i}") for i in range(math.prod(radices))]
    for step in filter(any, dict.fromkeys(steps)):
        speed = chance.choice(SPEEDS)
        for v, gpu in enumerate(gpus):
            moved = zip(units, radices, step, strict=True)
            to = sum((v // unit + by) % radix * unit for unit, radix, by in moved)
            builder.arc(gpu, gpus[to], speed)
    topology = builder.build(f"cayley {radices} {steps}")
    if chance.random() < 0.75:
        return topology
    dent = chance.choice(topology.links)
    return rescaled(topology, lambda link: Fraction(1 + (link == dent)))


def dragonflies(chance: random.Random, size: int) -> Topology:
    """Groups of routers; every kind of link has a speed of its own, or every link."""
    routers = chance.randint(1, max(1, min(8, size // 3)))
    hosts = chance.randint(1, max(1, min(6, size // routers // 2)))
    speeds = [Fraction(chance.randint(1, 8)) for _ in range(3)]
    topology = dragonfly(_at_least(size, routers * hosts), routers, hosts, *speeds)
    return _jittered(topology, chance)


def _box(chance: random.Random, size: int) -> int:
    return chance.choice([per_box for per_box in (1, 2, 4, 8, 16) if 2 * per_box <= max(size, 2)])


def _at_least(size: int, unit: int) -> int:
    """Return how many units, two or more, hold that many GPUs."""
    return max(2, -(-size // unit))


# --- what befalls networks ---------------------------------------------------------------------


def _jittered(topology: Topology, chance: random.Random) -> Topology:
    """Leave a network as it is, or give each cable of some nodes, or each cable, its own speed."""
    kind = chance.choice(["none", "nodes", "cables"])
    if kind == "none":
        return topology
    step = chance.choice([4, 5, 16, 20])
    slower = {v for v in range(len(topology.nodes)) if chance.random() < 0.3}

    def factor(link: Link) -> Fraction:
        if kind == "nodes" and not {link.tail, link.head} & slower:
            return Fraction(1)
        return Fraction(chance.randint(3 * step // 4, step), step)

    return _scaled_pairs(topology, factor)


def damaged(chance: random.Random, size: int) -> Topology:
    """Any of the others with a few cables dead, or at half their speed."""
    return _worn(FAMILIES[chance.choice(UNDAMAGED)](chance, size), chance)


def _worn(topology: Topology, chance: random.Random) -> Topology:
    """Kill a few cables or slow them to half, as long as an allgather is possible."""
    cables = sorted({tuple(sorted((link.tail, link.head))) for link in topology.links})
    for ends in chance.sample(cables, min(chance.randint(1, 8), len(cables))):
        hit = _hit(topology, set(ends), Fraction(chance.choice(["0", "0", "1/2"])))
        topology = hit if _possible(hit) else topology
    return topology


def _registered(names: Mapping[str, Draw]) -> Family:
    """Return a family of networks of registered families, of which one in three is damaged."""

    def draw(chance: random.Random, size: int) -> Topology:
        topology = draw_registered(names, chance, size)
        return topology if chance.random() < 2 / 3 else _worn(topology, chance)

    return draw


def _hit(topology: Topology, ends: Collection[int], factor: Fraction) -> Topology:
    """Slow down the links between two nodes."""
    return rescaled(
        topology, lambda link: factor if {link.tail, link.head} == ends else Fraction(1)
    )


def _possible(topology: Topology) -> bool:
    try:
        validate(topology)
    except InvalidTopologyError:
        return False
    return True


def odd_speeds(chance: random.Random, size: int) -> Topology:
    """Cables of prime speeds, some of them fractions, so that many trees per GPU are needed."""
    topology = FAMILIES[chance.choice(TWO_WAY)](chance, size)
    switches = bool(topology.switches)
    under = chance.choice(DENOMINATORS)

    def factor(link: Link) -> Fraction:
        # Half of the networks have odd speeds between machines only, as clusters do.
        inside = topology.nodes[link.tail].box == topology.nodes[link.head].box
        if only_between and switches and inside:
            return Fraction(7919)
        return Fraction(chance.choice(PRIMES), under)

    only_between = chance.random() < 0.5
    return _scaled_pairs(topology, factor)


def _scaled_pairs(topology: Topology, factor: Callable[[Link], Fraction]) -> Topology:
    """Multiply both directions of a cable by the same number, which keeps switches in balance."""
    drawn: dict[Collection[int], Fraction] = {}

    def once(link: Link) -> Fraction:
        ends = frozenset((link.tail, link.head))
        if ends not in drawn:
            drawn[ends] = factor(link)
        return drawn[ends]

    return rescaled(topology, once)


FAMILIES: dict[str, Family] = {
    "directed": directed,
    "bidirectional": bidirectional,
    "unbalanced": unbalanced,
    "regular": regular,
    "dgx": dgx,
    "chassis": machines_of_chassis,
    "loose": loose,
    "mixed": mixed,
    "pods": three_levels,
    "fat-tree": fat_tree,
    "torus": torus,
    "cayley": cayley,
    "dragonfly": dragonflies,
    "damaged": damaged,
    "odd-speeds": odd_speeds,
    "machines": _registered(MACHINES),
    "fabrics": _registered(FABRICS),
    "gpu-networks": _registered(GPU_NETWORKS),
}
"""By the names the command line knows. Each draws from a generator, for about so many GPUs."""

DERIVED = ("damaged", "odd-speeds", "cayley", "machines", "fabrics", "gpu-networks")
UNDAMAGED = [name for name in FAMILIES if name not in DERIVED]
ONE_WAY = ("directed", "unbalanced", "regular", "chassis")
TWO_WAY = [name for name in UNDAMAGED if name not in ONE_WAY]
