"""Sets of multicast switches that trees may span."""

import numpy as np

from forestcoll.in_network.spans import spans_of
from forestcoll.topology import load_topology
from forestcoll.topology.symmetry.automorphism import find_orbits
from tests.hand_networks import network_of
from tests.in_network.adding_servers import servers


def test_four_equal_servers_are_spanned_together_or_not_and_then_one_by_one() -> None:
    """Behind two leaves: all, none; then one, which symmetries carry to each of the four."""
    topology = servers(4, ("12.5",) * 4, leaves=2)
    orbits = find_orbits(topology)
    (all_,), (none,), (single,) = spans_of(topology, orbits)
    assert (all_.switches, none.switches) == ((4, 5, 6, 7), ())
    assert len(all_.images) == len(none.images) == 1
    assert single.switches == (4,)
    assert (single.images[0] == np.arange(len(topology.nodes))).all()
    assert sorted(int(moves[4]) for moves in single.images) == [4, 5, 6, 7]
    assert single.orbits.node[5] != single.orbits.node[4]  # a symmetry that keeps 4 keeps its leaf
    assert single.orbits.node[6] == single.orbits.node[7]


def test_kinds_of_switches_are_united_in_all_ways() -> None:
    """NVSwitches of 4 boxes, and InfiniBand that adds, too; then one NVSwitch with it or alone."""
    topology = load_topology("dgx_h100:boxes=4,sharp=true")
    rounds = [
        [len(span.switches) for span in spans]
        for spans in spans_of(topology, find_orbits(topology))
    ]
    assert rounds[:3] == [[5], [0], [4, 1]]
    assert sorted(rounds[3]) == [1, 2]


def test_many_kinds_are_spanned_together_one_by_one_or_not_at_all() -> None:
    links = ", ".join(
        f"g0 - s{width}: {width}, g1 - s{width}: {width + 1}" for width in range(1, 6)
    )
    topology = network_of("g0 g1 [s1..5*]", links, "five kinds")
    rounds = spans_of(topology, find_orbits(topology))
    assert [[span.switches for span in spans] for spans in rounds] == [
        [(2, 3, 4, 5, 6)],
        [()],
        [(v,) for v in range(2, 7)],
    ]
