"""Merged planes have the rate of the real ones, and what claims so wrongly is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.networks.planes import Planes, Selection, find_planes
from baselines.registry import METHODS
from experiments.measures.plane_shares import check_planes
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import cost, verify
from forestcoll.topology import (
    Link,
    Node,
    NodeKind,
    SharedCapacity,
    Topology,
    load_topology,
)
from tests.baselines.planes import split
from tests.hand_networks import network_of


def two_planes() -> Topology:
    """Two GPUs, linked to one switch by 3 GB/s and to another by 1 GB/s."""
    return network_of(
        "[s0]@0 [s1]@0 gpu0@0.0 gpu1@0.1", "gpu0 gpu1 - s0: 3, gpu0 gpu1 - s1", "two planes"
    )


def planes_of(first: str = "3/4", second: str = "1/4") -> Planes:
    """The planes of these, with other shares than 3/4 and 1/4 of the data if so given."""
    found = find_planes(two_planes())
    one, other = found.selections
    return replace(
        found,
        selections=(
            replace(one, share=Fraction(first)),
            replace(other, share=Fraction(second)),
        ),
    )


@pytest.mark.parametrize("spec", ["nvl72:racks=2", "dgx_a100:boxes=2"])
def test_planes_that_are_found_are_right(spec: str) -> None:
    """18 switches of 50 GB/s a GPU are one of 900; rails of their own GPUs stay as they are."""
    check_planes(find_planes(load_topology(spec)))


def test_shares_in_proportion_are_right() -> None:
    """3/4 of 4 GB/s over 3 GB/s, 1/4 of 4 over 1."""
    check_planes(planes_of())


@pytest.mark.parametrize(
    ("first", "second", "fault"),
    [
        ("1/2", "1/2", "s1 -> gpu0 has 1 GB/s; merged planes need 2"),
        ("1/4", "3/4", "s1 -> gpu0 has 1 GB/s; merged planes need 3"),
        ("3/4", "1/8", "not parts of one"),
        ("1", "0", "not parts of one"),
        ("5/4", "-1/4", "not parts of one"),
    ],
)
def test_wrong_shares_are_refused(first: str, second: str, fault: str) -> None:
    """Half of 4 GB/s is 2, and more than the 1 GB/s of the narrow plane."""
    with pytest.raises(VerificationError, match=fault):
        check_planes(planes_of(first, second))


@pytest.mark.parametrize(("share", "fits"), [("1/2", False), ("3/4", True)])
def test_shares_of_huge_bandwidths_are_exact(share: str, fits: bool) -> None:
    """In whole units these bandwidths need more than 64 bits."""
    found = planes_of(share, str(1 - Fraction(share)))
    huge = Fraction(10**20, 3)
    wide = replace(
        found, topology=found.topology.scaled("*", huge), merged=found.merged.scaled("*", huge)
    )
    if fits:
        check_planes(wide)
        return
    fault = f"s1 -> gpu0 has {huge} GB/s; merged planes need {2 * huge}"
    with pytest.raises(VerificationError, match=fault):
        check_planes(wide)


@pytest.mark.parametrize(("real", "merged"), [(1, 2**61), (2**61, 1), (0, 0)])
def test_sums_of_loads_and_large_bandwidths_do_not_overflow(real: int, merged: int) -> None:
    """Eight selections of 1/8 add up to 2^64 parts of 1/8 GB/s; the last pair has no link."""
    nodes = (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE))
    one, other = (
        Topology("pair", nodes, tuple(Link(*ends, Fraction(width)) for ends in ((0, 1), (1, 0))))
        if width
        else Topology("pair", nodes, ())
        for width in (real, merged)
    )
    planes = Planes(one, other, tuple(Selection(Fraction(1, 8), (0, 1)) for _ in range(8)))
    if real >= merged:
        check_planes(planes)
        return
    with pytest.raises(VerificationError, match=f"a -> b has 1 GB/s; merged planes need {merged}"):
        check_planes(planes)


def test_no_selection_is_refused() -> None:
    with pytest.raises(VerificationError, match="not parts of one"):
        check_planes(replace(planes_of(), selections=()))


@pytest.mark.parametrize(
    ("node", "fault"),
    [
        (lambda node: node[:-1], "one node twice, or not all"),
        (lambda node: (node[1], *node[1:]), "one node twice, or not all"),
        (lambda node: (node[0], node[2], node[1]), "a GPU for another"),
    ],
)
def test_wrong_nodes_are_refused(node: object, fault: str) -> None:
    """Nodes of the merged network are a switch and two GPUs."""
    found = planes_of()
    assert callable(node)
    assert [one.is_switch for one in found.merged.nodes] == [True, False, False]
    wrong = tuple(Selection(one.share, node(one.node)) for one in found.selections)
    with pytest.raises(VerificationError, match=fault):
        check_planes(replace(found, selections=wrong))


@pytest.mark.parametrize("mark", ["multicast", "stores"])
def test_switches_that_do_less_are_refused(mark: str) -> None:
    """The merged switch is marked, those that it stands for are not."""
    found = planes_of()
    nodes = (replace(found.merged.nodes[0], **{mark: True}), *found.merged.nodes[1:])
    marked = replace(found.merged, nodes=nodes)
    with pytest.raises(VerificationError, match="s0 is not what s0 is"):
        check_planes(replace(found, merged=marked))


def test_a_link_that_is_not_there_is_refused() -> None:
    """The narrow plane sends nothing to gpu0."""
    found = planes_of()
    with pytest.raises(VerificationError, match="s1 -> gpu0 has 0 GB/s; merged planes need 1"):
        check_planes(replace(found, topology=two_planes().without("s1 -> gpu0")))


def test_shared_capacities_are_not_proved() -> None:
    """A limit on both links of a GPU."""
    found = planes_of()
    real = found.topology
    out = tuple((link.tail, link.head) for link in real.links if link.tail == real.compute[0])
    limited = replace(real, shared=(SharedCapacity("out", out, Fraction(4)),))
    with pytest.raises(VerificationError, match="share a capacity"):
        check_planes(replace(found, topology=limited))


@pytest.mark.parametrize("parts", [(1, 1), (5, 4)])
@pytest.mark.parametrize("collective", ["allreduce", "allgather"])
@pytest.mark.parametrize("spec", ["dgx_h100:boxes=2", "dgx_h100:boxes=1"])
def test_methods_agree_on_merged_planes(spec: str, collective: str, parts: tuple[int, int]) -> None:
    """What is spread over the planes and verified there takes as long as before."""
    real = split(load_topology(spec), parts)
    planes = find_planes(real)
    check_planes(planes)
    for name in ("ring", "nccl-tree", "nccl-nvls", "nccl-nvls-tree"):
        if collective not in METHODS[name].collectives:
            continue
        try:
            made, merged = (METHODS[name].run(n, collective) for n in (real, planes.merged))
        except UnsupportedError:
            continue
        verify(made)
        verify(merged)
        assert cost(made).time_s_per_gb == cost(merged).time_s_per_gb
