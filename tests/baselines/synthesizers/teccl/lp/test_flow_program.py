"""The rows of the linear program."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.lp.flow_program import amounts, capacity, without_windows, write
from forestcoll.errors import InfeasibleError, UnsupportedError
from forestcoll.solver.linear_program import Settings
from forestcoll.solver.solve import solve
from tests.baselines.synthesizers.teccl.instances import instance


def works(spec: str, epochs: int, chunks: int = 1) -> bool:
    program = write(*instance(spec, "all-to-all", chunks=chunks), epochs).program
    try:
        solve(program, Settings(seconds=60))
    except InfeasibleError:
        return False
    return True


@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize(
    ("spec", "epochs"),
    [
        ("ring:nodes=3", 1),
        ("ring:nodes=4", 2),  # 4 x (1 + 2 + 1) hops over 8 links
        ("ring:nodes=5", 3),
        ("ring:nodes=4,bidirectional=false", 6),  # 1 + 2 + 3 over the one link of each
        ("torus:dims=4,wrap=false", 4),  # 2 x 2 over the middle
        ("complete:nodes=4", 1),
    ],
)
def test_the_fewest_epochs_by_hand(spec: str, epochs: int, chunks: int) -> None:
    """The busiest link's chunks; of several chunks a pair it takes so many times as long."""
    assert epochs * chunks == 1 or not works(spec, epochs * chunks - 1, chunks)
    assert works(spec, epochs * chunks, chunks)


def test_rows_count_sources_and_not_chunks() -> None:
    sizes = [
        write(*instance("torus:dims=3x3", "all-to-all", chunks=c), 4).program.matrix.shape
        for c in (1, 5)
    ]
    assert sizes[0] == sizes[1]


def test_a_window_has_the_capacity_of_its_link() -> None:
    """The slower links carry half of a chunk in an epoch; in a window of two all of it."""
    network, demand = instance("dgx1", "all-to-all")
    found = {(g.window, capacity(network, demand, g)) for g in network.groups}
    assert found == {(1, 1.0), (2, 1.0)}
    slow = EpochNetwork.of(network.topology, demand.chunk_kb, network.epoch_us * Fraction(3, 4))
    assert {(g.window, capacity(slow, demand, g)) for g in slow.groups} == {(2, 1.5), (3, 1.125)}


def test_without_windows_parts_leave_in_an_epoch() -> None:
    """Both kinds of links of DGX1, with latencies; what a link carries in an epoch stays the same.

    A switch that passes on at once does so in the epoch in which it gets a part.
    """
    network, demand = instance("dgx1", "all-to-all", crossing="stored")
    plain = without_windows(network)
    assert {(arc.busy, arc.span, arc.offset) for arc in plain.arcs} == {(1, 1, 1)}
    assert {(g.window, capacity(plain, demand, g)) for g in plain.groups} == {(1, 1.0), (1, 0.5)}
    through, _ = instance("dgx_a100:boxes=2", "all-to-all")
    assert min(arc.offset for arc in through.arcs) < 0
    assert {arc.offset for arc in without_windows(through).arcs} == {1, 0}


def test_the_rows_balance_sent_and_due_data() -> None:
    """Node by node and time by time the columns cancel but for the sources and destinations."""
    network, demand = instance("ring:nodes=3", "all-to-all")
    stated = write(network, demand, 2)
    assert (amounts(network, demand) == 1 - np.eye(3)).all()
    balance = stated.program.row_lower[np.isfinite(stated.program.row_lower)]
    assert sorted(balance[balance != 0].tolist()) == [-2] * 3 + [1] * 6
    assert stated.program.cost.sum() == len(stated.source)


def test_copies_and_hyper_edges_are_for_whole_numbers() -> None:
    with pytest.raises(UnsupportedError, match="a copy of one chunk; take the whole numbers"):
        write(*instance("ring:nodes=3", "allgather"), 3)
    with pytest.raises(UnsupportedError, match="hyper-edges are for whole chunks only"):
        write(*instance("dgx_h100:boxes=1", "all-to-all", switches="hyper-edges"), 3)
