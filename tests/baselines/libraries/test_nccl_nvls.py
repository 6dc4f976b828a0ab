"""NVLS and NVLS trees, by hand."""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

import pytest

from baselines import METHODS
from baselines.libraries import nccl_nvls
from baselines.libraries.nccl_nvls import generate, generate_tree, with_loopback
from baselines.libraries.nccl_tree import generate as generate_nccl_tree
from forestcoll import optimum
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.generation import generate as generate_forest
from forestcoll.in_network.pruning import multicast
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.schedule import Allreduce, Forest, MulticastForest, cost, synchronous, verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of

NVSWITCH, NIC = 450, 50
"""GB/s of a DGX H100."""


def rate(made: MulticastForest | Allreduce[MulticastForest]) -> Fraction:
    """Its algbw in GB/s, once it is proved."""
    verify(made)
    return cost(made).algbw_gb_s


@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        # A GPU sends all 8 slices to be added, its own too, and the total of its own to be copied.
        ("dgx_h100:boxes=1", Fraction(NVSWITCH * 8, 9)),
        # A rail has M/8. In a ring of B heads each sends (B - 1)/B of it to be added, and again.
        ("dgx_h100:boxes=2", NIC * 8),
        ("dgx_h100:boxes=4", Fraction(NIC * 8 * 2, 3)),
        ("dgx_h100:boxes=8", Fraction(NIC * 8 * 4, 7)),
        ("rail_optimized:boxes=4", Fraction(NIC * 8 * 2, 3)),
        # With SHARP a head sends its sum once: as the root the total, else what is added.
        ("dgx_h100:boxes=2,sharp=true", NIC * 8),
        ("dgx_h100:boxes=4,sharp=true", NIC * 8),
        ("dgx_h100:boxes=16,sharp=true", NIC * 8),
        ("dgx_h100:boxes=3,ib_switches=2,sharp=true", NIC * 8),
        # Two boxes of 4b: a ring of two heads over b each.
        ("paper_example:multicast=true", 4),
    ],
)
def test_allreduces_by_hand(spec: str, algbw_gb_s: int | Fraction) -> None:
    """NVSwitches bound it in a box, and NICs beyond."""
    assert rate(generate(load_topology(spec))) == algbw_gb_s


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        # All that a GPU gets comes from the switch, its own shard too; busbw is 7/8 of 450, 393.75.
        ("dgx_h100:boxes=1", Fraction(NVSWITCH)),
        ("dgx_h100:boxes=2", Fraction(NVSWITCH)),
        ("dgx_h100:boxes=8", Fraction(NVSWITCH)),
        # Each NIC carries 15 of the 128 shards.
        ("dgx_h100:boxes=16", Fraction(NIC * 128, 15)),
        ("dgx_h100:boxes=16,sharp=true", Fraction(NIC * 128, 15)),
    ],
)
def test_shards_by_hand(spec: str, collective: str, algbw_gb_s: Fraction) -> None:
    topology = load_topology(spec)
    assert rate(generate(topology, collective)) == algbw_gb_s <= optimum(topology).algbw_gb_s


def test_planes_are_counted() -> None:
    """18 switches of 50 GB/s for each of 72 GPUs: 900 in all, of which 72/73 are left."""
    made = METHODS["nccl-nvls"].run(load_topology("nvl72"))
    assert isinstance(made, Allreduce)
    assert rate(made) == Fraction(900 * 72, 73)


@pytest.mark.parametrize("boxes", [2, 4, 5, 8, 16])
def test_trees_load_nics_as_trees_without_nvls_do(boxes: int) -> None:
    """From four boxes on four halves of M/8 a NIC; on two, two; and less on NVSwitches."""
    topology = load_topology(f"dgx_h100:boxes={boxes}")
    found = rate(generate_tree(topology))
    assert found == (NIC * 8 if boxes == 2 else NIC * 4)
    assert found >= cost(generate_nccl_tree(topology)).algbw_gb_s


def test_each_gpu_sends_nine_eighths_of_the_data_in_a_box() -> None:
    """All of it to be added and the total of its slice; it takes in that, and all totals."""
    made = generate(load_topology("dgx_h100:boxes=1"))
    verify(made)
    found = cost(made)
    assert {Fraction(load, found.whole) for load in found.loads} == {Fraction(9, 8)}


def test_a_reduce_scatter_sends_all_and_takes_in_a_share() -> None:
    """GPUs send all 8 parts to the switch, which sends each its sum; an allgather in reverse."""
    topology = load_topology("dgx_h100:boxes=1")
    switch = topology.position_of["b0.nvswitch"]
    for collective, sent, got in (("reduce-scatter", 1, 8), ("allgather", 8, 1)):
        made = generate(topology, collective)
        verify(made)
        found = cost(made)
        for load, link in zip(found.loads, topology.links, strict=True):
            part = sent if link.head == switch else got
            assert Fraction(load, found.whole) == Fraction(1, part)


@pytest.mark.parametrize("method", [generate_tree, lambda t: generate(t, between="ring")])
def test_only_the_switches_that_nvls_uses_copy(method: object) -> None:
    """Neither NVLS trees nor rings use SHARP where there is some."""
    assert callable(method)
    with_sharp = load_topology("dgx_h100:boxes=4,sharp=true")
    made = method(with_sharp)
    assert rate(made) == rate(method(load_topology("dgx_h100:boxes=4")))
    between = next(v for v, node in enumerate(with_sharp.nodes) if node.name == "ib")
    for phase in made.phases:
        assert phase.topology == with_sharp
        ends = {*phase.walks.tail.tolist(), *phase.walks.head.tolist()}
        assert between not in ends
        assert any(with_sharp.nodes[end].multicast for end in ends)


def test_sharp_multicasts_between_boxes() -> None:
    """The switch between boxes takes in each sum once, and sends the total to all."""
    made = generate(load_topology("dgx_h100:boxes=4,sharp=true"))
    verify(made)
    found, nodes = cost(made), made.topology.nodes
    for load, link in zip(found.loads, made.topology.links, strict=True):
        if "ib" in (nodes[link.tail].name, nodes[link.head].name):
            assert Fraction(load, found.whole) == Fraction(1, 8)


@pytest.mark.parametrize(
    ("spec", "dead", "algbw_gb_s"),
    [
        ("dgx_h100:boxes=2", ["b0.gpu2 - ib"], NIC * 7),
        ("dgx_h100:boxes=4,sharp=true", ["b0.gpu2 - ib"], NIC * 7),
        ("dgx_h100:boxes=2", [f"b0.gpu{i} - ib" for i in range(8) if i != 5], NIC),
    ],
)
def test_rails_are_as_many_as_nics(spec: str, dead: list[str], algbw_gb_s: int) -> None:
    """One dead NIC of 8 costs 1/8."""
    topology = without(spec, *dead)
    assert rate(generate(topology)) == algbw_gb_s
    assert rate(generate(topology, "allgather")) <= optimum(topology).algbw_gb_s


def test_shards_of_a_gpu_without_a_nic_go_over_all_rails() -> None:
    """It takes in all 16 shards from its switch; no NIC has more than 8/7 of a shard."""
    topology = without("dgx_h100:boxes=2", "b0.gpu2 - ib")
    assert rate(generate(topology, "allgather")) == NVSWITCH


def test_fewer_rails_use_fewer_nics() -> None:
    """Two of 8: a quarter."""
    assert rate(generate(load_topology("dgx_h100:boxes=2"), rails=2)) == NIC * 2


def two_gpus_linked() -> Topology:
    """A box with a slow link beside its switch."""
    return network_of("[w*]@0 gpu0@0.0 gpu1@0.1", "w - gpu0 gpu1: 9, gpu0 - gpu1", "linked")


def test_links_beside_the_switch_are_left_alone() -> None:
    """Both GPUs send all of the data to the switch to be added, and half of it as a total."""
    assert rate(generate(two_gpus_linked())) == 6


@pytest.mark.parametrize(
    ("spec", "parameters", "message"),
    [
        ("dgx_a100:boxes=2", {}, "NVLS needs a switch marked multicast that joins all GPUs of a"),
        ("dgx_h100:boxes=2,nvls=false", {}, "NVLS needs a switch marked multicast"),
        ("mi250:boxes=1", {}, "NVLS needs a switch marked|no path"),
        ("dgx_h100:boxes=2", {"between": "sharp"}, "SHARP needs a switch marked multicast"),
        ("fat_tree:leaves=3,hosts=1,spines=2", {}, "NVLS in .*, whose boxes have one GPU each"),
    ],
)
def test_unsupported_cases_give_the_reason(
    spec: str, parameters: dict[str, str], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: ({message})"):
        generate(load_topology(spec), **parameters)  # type: ignore[arg-type]


def test_a_tree_takes_two_boxes() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: dgx_h100:boxes=1 is a single box"):
        generate_tree(load_topology("dgx_h100:boxes=1"))


@pytest.mark.parametrize("method", ["nccl-nvls", "nccl-nvls-tree"])
def test_several_switches_out_of_proportion_are_reported(method: str) -> None:
    """Three chips join all GPUs; equal ones are one, but here two GPUs have a slow link each."""
    topology = load_topology("nvl72:gpus_per_rack=4,planes=3")
    made = METHODS["nccl-nvls"].run(topology)
    assert isinstance(made, Allreduce)
    assert rate(made) == 3 * 50 * Fraction(4, 5)
    slow = topology.scaled(["b0.gpu0 - b0.nvswitch0", "b0.gpu1 - b0.nvswitch1"], "1/2")
    message = (
        r"^unsupported: NVLS is laid over one switch of a box here; those from b0.gpu0 to b0.gpu3 "
        r"are joined by several side by side, b0.nvswitch2 among them, which count as one only "
        r"where all GPUs are linked to them in one proportion"
    )
    with pytest.raises(UnsupportedError, match=message):
        METHODS[method].run(slow, "allreduce")


def test_a_refusal_of_the_tree_names_no_method_that_also_refuses() -> None:
    """In a box whose switch does not copy there is no NVLS of any kind."""
    with pytest.raises(UnsupportedError, match=r"none joins those from b0\.gpu0 to b0\.gpu7"):
        generate_tree(load_topology("dgx_a100:boxes=1"))


def test_one_box_that_cannot_copy_is_enough_to_refuse() -> None:
    """The switch of box 1 is not marked."""
    topology = load_topology("dgx_h100:boxes=2")
    nodes = (replace(n, multicast=n.multicast and n.box == 0) for n in topology.nodes)
    with pytest.raises(UnsupportedError, match=r"^unsupported: NVLS .* from b1.gpu0 to b1.gpu7"):
        generate(replace(topology, nodes=tuple(nodes)))


def test_bad_parameters_are_named() -> None:
    topology = load_topology("dgx_h100:boxes=2")
    with pytest.raises(InvalidParameterError, match=r"^between is 'tree'; .* one of sharp, ring"):
        generate(topology, between="tree")
    with pytest.raises(InvalidParameterError, match=r"^rails is 0; it takes at least one"):
        generate_tree(topology, rails=0)


def star(collective: str, topology: Topology | None = None) -> MulticastForest:
    """Eight GPUs around an NVSwitch that multicasts and reduces."""
    topology = topology or load_topology("dgx_h100:boxes=1")
    root = 0 if collective == "broadcast" else None
    made = generate_forest(topology, collective=collective, root=root, multicast=True).schedule
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
def test_programs_for_export_have_no_loopback(collective: str) -> None:
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


def test_phases_that_are_mirror_images_get_one_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as one for each, which links of other widths in reverse need."""
    asked = []

    def counted(phase: MulticastForest, switches: Collection[int]) -> MulticastForest:
        asked.append(phase.reduction)
        return with_loopback(phase, switches)

    def apart(both: Allreduce[Forest]) -> Allreduce[MulticastForest]:
        made = multicast(both)
        return replace(made, reduce=replace(made.reduce, walk=made.reduce.walk.copy()))

    monkeypatch.setattr(nccl_nvls, "with_loopback", counted)
    topology = load_topology("dgx_h100:boxes=2")
    made = generate(topology)
    assert asked == [False]
    narrow = topology.scaled("b0.gpu0 -> b0.nvswitch", Fraction(1, 2))
    verify(generate(narrow))
    assert asked == [False, False, True]
    monkeypatch.setattr(nccl_nvls, "multicast", apart)
    assert generate(topology) == made
    assert asked == [False, False, True, False, True]
