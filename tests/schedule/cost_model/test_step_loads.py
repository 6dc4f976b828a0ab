"""What steps put on the links: exact, whatever is looked at together."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from baselines import METHODS
from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    lockstep,
    synchronous,
    verify,
)
from forestcoll.schedule.cost_model import step_loads
from forestcoll.topology import load_topology
from tests.schedule.literals import LITERALS
from tests.schedule.made.networks import holed_mesh
from tests.schedule.made.steps import doubling, slowest_links


def test_recursive_doubling_by_hand() -> None:
    """Four GPUs, all links 1 GB/s: two steps of the whole buffer, each over links of its own."""
    assert synchronous(doubling()).time_s_per_gb == 2
    assert cost(doubling()).time_s_per_gb == 1


def test_a_transfer_is_divided_over_its_paths() -> None:
    """Two paths of multiplicities 1 and 3 carry a quarter and three quarters."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    gpu, far = net.compute
    leaf, other, *spines = net.switches
    ways = tuple(
        Path((gpu, leaf, spine, other, far), count)
        for spine, count in zip(spines, (1, 3), strict=True)
    )
    made = StepSchedule(
        net,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        Sends.of([Send(0, 0, 0, 1)]),
        Routes.from_paths({(0, 1): ways}),
    )
    verify(made)
    found = cost(made)
    load = {
        (link.tail, link.head): Fraction(n, found.whole)
        for link, n in zip(net.links, found.loads, strict=True)
    }
    assert load[leaf, spines[0]] == Fraction(1, 4)
    assert load[spines[1], other] == Fraction(3, 4)


def test_huge_sizes_are_added_up_exactly() -> None:
    """Where 64 bits are too few, Python's whole numbers take over."""
    made = doubling()
    size = 2**62
    huge = replace(made, chunks=Chunks.equal([-1], whole=size, size=size))
    assert verify(huge).time_s_per_gb == cost(huge).time_s_per_gb == 1
    assert verify(huge).synchronous_s_per_gb == synchronous(huge).time_s_per_gb == 2


@pytest.mark.parametrize(("cells", "edges"), [(1, 1), (30, 10), (10**6, 10**6)])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
@pytest.mark.each_value_once
def test_hops_are_counted_as_lockstep_writes_them(
    collective: str, cells: int, edges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the blocks in which trees are looked at, the steps are those of ``lockstep``."""
    monkeypatch.setattr(step_loads, "_CELLS", cells)
    monkeypatch.setattr(step_loads, "_EDGES", edges)
    forest = METHODS["ring"].run(load_topology("mi250:boxes=2,gpus_per_box=8"), collective)
    written = lockstep(forest)
    assert synchronous(forest) == synchronous(written)
    assert synchronous(forest).time_s_per_gb == slowest_links(written)
    assert synchronous(forest).steps == 15


def test_transfers_without_a_route_have_no_cost() -> None:
    """It is not charged to another link."""
    made = LITERALS["BFB on K(2,2)"].make()
    head = made.sends.head.copy()
    head[0] = made.sends.tail[0]
    lost = replace(made, sends=replace(made.sends, head=head))
    for measure in (cost, synchronous):
        with pytest.raises(VerificationError, match="no route, or its steps have gaps"):
            measure(lost)


def test_shares_without_a_small_common_part_are_added_up_exactly() -> None:
    """Pairs of a damaged mesh have many numbers of paths; no parts of 64 bits suit all."""
    net = holed_mesh()
    made = METHODS["direct"].run(net, "all-to-all")
    assert isinstance(made, StepSchedule)
    assert math.lcm(*np.diff(made.routes.first_path).tolist()) > 2**50
    found = cost(made)
    expected = dict.fromkeys(net.link_between, Fraction(0))
    for paths in made.routes.paths().values():
        for path in paths:
            for hop in pairwise(path.nodes):
                expected[hop] += Fraction(1, net.num_compute * len(paths))
    assert [Fraction(load, found.whole) for load in found.loads] == [
        expected[link.tail, link.head] for link in net.links
    ]
