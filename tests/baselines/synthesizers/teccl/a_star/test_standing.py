"""Where chunks are when a round begins, by hand."""

from fractions import Fraction

from baselines.synthesizers.teccl.a_star.standing import Standing
from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from tests.hand_networks import network_of


def star() -> tuple[EpochNetwork, dict[tuple[int, ...], int]]:
    """GPUs a, b, c on a switch, a chunk an epoch, two epochs of latency from it."""
    network = EpochNetwork.of(
        network_of("a b c [s]", "a b c > s, s > a b c: 1 2", "star"),
        Fraction(1),
        Fraction(1),
        "stored",
    )
    return network, {arc.path: i for i, arc in enumerate(network.arcs)}


def test_chunks_in_the_air_and_in_switches() -> None:
    """From a: one copy to b, in the air for two epochs more; another that s is to pass on."""
    network, arc = star()
    demand = demand_of(3, "broadcast", 1, 1000)
    sent = [(0, arc[0, 3], 0), (0, arc[3, 1], 1), (0, arc[0, 3], 1)]
    standing = Standing.of(network, demand, sent, 2)
    assert standing.had[0].keys() == {0, 1}
    assert standing.had[0][1] == 2
    assert standing.wanting(demand) == [[2]]
    assert standing.in_air(demand) == 2
    assert standing.came == {(0, 3, -1): 1, (0, 3, 0): 1}
    assert standing.gone == {(0, 3, -1): 1}
    assert standing.busy == {(arc[0, 3], -2): 1, (arc[3, 1], -1): 1, (arc[0, 3], -1): 1}


def test_at_first_only_roots_have_anything() -> None:
    network, _ = star()
    standing = Standing.of(network, demand_of(3, "allgather", 1, 3000), [], 0)
    assert [list(had) for had in standing.had] == [[0], [1], [2]]
    assert standing.wanting(demand_of(3, "allgather", 1, 3000)) == [[1, 2], [0, 2], [0, 1]]
