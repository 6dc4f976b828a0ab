"""The program of trees that span some of the switches that multicast."""

import time

import numpy as np
import pytest

from forestcoll.errors import TimeLimitError
from forestcoll.in_network.mixture_program import MixtureProgram
from forestcoll.in_network.spans import spans_of
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.symmetry.automorphism import find_orbits, no_symmetry
from tests.in_network.adding_servers import servers


def rates(topology: Topology, *, symmetry: bool = True) -> list[float]:
    """Return the rate after each round of spans."""
    orbits = find_orbits(topology) if symmetry else no_symmetry(topology)
    program = MixtureProgram(topology, orbits)
    found = []
    for spans in spans_of(topology, orbits):
        for span in spans:
            program.add(span)
        found.append(program.solved(time.monotonic() + 60)[0])
    return found


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        # All of four servers; all or none: 10 GB/s; each for a quarter of the data: 12.5.
        (servers(4, ("12.5",) * 4, leaves=2), [50 / 7, 10, 12.5]),
        # Sums for 4 hosts at 12.5 / 4, and a ring of the hosts with what is left.
        (servers(4, ("12.5",)), [7.8125, 9.375]),
        # NVSwitches for 900 GB/s, InfiniBand alone for 37.5 * 144 / 286 more.
        (
            load_topology("nvl72:racks=2,planes=1,plane_bandwidth=900"),
            [900 + 540 / 29, 918.8811188, 918.8811188],
        ),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_rates_are_those_worked_out_by_hand(topology: Topology, expected: list[float]) -> None:
    assert rates(topology) == pytest.approx(expected)


def test_symmetry_is_a_saving_only() -> None:
    """Without it each server is a kind of its own, and all are tried at once."""
    topology = servers(3, (9,) * 3, leaves=3)
    assert rates(topology)[-1] == pytest.approx(rates(topology, symmetry=False)[-1])


def test_contributions_of_spans_fit_the_links_and_add_up() -> None:
    topology = servers(4, ("12.5",) * 4, leaves=2)
    orbits = find_orbits(topology)
    program = MixtureProgram(topology, orbits)
    for spans in spans_of(topology, orbits):
        for span in spans:
            program.add(span)
    value, found = program.solved(time.monotonic() + 60)
    assert sum(one.parts_gb_s.sum() * len(one.span.images) for one in found) == pytest.approx(value)
    load = np.zeros(len(topology.links))
    place = {(e.tail, e.head): i for i, e in enumerate(topology.links)}
    for one in found:
        for moves in one.span.images:
            to = [place[int(moves[e.tail]), int(moves[e.head])] for e in topology.links]
            np.add.at(load, to, one.gather_gb_s + one.reduce_gb_s)
    assert (load <= [float(e.bandwidth_gb_s) * (1 + 1e-7) for e in topology.links]).all()


def test_shared_capacities_bound_the_mixture() -> None:
    """All that the hosts send together at most 25 GB/s: half of what their four links carry."""
    topology = servers(4, ("12.5",) * 4, leaves=2).with_shared("out", "g* -> leaf*", 25)
    assert rates(topology)[-1] == pytest.approx(6.25)


def test_no_time_is_no_solution() -> None:
    topology = servers(4, ("12.5",))
    program = MixtureProgram(topology, find_orbits(topology))
    for spans in spans_of(topology, find_orbits(topology)):
        for span in spans:
            program.add(span)
    with pytest.raises(TimeLimitError):
        program.solved(time.monotonic() - 1)
