"""Programs without switches at the ends of their transfers: same links, same data."""

from collections import Counter
from itertools import pairwise

import pytest

from forestcoll import Program, compile_program, generate
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.schedule import Chunks, Send, stepwise, verify
from forestcoll.topology import NodeKind, Topology, load_topology
from tests.baselines.claims import make
from tests.hand_networks import network_of
from tests.schedule.made.programs import by_hand, rows
from tests.schedule.made.run_program import delivers

ALONG_LINKS = [
    ("allgather", "dgx_a100:boxes=2"),
    ("reduce-scatter", "dgx_a100:boxes=2,nics=nodes"),
    ("allreduce", "mi250:boxes=2,gpus_per_box=8"),
    ("broadcast", "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2"),
    ("reduce", "rail_optimized:boxes=3,gpus_per_box=2,spines=2"),
    ("all-to-all", "fat_tree:leaves=3,hosts=1,spines=2"),
]
"""What TE-CCL does on networks whose switches neither copy nor add."""


def star(gpus: int, *, multicast: bool = False) -> Topology:
    """GPUs around a switch that may keep what it gets; it is the end behind the last GPU."""
    return network_of(f"g0..{gpus - 1} [hub{'*' * multicast}+]", f"g0..{gpus - 1} - hub", "star")


def loads(program: Program) -> Counter[tuple[int, int]]:
    """Units over each link."""
    found: Counter[tuple[int, int]] = Counter()
    for path, amount in zip(program.path.tolist(), program.amount.tolist(), strict=True):
        nodes = program.paths.nodes(path)
        for link in pairwise(nodes):
            found[link] += amount
    return found


@pytest.mark.parametrize(("collective", "name"), ALONG_LINKS)
def test_data_and_loads_stay_the_same(collective: str, name: str) -> None:
    """No end is a switch, every path begins and ends at its GPUs, and it is right."""
    program = compile_program(make("teccl", collective, name))
    gpus = program.topology.num_compute
    assert (program.head >= gpus).any()
    joined = between_gpus(program)
    assert max(joined.tail.max(), joined.head.max()) < gpus
    assert loads(joined) == loads(program)
    assert delivers(joined)
    assert verify(stepwise(joined)).collective == collective
    for transfer, path in enumerate(joined.path.tolist()):
        *_, head = nodes = joined.paths.nodes(path)
        ends = joined.topology.ends
        assert nodes[0] == ends[joined.tail[transfer]]
        assert head == ends[joined.head[transfer]]
        between = [joined.topology.nodes[node].kind for node in nodes[1:-1]]
        assert all(kind is NodeKind.SWITCH for kind in between)


def test_transfers_that_split_at_a_switch_become_separate() -> None:
    """Two units go in together, one each to two GPUs, and from there on to the last one."""
    chunks = Chunks.equal([0], 2)
    sends = [
        Send(0, 0, 0, 4, amount=2),
        Send(1, 0, 4, 1, first=0, amount=1),
        Send(1, 0, 4, 2, first=1, amount=1),
        Send(2, 0, 2, 4, first=1, amount=1),
        Send(3, 0, 4, 3, first=1, amount=1),
    ]
    program = compile_program(by_hand(star(4), "broadcast", chunks, sends))
    joined = between_gpus(program)
    assert rows(joined) == [(0, 0, 1, 0, 1), (0, 1, 1, 0, 2), (0, 1, 1, 2, 3, 1)]
    assert joined.step.tolist() == [0, 0, 2]
    assert [joined.paths.nodes(path) for path in joined.path.tolist()] == [
        (0, 4, 1),
        (0, 4, 2),
        (2, 4, 3),
    ]


def test_a_sum_goes_through_a_switch_that_stores() -> None:
    """Two GPUs reduce to the third, one after the other over the switch: both are still sums."""
    sends = [
        Send(0, 0, 0, 3, reduce=True),
        Send(1, 0, 3, 1, reduce=True),
        Send(2, 0, 1, 3, reduce=True),
        Send(3, 0, 3, 2, reduce=True),
    ]
    joined = between_gpus(compile_program(by_hand(star(3), "reduce", Chunks.equal([2], 1), sends)))
    assert rows(joined) == [(0, 0, 1, 0, 1), (0, 0, 1, 1, 2, 0)]
    assert joined.reduce.all()


def test_switches_that_copy_or_add_are_refused() -> None:
    """No transfers between GPUs load the links as they do."""
    broadcast = [Send(0, 0, 0, 3), Send(1, 0, 3, 1), Send(1, 0, 3, 2)]
    copies = by_hand(star(3, multicast=True), "broadcast", Chunks.equal([0], 1), broadcast)
    with pytest.raises(UnsupportedError, match=r"switch hub multicasts data .* multicast$"):
        between_gpus(compile_program(copies))
    reduce = [
        Send(0, 0, 0, 3, reduce=True),
        Send(0, 0, 1, 3, reduce=True),
        Send(1, 0, 3, 2, reduce=True),
    ]
    adds = by_hand(star(3, multicast=True), "reduce", Chunks.equal([2], 1), reduce)
    with pytest.raises(UnsupportedError, match="switch hub reduces data "):
        between_gpus(compile_program(adds))
    forest = generate(load_topology("dgx_h100:boxes=1"), multicast=True).schedule
    with pytest.raises(UnsupportedError, match="multicasts data"):
        between_gpus(compile_program(forest))


def test_forests_are_left_as_they_are() -> None:
    """Their transfers cross switches on their paths, from GPU to GPU."""
    program = compile_program(generate("dgx_a100:boxes=2").schedule)
    assert between_gpus(program) is program
