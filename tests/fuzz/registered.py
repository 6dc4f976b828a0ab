"""Networks of every registered topology family, of random sizes and with random parameters.

Sizes are drawn for each family, all other parameters by their kind. Draws that a family refuses, as
for an impossible fabric, are repeated.
"""

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology, validate
from forestcoll.topology.families import FAMILIES as REGISTRY
from forestcoll.topology.families.values import Amount, Choice, Flag

__all__ = [
    "DRAWN",
    "FABRICS",
    "GPU_NETWORKS",
    "MACHINES",
    "Draw",
    "draw_registered",
    "fabric_words",
    "registered_spec",
]

Sizes = Mapping[str, object]
Draw = Callable[[random.Random, int], Sizes]

DRAWS = 50
"""Draws until one is possible; more than half of them are."""

SPEEDS = (Fraction(25), Fraction(50), Fraction(100), Fraction(25, 2), Fraction(16), Fraction(1))


def draw_registered(names: Mapping[str, Draw], chance: random.Random, size: int) -> Topology:
    """Draw one of some families, and a network of it with about so many GPUs."""
    return _drawn(chance.choice(list(names)), chance, size)[1]


def registered_spec(name: str, chance: random.Random, size: int) -> str:
    """Draw the specification of a network of a family, with about so many GPUs."""
    return _drawn(name, chance, size)[0]


def _drawn(name: str, chance: random.Random, size: int) -> tuple[str, Topology]:
    for _ in range(DRAWS):
        spec = _spec(name, chance, size)
        try:
            made = load_topology(spec)
            validate(made)
        except InvalidTopologyError:
            continue
        if made.num_compute > 1:
            return spec, made
    raise AssertionError(f"{DRAWS} draws of {name} for {size} GPUs were impossible")


def _spec(name: str, chance: random.Random, size: int) -> str:
    values = dict(DRAWN[name](chance, size))
    for parameter in REGISTRY[name].parameters:
        if parameter.name in values or chance.random() < 0.6:
            continue
        match parameter.kind:
            case Choice(choices=choices):
                values[parameter.name] = chance.choice(choices)
            case Flag():
                values[parameter.name] = chance.choice(["true", "false"])
            case Amount():
                values[parameter.name] = chance.choice(SPEEDS)
        if parameter.name == "fabric":
            words = fabric_words(chance, int(str(values.get("boxes", values.get("racks", 1)))))
            values["fabric"] = f"({words})"
    given = ",".join(f"{key}={value}" for key, value in values.items())
    return f"{name}:{given}" if given else name


# --- networks between boxes ----------------------------------------------------------------------


def fabric_words(chance: random.Random, boxes: int) -> str:
    """Draw the words of a network between so many boxes."""
    kind = chance.choice(list(_FABRICS))
    options = dict(_FABRICS[kind](chance, boxes))
    if chance.random() < 0.2:
        options["planes"] = 2
    if chance.random() < 0.2:
        options["sharp"] = "true"
    if kind in ("leaf-spine", "clos", "dragonfly-plus") and chance.random() < 0.5:
        options["oversubscription"] = chance.choice(["2", "3/2", "1/2"])
    return f"{kind}:{','.join(f'{k}={v}' for k, v in options.items())}" if options else kind


def _divisor(chance: random.Random, number: int) -> int:
    return chance.choice([d for d in range(1, number + 1) if number % d == 0])


def _leaf_spine(chance: random.Random, boxes: int) -> Sizes:
    return {"leaves": _divisor(chance, boxes), "spines": chance.randint(1, 3)}


def _clos(chance: random.Random, boxes: int) -> Sizes:
    pods = _divisor(chance, boxes)
    spines = chance.randint(1, 3)
    cores = spines * chance.randint(1, 2)
    leaves = _divisor(chance, boxes // pods)
    return {"pods": pods, "leaves": leaves, "spines": spines, "cores": cores}


def _dragonfly(chance: random.Random, boxes: int) -> Sizes:
    groups = _divisor(chance, boxes)
    return {"groups": groups, "routers": _divisor(chance, boxes // groups)}


def _dragonfly_plus(chance: random.Random, boxes: int) -> Sizes:
    groups = _divisor(chance, boxes)
    leaves = _divisor(chance, boxes // groups)
    return {"groups": groups, "leaves": leaves, "spines": chance.randint(1, 3)}


def _grid(chance: random.Random, boxes: int) -> Sizes:
    first = _divisor(chance, boxes)
    return {"dims": f"{first}x{_divisor(chance, boxes // first)}"}


_FABRICS: dict[str, Draw] = {
    "single": lambda chance, boxes: {},
    "rails": lambda chance, boxes: chance.choice([{}, {"spines": chance.randint(1, 3)}]),
    "leaf-spine": _leaf_spine,
    "clos": _clos,
    "dragonfly": _dragonfly,
    "dragonfly-plus": _dragonfly_plus,
    "hyperx": _grid,
    "slim-fly": lambda chance, boxes: {"q": chance.choice([3, 4, 5])},
    "torus": _grid,
}


# --- machines ------------------------------------------------------------------------------------


def _boxes(chance: random.Random, size: int) -> Sizes:
    """Boxes of 1 to 8 GPUs."""
    per_box = chance.choice([per for per in (1, 2, 3, 4, 8) if per <= size])
    return {"boxes": -(-size // per_box), "gpus_per_box": per_box}


def _of_boxes(per_box: int, name: str = "boxes") -> Draw:
    return lambda chance, size: {name: -(-size // per_box)}


def _mi250(chance: random.Random, size: int) -> Sizes:
    per_box = chance.choice([8, 16])
    return {"boxes": -(-size // per_box), "gpus_per_box": per_box}


def _racks(chance: random.Random, size: int) -> Sizes:
    """One to four racks, of up to 72 GPUs: each has dozens of switches."""
    racks = max(chance.randint(1, min(4, size)), -(-size // 72))
    return {"racks": racks, "gpus_per_rack": -(-size // racks)}


def _nvl72(chance: random.Random, size: int) -> Sizes:
    return {**_racks(chance, size), "planes": chance.choice([1, 2, 3, 18])}


def _pcie_box(chance: random.Random, size: int) -> Sizes:
    sockets = chance.randint(1, min(8, size))
    return {"gpus": sockets * min(-(-size // sockets), 8), "sockets": sockets}


def _slice(dimensions: int) -> Draw:
    """A slice of chips, each length from 1 up."""
    return lambda chance, size: {"dims": _dims(chance, min(size, 16**dimensions), dimensions)}


def _dims(chance: random.Random, size: int, dimensions: int) -> str:
    lengths: list[int] = []
    for left in range(dimensions - 1, 0, -1):
        rest = size / math.prod(lengths)
        lengths.append(max(1, round(rest ** (1 / (left + 1)) * chance.uniform(0.6, 1.5))))
    lengths.append(max(1, -(-size // math.prod(lengths))))
    chance.shuffle(lengths)
    return "x".join(map(str, lengths))


MACHINES: dict[str, Draw] = {
    "dgx_a100": _of_boxes(8),
    "dgx_h100": _of_boxes(8),
    "hgx_a800": _of_boxes(8),
    "nvl72": _nvl72,
    "mi250": _mi250,
    "paper_example": lambda chance, size: {},
    "pcie_box": _pcie_box,
    **dict.fromkeys(
        (
            *("hgx_h200", "hgx_b200", "hgx_b300", "mi300x", "mi325x", "mi355x", "gaudi3"),
            *("a100_pcie", "h100_pcie", "l40s", "rtx_pro_6000", "rtx_4090", "rtx_5090"),
            *("aws_p4d", "aws_p5", "aws_p5en", "gcp_a3_high", "gcp_a3_mega", "gcp_a3_ultra"),
            *("gcp_a4", "azure_nd_a100_v4", "azure_nd_h100_v5", "azure_nd_mi300x_v5", "oci_h100"),
        ),
        _boxes,
    ),
    "dgx_spark": lambda chance, size: {"boxes": min(size, 64)},
    "gb200_nvl72": _racks,
    "gb300_nvl72": _racks,
    "vr_nvl144": _racks,
    "tpu_v4": _slice(3),
    "tpu_v5p": _slice(3),
    "tpu_v5e": _slice(2),
    "tpu_v6e": _slice(2),
    "trn2": _of_boxes(16),
    "trn2_ultraserver": _of_boxes(64, "servers"),
    "dgx1": lambda chance, size: {},
    "ndv2": _of_boxes(8, "chassis"),
    "dgx2": lambda chance, size: {"chassis": chance.choice([1, 2])},
    "mi250_teccl": _of_boxes(16, "chassis"),
}
"""Machines by their names in the registry, and how their sizes are drawn for about so many GPUs."""


# --- switched networks ---------------------------------------------------------------------------


def _hosts(chance: random.Random, size: int) -> int:
    return chance.randint(1, max(1, min(8, size // 2)))


def _fat_tree(chance: random.Random, size: int) -> Sizes:
    hosts = _hosts(chance, size)
    return {"leaves": -(-size // hosts), "hosts": hosts, "spines": chance.randint(1, 4)}


def _rail_optimized(chance: random.Random, size: int) -> Sizes:
    return {**_boxes(chance, size), "spines": chance.randint(0, 3)}


def _with_hosts(words: Draw) -> Draw:
    """A fabric of boxes whose boxes are the GPUs of a leaf or router."""

    def draw(chance: random.Random, size: int) -> Sizes:
        hosts = _hosts(chance, size)
        return {**words(chance, -(-size // hosts)), "hosts": hosts}

    return draw


def _dual_plane(chance: random.Random, size: int) -> Sizes:
    return {**_fat_tree(chance, size), "planes": chance.randint(1, 3)}


FABRICS: dict[str, Draw] = {
    "fat_tree": _fat_tree,
    "rail_optimized": _rail_optimized,
    "hgx_h800": _of_boxes(8),
    "clos": _with_hosts(_clos),
    "dragonfly": _with_hosts(_dragonfly),
    "dragonfly_plus": _with_hosts(_dragonfly_plus),
    "hyperx": _with_hosts(_grid),
    "slim_fly": lambda chance, size: {"q": chance.choice([3, 4, 5]), "hosts": chance.randint(1, 3)},
    "dual_plane": _dual_plane,
}
"""Networks of switches, by their names in the registry."""


# --- networks of GPUs ----------------------------------------------------------------------------


def _power(base: int, size: int) -> int:
    """Return the least exponent, one or more, of a power that is no smaller than the size."""
    exponent = 1
    while base**exponent < size:
        exponent += 1
    return exponent


def _words(*degrees: int, name: str = "length", least: int = 1) -> Draw:
    """Networks of words: a power of the degree."""

    def draw(chance: random.Random, size: int) -> Sizes:
        degree = chance.choice(degrees)
        return {"degree": degree, name: max(least, _power(degree, size))}

    return draw


def _hamming(chance: random.Random, size: int) -> Sizes:
    letters = chance.randint(2, 5)
    return {"dimensions": _power(letters, size), "letters": letters}


def _of_degree(least: int, most: int, nodes: int) -> Draw:
    """Some GPUs, at least ``nodes``, of a degree."""

    def draw(chance: random.Random, size: int) -> Sizes:
        return {"degree": chance.randint(least, most), "nodes": max(nodes, size)}

    return draw


def _circulant(chance: random.Random, size: int) -> Sizes:
    if size > 6 and chance.random() < 0.5:
        return {"nodes": size}
    return {"nodes": max(size, 3), "offsets": f"1+{chance.randint(1, max(size - 1, 1))}"}


def _twisted_torus(chance: random.Random, size: int) -> Sizes:
    dimensions = chance.choice([2, 3])
    length = max(2, math.ceil((size / 2) ** (1 / dimensions)))
    return {"dims": "x".join([str(length)] * (dimensions - 1) + [str(2 * length)])}


def _random_regular(chance: random.Random, size: int) -> Sizes:
    nodes = max(4, size + size % 2)
    degree = chance.randint(3, min(6, nodes - 1))
    return {"nodes": nodes, "degree": degree, "seed": chance.randrange(10**6)}


def _inner(chance: random.Random, size: int) -> str:
    """Draw a network that others are made of."""
    nodes = max(2, size)
    kinds = [
        f"ring:nodes={nodes}",
        f"ring:nodes={nodes},bidirectional=false",
        f"complete:nodes={min(nodes, 6)}",
        f"generalized_kautz:degree=2,nodes={max(3, nodes)}",
        "diamond",
    ]
    return f"({chance.choice(kinds)})"


def _line_graph(chance: random.Random, size: int) -> Sizes:
    return {"of": _inner(chance, min(size // 2, 40)), "times": chance.choice([1, 1, 2])}


def _expansion(chance: random.Random, size: int) -> Sizes:
    times = chance.randint(1, 4)
    return {"of": _inner(chance, size // times), "times": times}


def _cartesian_power(chance: random.Random, size: int) -> Sizes:
    exponent = chance.randint(1, 3)
    return {"of": _inner(chance, math.ceil(size ** (1 / exponent))), "exponent": exponent}


def _cartesian_product(chance: random.Random, size: int) -> Sizes:
    one = chance.randint(2, max(2, math.isqrt(size)))
    return {"of": _inner(chance, one) + _inner(chance, -(-size // one))}


GPU_NETWORKS: dict[str, Draw] = {
    "ring": lambda chance, size: {"nodes": size},
    "torus": lambda chance, size: {"dims": _dims(chance, size, chance.randint(1, 4))},
    "hypercube": lambda chance, size: {"dimension": _power(2, size)},
    "complete": lambda chance, size: {"nodes": min(size, 40)},
    "complete_bipartite": lambda chance, size: {"degree": min(-(-size // 2), 20)},
    "diamond": lambda chance, size: {},
    "double_binary_tree": lambda chance, size: {"nodes": size},
    "kautz": lambda chance, size: {"degree": 2, "length": _power(2, size) - 1},
    "generalized_kautz": _of_degree(1, 4, 3),
    "de_bruijn": _words(2, 3, 4),
    "modified_de_bruijn": _words(2, 3, 4, least=2),
    "circulant": _circulant,
    "directed_circulant": lambda chance, size: {"degree": min(size, 40)},
    "uni_ring": _of_degree(1, 4, 2),
    "bi_ring": _of_degree(1, 4, 3),
    "hamming": _hamming,
    "twisted_hypercube": lambda chance, size: {"dimension": max(3, _power(2, size))},
    "twisted_torus": _twisted_torus,
    "distance_regular": lambda chance, size: {
        "graph": chance.choice(REGISTRY["distance_regular"].parameters[0].type.split(" or "))
    },
    "random_regular": _random_regular,
    "line_graph": _line_graph,
    "degree_expansion": _expansion,
    "cartesian_power": _cartesian_power,
    "cartesian_product": _cartesian_product,
    "both_ways": lambda chance, size: {"of": _inner(chance, size)},
}
"""Networks of GPUs alone, by their names in the registry."""

DRAWN: dict[str, Draw] = {**MACHINES, **FABRICS, **GPU_NETWORKS}
"""Every registered family."""
