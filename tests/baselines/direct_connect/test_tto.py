"""TTO's three trees, by the counts of its construction."""

from fractions import Fraction

import pytest

from baselines.direct_connect.tto import Place, generate, three_trees
from forestcoll import generate as generate_optimum
from forestcoll import simulate
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.schedule import Allreduce, cost, verify
from forestcoll.topology import Topology, group, load_topology

COUNTS = {3: (23, 24), 4: (44, 48), 5: (71, 80), 8: (188, 224), 9: (239, 288)}
"""Links in use and links of the mesh, by its side."""


def mesh(side: int, idle: str = "") -> Topology:
    """An n x n mesh whose corner, by default the last of column 0, only forwards."""
    whole = load_topology(f"torus:dims={side}x{side},wrap=false")
    idle = idle or f"gpu{side - 1}.0"
    return group(whole, [node.name for node in whole.nodes if node.name != idle])


def hops(tree: dict[Place, Place], place: Place) -> int:
    return 1 + hops(tree, tree[place]) if place in tree else 0


@pytest.mark.parametrize("side", COUNTS)
def test_trees_share_no_directed_link(side: int) -> None:
    """A and B span all n^2 places, C all but the corner: 2 (n^2 - 1) + n^2 - 2 links."""
    trees = three_trees(side)
    links = [(start, end) for tree in trees for end, start in tree.items()]
    used, there = COUNTS[side]
    assert len(links) == len(set(links)) == used == 3 * side**2 - 4
    assert there == 4 * side * (side - 1)
    assert all(abs(u[0] - v[0]) + abs(u[1] - v[1]) == 1 for u, v in links)


@pytest.mark.parametrize("side", COUNTS)
def test_the_third_tree_misses_one_corner(side: int) -> None:
    places = {(i, j) for i in range(side) for j in range(side)}
    roots = ((0, 0), (side - 1, side - 1), (0, side - 1))
    missed = [
        places - tree.keys() - {root} for tree, root in zip(three_trees(side), roots, strict=True)
    ]
    assert missed == [set(), set(), {(side - 1, 0)}]


@pytest.mark.parametrize("side", COUNTS)
def test_depths_are_those_of_the_construction(side: int) -> None:
    """2 (n - 1), 2 (n - 1) and 2 n - 3 links from the roots to the farthest places."""
    depths = [max(hops(tree, place) for place in tree) for tree in three_trees(side)]
    assert depths == [2 * (side - 1), 2 * (side - 1), 2 * side - 3]


@pytest.mark.parametrize("side", [3, 5, 9])
def test_the_pipelined_rate_is_three_halves_of_a_link(side: int) -> None:
    """A link carries a third of the data in each phase: 2/3 s per GB at 1 GB/s."""
    made = generate(mesh(side))
    assert isinstance(made, Allreduce)
    assert verify(made).time_s_per_gb == made.sequential_s_per_gb == Fraction(2, 3)
    assert [phase.time_s_per_gb for phase in made.phases] == [Fraction(1, 3)] * 2


@pytest.mark.parametrize("idle", ["gpu0.0", "gpu0.3", "gpu3.3"])
def test_any_corner_may_be_idle(idle: str) -> None:
    assert cost(generate(mesh(4, idle))).algbw_gb_s == Fraction(3, 2)


def test_the_order_of_the_nodes_does_not_matter() -> None:
    moved = mesh(4).relabelled(range(16)[::-1])
    assert verify(generate(moved)).time_s_per_gb == Fraction(2, 3)


def test_chunks_in_order_approach_the_rate() -> None:
    """K chunks take about 2 (K + H - 1) parts of 1/(3 K): H = 4 links, 3.9 % over 2/3 at K = 64."""
    made = generate(mesh(3))
    times = [
        simulate(made, 10**9, alpha_us=0, sharing="fifo", pipeline_chunks=k).time_s for k in (4, 64)
    ]
    assert times[0] <= 2 * (4 + 4 - 1) / 12
    assert 2 / 3 <= times[1] <= 2 * (64 + 4 - 1) / 192


@pytest.mark.parametrize(
    ("side", "rate"), [(3, Fraction(11, 7)), (4, Fraction(23, 14)), (5, Fraction(39, 23))]
)
def test_our_optimum_of_the_same_gpus_is_above(side: int, rate: Fraction) -> None:
    """The trees are a feasible point of the allreduce program, which proves its optimum."""
    best = generate_optimum(mesh(side), collective="allreduce").schedule
    assert isinstance(best, Allreduce)
    assert best.optimal
    assert best.algbw_gb_s == rate > cost(generate(mesh(side))).algbw_gb_s


@pytest.mark.parametrize(("side", "rate"), [(3, Fraction(3, 2)), (5, Fraction(5, 3))])
def test_all_gpus_attain_the_ceiling(side: int, rate: Fraction) -> None:
    """A corner has 2 B, and N GPUs share 4 n (n - 1) B: min(2, 2 n / (n + 1)) B."""
    best = generate_optimum(f"torus:dims={side}x{side},wrap=false", collective="allreduce").schedule
    assert best.algbw_gb_s == rate == min(Fraction(2), Fraction(2 * side, side + 1))


def test_it_becomes_an_algorithm_of_msccl() -> None:
    """Executed on the CPU before it is returned; the idle corner has no rank in it."""
    found = export(compile_program(generate(mesh(3))), MscclOptions())
    assert 'ngpus="8"' in found.text


@pytest.mark.parametrize(
    "topology",
    [
        load_topology("torus:dims=3x3,wrap=false"),
        mesh(2),
        mesh(4, "gpu1.1"),
        mesh(4, "gpu0.1"),
        group(load_topology("torus:dims=3x3"), [f"gpu{i}.{j}" for i in range(3) for j in (1, 2)]),
        mesh(3).without("gpu0.0 -> gpu0.1"),
        mesh(3).without("gpu0.0"),
    ],
    ids=["all GPUs", "2 x 2", "no corner", "border", "torus", "a dead link", "a dead GPU"],
)
def test_other_networks_are_refused(topology: Topology) -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: .* one idle corner that forwards"):
        generate(topology)
