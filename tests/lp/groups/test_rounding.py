"""Shares of groups in floats, made fractions that fit, and forests within them."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import SolverError
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology
from lp.groups.result import ProcessGroup, rate_of
from lp.groups.rounding import forests_within, rounded
from tests.lp.networks import star

RING = load_topology("ring:nodes=4")
ALL = ProcessGroup("all", ("gpu0", "gpu1", "gpu2", "gpu3"))


def widths(topology: Topology) -> set[Fraction]:
    return {link.bandwidth_gb_s for link in topology.links}


def test_shares_of_simple_fractions_are_these() -> None:
    """A third and two thirds, up to the noise of a solver, for two groups of a star."""
    topology = star(1, 1, 1, 1)
    groups = (ProcessGroup("x", ("gpu0", "gpu1")), ProcessGroup("y", ("gpu2", "gpu3")))
    networks = [one.on(topology) for one in groups]
    shares = np.array([np.full(8, 1 / 3 - 1e-12), np.full(8, 2 / 3 + 1e-12)])
    taken = rounded(topology, groups, networks, shares, rate=1 / 3)
    assert [widths(part) for part in taken] == [{Fraction(1, 3)}, {Fraction(2, 3)}]


def test_shares_never_exceed_a_link_together() -> None:
    """Sixtieths of more than 1 GB/s in all: the group in front gets its own."""
    topology = star(1, 1, 1, 1)
    groups = (ProcessGroup("x", ("gpu0", "gpu1")), ProcessGroup("y", ("gpu2", "gpu3")))
    networks = [one.on(topology) for one in groups]
    shares = np.random.default_rng(0).integers(27, 37, (2, 8)) / 60
    taken = rounded(topology, groups, networks, shares, rate=0.1)
    assert shares.sum(axis=0).max() > 1
    for ends, link in topology.link_between.items():
        parts = (part.link_between.get(ends) for part in taken)
        assert sum(part.bandwidth_gb_s for part in parts if part) <= link.bandwidth_gb_s


def test_forests_are_on_the_network_in_full() -> None:
    """Within half of a ring's links the allgather of four takes twice its time."""
    (part,) = rounded(RING, [ALL], [RING], np.full((1, 8), 0.5), rate=1 / 3)
    assert widths(part) == {Fraction(1, 2)}
    (forest,) = forests_within([RING], [part])
    assert forest.topology == RING
    assert (forest.method, forest.optimum) == ("groups-lp", None)
    verify(forest)
    assert rate_of((ALL,), (forest,)) == Fraction(2, 3)  # on the full links: both ways, 3 shards


def test_without_a_grid_that_attains_the_rate_the_best_one_is_taken() -> None:
    """4 GB/s is asked for, where 2/3 is all there is."""
    (part,) = rounded(RING, [ALL], [RING], np.ones((1, 8)), rate=4.0)
    assert widths(part) == {Fraction(1)}


def test_shares_of_nothing_are_refused() -> None:
    with pytest.raises(SolverError, match="ring:nodes=4: rounded down, the shares leave a group"):
        rounded(RING, [ALL], [RING], np.full((1, 8), 1e-13), rate=1.0)
