"""What NVLS sends through a switch besides, by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines import METHODS
from baselines.building.loopback import with_loopback
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.generation import generate
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.schedule import MulticastForest, cost, synchronous, verify
from forestcoll.topology import Topology, load_topology


def star(collective: str, topology: Topology | None = None) -> MulticastForest:
    """Eight GPUs around an NVSwitch that copies and adds."""
    topology = topology or load_topology("dgx_h100:boxes=1")
    root = 0 if collective == "broadcast" else None
    made = generate(topology, collective=collective, root=root, multicast=True).schedule
    assert isinstance(made, MulticastForest)
    return made


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_all_eight_parts_pass_the_switch(collective: str) -> None:
    """Seven of them take 7/8 of the time: 450 GB/s after 514.3; the walk back is the second one."""
    plain = star(collective)
    switch = plain.topology.position_of["b0.nvswitch"]
    made = with_loopback(plain, {switch})
    verify(made)
    assert cost(plain).algbw_gb_s == Fraction(450 * 8, 7)
    assert cost(made).algbw_gb_s == 450
    assert len(made.walk) == len(plain.walk) + made.num_batches
    assert made.loopback[made.first_walk[:-1] + 1].all()
    assert synchronous(made).steps == synchronous(plain).steps


def test_other_switches_send_nothing_back() -> None:
    """Such as SHARP's, between boxes."""
    plain = star("allgather")
    assert with_loopback(plain, ()) == replace(plain, optimum=None)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_programs_send_it_and_add_nothing_twice(collective: str) -> None:
    """One transfer more for each tree; what goes to the switch in vain waits for nothing."""
    plain = star(collective)
    made = with_loopback(plain, {plain.topology.position_of["b0.nvswitch"]})
    one, other = compile_program(plain), compile_program(made)
    assert other.num_transfers == one.num_transfers + made.num_batches
    if collective == "reduce-scatter":
        assert int(other.reduce.sum()) == one.num_transfers
        assert len(other.need) == len(one.need)


def test_a_link_back_must_be_there() -> None:
    """A GPU that the switch sends nothing to gets nothing back."""
    topology = load_topology("dgx_h100:boxes=1")
    plain = star("broadcast", topology)
    switch = topology.position_of["b0.nvswitch"]
    one_way = topology.without("b0.nvswitch -> b0.gpu0")
    moved = MulticastForest(**{**vars(plain), "topology": one_way})
    with pytest.raises(UnsupportedError, match=r"no link from b0\.nvswitch to b0\.gpu0$"):
        with_loopback(moved, {switch})


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_what_is_exported_is_without(collective: str) -> None:
    """The program of the same trees without it, transfer by transfer."""
    plain = star(collective)
    made = with_loopback(plain, {plain.topology.position_of["b0.nvswitch"]})
    one, other = compile_program(plain), compile_program(made, loopback=False)
    for name in ("chunk", "first", "amount", "tail", "head", "reduce", "first_need", "need"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert [one.paths.nodes(i) for i in one.path] == [other.paths.nodes(i) for i in other.path]


def test_nvls_is_exported_to_the_switch_channels_of_mscclpp() -> None:
    """As the instructions do: multimem.ld_reduce and multimem.st address all GPUs of the box."""
    made = METHODS["nccl-nvls"].run(load_topology("dgx_h100:boxes=1"))
    assert export(compile_program(made, loopback=False), MscclppOptions()).text
    with pytest.raises(UnsupportedError, match=r"without multicast$"):
        export(compile_program(made), MscclppOptions())
