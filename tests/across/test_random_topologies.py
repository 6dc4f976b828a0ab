"""The random networks are what they say, and varied enough to test with."""

import networkx as nx
import pytest

from forestcoll.topology import validate
from tests.baselines.once_each import in_turn
from tests.random_topologies import (
    ALL_ROUNDS,
    KINDS,
    MAX_NODES,
    MAX_SWITCHES,
    random_topology,
    rounds,
)
from tests.reference.flow import integer_graph


@pytest.mark.parametrize("kind", KINDS)
def test_random_topologies_have_the_properties_of_their_kind(kind: str) -> None:
    """All reach all; in >= out at switches, in = out everywhere where the kind promises it."""
    for seed in range(100):
        topology = random_topology(seed, kind)
        assert 2 <= topology.num_compute <= len(topology.nodes) <= MAX_NODES
        assert len(topology.switches) <= MAX_SWITCHES
        validate(topology)
        received, sent = topology.ingress_gb_s, topology.egress_gb_s
        assert all(received[w] >= sent[w] for w in topology.switches)
        assert received == sent or kind == "unbalanced"
        if kind == "bidirectional":
            assert topology.reversed() == topology
        graph = topology.to_networkx()
        gpus = {topology.nodes[v].name for v in topology.compute}
        assert all(gpus <= {v, *nx.descendants(graph, v)} for v in gpus)


@pytest.mark.parametrize("kind", KINDS)
def test_cover_every_number_of_switches_and_sizes(kind: str) -> None:
    """100 seeds show 0 to 4 switches, the smallest and the largest networks, and fractions."""
    drawn = [random_topology(seed, kind) for seed in range(100)]
    assert {len(topology.switches) for topology in drawn} == set(range(MAX_SWITCHES + 1))
    assert {2, MAX_NODES} <= {len(topology.nodes) for topology in drawn}
    whole = {integer_graph(topology)[1] == 1 for topology in drawn}
    assert whole == {True, False}


def test_unbalanced_ones_have_switches_and_gpus_out_of_balance() -> None:
    """Some switch receives more than it sends; some GPU more, and some GPU less."""
    drawn = [random_topology(seed, "unbalanced") for seed in range(50)]
    surplus = [
        (t.nodes[v].is_switch, t.ingress_gb_s[v] - t.egress_gb_s[v])
        for t in drawn
        for v in range(len(t.nodes))
    ]
    assert any(is_switch and excess > 0 for is_switch, excess in surplus)
    assert any(not is_switch and excess > 0 for is_switch, excess in surplus)
    assert any(not is_switch and excess < 0 for is_switch, excess in surplus)


def test_a_seed_always_gives_the_same_network() -> None:
    assert random_topology(3, "directed") == random_topology(3, "directed")
    assert random_topology(3, "directed") != random_topology(4, "directed")


def test_all_rounds_are_run_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of them else, but not less than eight of those there are."""
    monkeypatch.setenv(ALL_ROUNDS, "")
    assert [rounds(300), rounds(20), rounds(5), rounds(300, 2)] == [100, 8, 5, 2]
    monkeypatch.setenv(ALL_ROUNDS, "1")
    assert [rounds(300), rounds(20), rounds(5), rounds(300, 2)] == [300, 20, 5, 300]


def test_every_second_row_of_a_product_is_left_to_make_test_all() -> None:
    """Of three axes each pair of values is in some row that is not slow."""
    rows = in_turn([0, 1, 2], "ab", [False, True])
    assert [row for row in in_turn([0, 1], "ab") if type(row) is tuple] == [(0, "a"), (1, "b")]
    soon = {row for row in rows if type(row) is tuple}
    assert (len(rows), len(soon)) == (12, 6)
    assert len({(number, letter) for number, letter, _ in soon}) == 6
    assert len({(number, truth) for number, _, truth in soon}) == 6
    assert len({(letter, truth) for _, letter, truth in soon}) == 4
