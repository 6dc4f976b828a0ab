"""Schedules on merged networks, spread over the planes."""

import inspect
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines import METHODS
from baselines.building.over_planes import on_planes, over_planes
from baselines.networks.planes import find_planes
from forestcoll.errors import CapacityOverflowError, UnsupportedError
from forestcoll.generation import generate
from forestcoll.schedule import Allreduce, Forest, StepSchedule, cost, synchronous, verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.planes import split

H100 = (5, 5, 4, 4)
"""NVLinks of a GPU to its four NVSwitches, of 25 GB/s each."""


def h100(boxes: int = 1) -> Topology:
    """DGX H100 as they are wired."""
    whole = load_topology(f"dgx_h100:boxes={boxes}")
    return split(whole, H100, *(f"b{box}.nvswitch" for box in range(boxes)))


def loads(topology: Topology, method: str, collective: str) -> dict[str, Fraction]:
    """How busy the links between gpu0 and each switch are, in seconds per GB of data."""
    made = METHODS[method].run(topology, collective)
    verify(made)
    found = cost(made)
    nodes = topology.nodes
    return {
        f"{nodes[link.tail].name} -> {nodes[link.head].name}": Fraction(load, found.whole)
        / link.bandwidth_gb_s
        for load, link in zip(found.loads, topology.links, strict=True)
        if "b0.gpu0" in (nodes[link.tail].name, nodes[link.head].name)
    }


@pytest.mark.parametrize(
    ("method", "collective", "algbw_gb_s"),
    [
        # A GPU sends 7/8 of the data over 125 + 125 + 100 + 100 GB/s; widest path only: 125.
        ("ring", "allgather", Fraction(450 * 8, 7)),
        ("multitree", "allgather", Fraction(450 * 8, 7)),
        ("direct", "allgather", Fraction(450 * 8, 7)),
        ("direct", "all-to-all", Fraction(450 * 8, 7)),
        ("tacos", "allgather", Fraction(450 * 8, 7)),
        ("ring", "allreduce", Fraction(450 * 8, 14)),
    ],
)
def test_h100_links_are_equally_busy(method: str, collective: str, algbw_gb_s: Fraction) -> None:
    """Each has its share: 125/450 of what the GPU sends and takes in, or 100/450."""
    busy = loads(h100(), method, collective)
    assert len(busy) == 8
    assert set(busy.values()) == {1 / algbw_gb_s}


def test_a_forest_has_as_many_trees_more_as_it_needs() -> None:
    """Eight rings alike, so 5 : 5 : 4 : 4 of 18 trees a root are enough; two in equal planes."""
    whole = METHODS["ring"].run(load_topology("dgx_h100:boxes=1"))
    made = METHODS["ring"].run(h100())
    equal = METHODS["ring"].run(split(load_topology("dgx_h100:boxes=1"), (1, 1)))
    assert isinstance(whole, Forest)
    assert isinstance(made, Forest)
    assert isinstance(equal, Forest)
    assert (whole.k, made.k, equal.k) == (8, 18, 2)
    assert made.congestion == Fraction(18, 8) * whole.congestion == verify(made).congestion


def test_paths_beside_the_planes_stay_single() -> None:
    """In two boxes a ring leaves by the IB switch, which is one; paths inside become four."""
    topology = h100(2)
    made = METHODS["ring"].run(topology)
    verify(made)
    assert isinstance(made, Forest)
    for (tail, head), paths in made.routes.paths().items():
        inside = tail // 8 == head // 8
        assert len(paths) == (4 if inside else 1)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_switches_that_copy_do_so_in_every_plane(collective: str) -> None:
    """Trees once for each selection, over the switches of one plane each."""
    whole = load_topology("dgx_h100:boxes=2,sharp=true")
    one = METHODS["nccl-nvls"].run(whole, collective)
    made = METHODS["nccl-nvls"].run(split(whole, (1, 3)), collective)
    verify(made)
    assert cost(made).algbw_gb_s == cost(one).algbw_gb_s
    assert synchronous(made) == synchronous(one)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
def test_transfers_that_end_at_merged_switches_cut_chunks(collective: str) -> None:
    """TE-CCL sends to switches: 1/4 of each chunk over one plane, 3/4 over the other at once."""
    whole = load_topology("dgx_a100:boxes=1")
    parameters = {"work": 0, "epoch": "slowest", "milp": True}
    one = METHODS["teccl"].run(whole, collective, parameters)
    made = METHODS["teccl"].run(split(whole, (1, 3)), collective, parameters)
    verify(made)
    assert isinstance(one, StepSchedule)
    assert isinstance(made, StepSchedule)
    assert len(made.chunks) == 2 * len(one.chunks)
    assert len(made.sends) == 2 * len(one.sends)
    assert set(np.unique(made.chunks.size / made.chunks.size.min()).tolist()) == {1, 3}
    assert one.clock is not None
    assert made.clock is not None
    assert made.clock.finish_us == one.clock.finish_us
    assert cost(made).algbw_gb_s == cost(one).algbw_gb_s


def test_named_paths_are_those_of_the_parts() -> None:
    """Every transfer of this allreduce names its path; in two planes each has two."""
    whole = split(load_topology("dgx_h100:boxes=1"), (1, 1))
    planes = find_planes(whole)
    routed = METHODS["direct"].run(planes.merged)
    assert isinstance(routed, StepSchedule)
    links = np.searchsorted(
        routed.routes.tail * 8 + routed.routes.head, routed.sends.tail * 8 + routed.sends.head
    )
    path = routed.routes.first_path[links].astype(np.int32)
    named = replace(routed, sends=replace(routed.sends, path=path))
    made = over_planes(named, planes)
    verify(made)
    assert cost(made).algbw_gb_s == cost(routed).algbw_gb_s
    assert len(made.sends) == 2 * len(named.sends)
    assert made.sends.path is not None
    assert sorted(set(made.sends.path.tolist())) == list(range(2 * 56))


def test_without_parallel_switches_nothing_is_touched() -> None:
    """The very schedule comes back."""
    made = METHODS["ring"].run(load_topology("dgx_a100:boxes=2"))
    assert over_planes(made, find_planes(made.topology)) is made


def test_a_factored_forest_is_refused() -> None:
    """It does not say which tree takes which link."""
    planes = find_planes(h100())
    forest = generate(planes.merged, factored=True).schedule
    with pytest.raises(UnsupportedError, match=r"^unsupported: a factored forest"):
        over_planes(forest, planes)


def test_shares_beyond_64_bits_are_refused() -> None:
    """Bandwidths of 1 and 2^64 have shares of 1/(2^64 + 1); 1 and 2^61 do, but not 8 times."""
    topology = load_topology("dgx_h100:boxes=1")
    for most in (2**61, 2**64):
        planes = find_planes(split(topology, (1, most)))
        made = METHODS["ring"].run(planes.merged)
        with pytest.raises(CapacityOverflowError, match=r"in simpler proportions$"):
            over_planes(made, planes)


def test_a_method_sees_one_switch() -> None:
    """Whatever else it is called with is handed on, and its name and hints are kept."""

    def generate(topology: Topology, collective: str, *, rings: int = 1) -> Forest:
        """Say what comes in."""
        assert (len(topology.switches), collective, rings) == (1, "allgather", 3)
        made = METHODS["ring"].run(topology)
        assert isinstance(made, Forest)
        return made

    taking = on_planes(generate)
    assert taking(h100(), "allgather", rings=3).topology == h100()
    assert taking.__name__ == "generate"
    assert inspect.signature(taking) == inspect.signature(generate)


def test_both_phases_of_an_allreduce_are_spread() -> None:
    """And keep what is said of them."""
    planes = find_planes(h100())
    both = METHODS["ring"].run(planes.merged, "allreduce")
    assert isinstance(both, Allreduce)
    made = over_planes(replace(both, remark="by hand"), planes)
    assert made.remark == "by hand"
    assert made.reduce.topology is made.gather.topology is planes.topology
    verify(made)
