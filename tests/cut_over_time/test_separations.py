"""Which sources and sinks are tried."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.cut_over_time.separations import representatives, separations
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def tried(network: Topology, collective: str, weights: tuple[int, ...] = ()) -> set[str]:
    """Names of sources and sinks, as "ab>c"."""
    links = TimedLinks.of(network, Fraction(1), reduction=False)
    given = weights or (1,) * network.num_compute
    found = separations(network, collective, links, given, [])
    names = [node.name for node in network.nodes]
    return {
        ">".join("".join(names[v] for v in sorted(side)) for side in (one.sources, one.sinks))
        for one in found
    }


def test_one_gpu_stands_for_all_that_are_alike():
    network = load_topology("dgx_a100:boxes=4")
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    assert representatives(network, links, (1,) * 32) == (0,)
    assert len(representatives(network, links, (2, *[1] * 31))) == 3


def test_latencies_keep_gpus_apart():
    """On a ring with one slow link no two GPUs are alike, though all bandwidths are."""
    ring = load_topology("ring:nodes=4")
    slow = (replace(ring.links[0], latency_us=Fraction(1)), *ring.links[1:])
    network = replace(ring, links=slow)
    links = TimedLinks.of(network, Fraction(0), reduction=False)
    assert len(representatives(network, links, (1,) * 4)) == 4


def test_all_others_and_those_from_each_distance_on():
    line = network_of("a b c", "a - b, b - c")
    assert tried(line, "allgather") == {"bc>a", "c>a", "ac>b"}
    assert tried(line, "allgather", (0, 0, 1)) == {"c>a", "c>b"}


def test_sources_are_all_others_or_those_outside_the_box():
    boxes = network_of("a@0 b@0 c@1 d@1 [s]", "a b c d - s")
    assert tried(boxes, "allgather") == {"bcd>a", "cd>a"}


def test_both_ways_and_whole_boxes_in_an_all_to_all():
    boxes = network_of("a@0 b@0 c@1 d@1 [s]", "a b c d - s")
    assert tried(boxes, "all-to-all") == {"bcd>a", "a>bcd", "cd>a", "a>cd", "cd>ab", "ab>cd"}


def test_pairs_in_an_allreduce():
    line = network_of("a b c", "a - b, b - c")
    assert tried(line, "allreduce") == {"c>a", "b>a", "a>b"}
