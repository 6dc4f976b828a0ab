"""Networks of ASTRA-sim's analytical back end."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology
from forestcoll.topology.differences import differences
from forestcoll.topology.importers.networks.astra_sim_network import (
    Dimension,
    dimensions_topology,
    topology_from_astra_sim,
)
from tests.topology.importers.small_files import ASTRA_SIM


def test_three_dimensions() -> None:
    """24 GPUs: 8 rings of 3, 6 full connections of 4, and 12 switches of 2."""
    found = topology_from_astra_sim(ASTRA_SIM, "f", "n")
    assert found.num_compute == 24
    assert len(found.switches) == 12
    assert len(found.links) == 2 * (8 * 3 + 6 * 6 + 12 * 2)
    place = found.position_of
    ring = found.link_between[place["gpu0"], place["gpu2"]]
    full = found.link_between[place["gpu0"], place["gpu9"]]
    switch = found.link_between[place["gpu12"], place["dim2.switch0"]]
    speeds = [(one.bandwidth_gb_s, one.latency_us) for one in (ring, full, switch)]
    assert speeds == [
        (200, Fraction(1, 20)), (100, Fraction(1, 2)), (Fraction("12.5"), Fraction("0.93625")),
    ]  # fmt: skip
    assert found.nodes[place["gpu4"]].box == 1


def test_rings_make_a_torus_and_two_gpus_have_one_link() -> None:
    """Ranks of a family count the last dimension fastest."""
    ring = Dimension("Ring", 4, Fraction(25), Fraction(0))
    torus = load_topology("torus:dims=4x4,bandwidth=25")
    made = dimensions_topology([ring, ring], "t")
    assert len(made.links) == len(torus.links) == 64
    assert not list(
        differences(load_topology("ring:nodes=4,bandwidth=25"), dimensions_topology([ring], "r"))
    )
    pair = dimensions_topology([Dimension("Ring", 2, Fraction(25), Fraction(0))], "p")
    assert [link.bandwidth_gb_s for link in pair.links] == [25, 25]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "latency",
            "latencys",
            "line 4: latencys is not a field of ASTRA-sim's; did you mean latency?",
        ),
        ("FullyConnected", "Full", "topology[1] is 'Full'; "),
        ("[ 3, 4, 2 ]", "[ 3, 4 ]", "has lists of different lengths (topology 3, npus_count 2,"),
        ("[ 3, 4, 2 ]", "3", "npus_count must be a list of 1 to 16 entries"),
        ("[ 3, 4, 2 ]", "[ 3, 4, 0 ]", "npus_count[2] is 0; it must be a number from 1"),
        ("100.0", "0", "bandwidth[1] is 0; it must be above 0 GB/s"),
        ("100.0", "fast", "bandwidth[1] is 'fast', which is not a number"),
        ("50.0", "-1", "latency[0] is -1; it must be 0 ns or more"),
        ("[ 3, 4, 2 ]", "[ 3000, 4000, 2000 ]", "makes over 1000000 nodes"),
        ("[ 3, 4, 2 ]", "[ 3, 90000, 2 ]", "makes over 20000000 links"),
        ("bandwidth: [ 200.0, 100.0, 12.5 ]", "", "bandwidth must be a list"),
    ],
)
def test_wrong_files_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        topology_from_astra_sim(ASTRA_SIM.replace(old, new), "f", "n")


def test_documents_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="must have the fields topology"):
        topology_from_astra_sim("- 1", "f", "n")
