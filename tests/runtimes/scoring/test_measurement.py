"""What loads come to, by hand."""

from fractions import Fraction

from forestcoll.runtimes.scoring.file_bounds import FileBound
from forestcoll.runtimes.scoring.measurement import measured
from forestcoll.topology import load_topology

BOUND = FileBound(Fraction(4), True, "by hand", "any")


def test_the_first_of_the_busiest_links_decides() -> None:
    """Links 0 and 2 of a ring of 3 carry 1/2 of the data at 1 GB/s: 2 GB/s, half of the bound."""
    ring = load_topology("ring:nodes=3")
    loads = [Fraction(0)] * len(ring.links)
    loads[2] = loads[4] = Fraction(1, 2)
    found = measured(ring, loads, BOUND)
    link = ring.links[2]
    assert found.algbw_gb_s == 2
    assert found.share == Fraction(1, 2)
    assert found.busiest_link == (ring.nodes[link.tail].name, ring.nodes[link.head].name)


def test_where_nothing_is_sent_there_is_no_rate_and_no_share() -> None:
    ring = load_topology("ring:nodes=3")
    found = measured(ring, [Fraction(0)] * len(ring.links), BOUND)
    assert (found.algbw_gb_s, found.busiest_link, found.share) == (None, None, None)
