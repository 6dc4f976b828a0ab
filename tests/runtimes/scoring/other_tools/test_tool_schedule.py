"""Transfers of a file as a step schedule, by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.runtimes.scoring.least_hops import paths_between
from forestcoll.runtimes.scoring.other_tools.tool_schedule import (
    as_the_file_has_it,
    cut_at_multicast_switches,
    tool_schedule,
)
from forestcoll.runtimes.scoring.other_tools.tool_score import score_transfers
from forestcoll.schedule import Sends, verify
from forestcoll.schedule.sends import Send
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.runtimes.scoring.tool_documents import (
    ring_sentences,
    sccl,
    sccl_file,
    star_with_a_link,
    teccl,
    teccl_all_to_all,
    teccl_allgather,
)


def paths(schedule: StepSchedule) -> dict[str, list[str]]:
    names = [node.name for node in schedule.topology.nodes]
    found = schedule.routes.paths().values()
    return {
        names[group[0].nodes[0]] + names[group[0].nodes[-1]]: [
            "".join(names[node] for node in path.nodes) for path in group
        ]
        for group in found
    }


def test_epochs_become_steps_without_gaps() -> None:
    """Epochs 0, 2 and 4; nothing is written out that goes without saying."""
    transfers = teccl(teccl_allgather(ring_sentences(4)))
    schedule = tool_schedule(transfers, load_topology("ring:nodes=4"))
    assert schedule.num_steps == 3
    assert (schedule.method, schedule.collective) == ("TE-CCL", "allgather")
    assert (schedule.sends.interval, schedule.sends.path) == (None, None)
    assert verify(schedule).deliveries == 12


SENTENCES = [
    "Chunk 0 from 1 traveled over 1->2 in epoch 0 via switches 0",
    *(f"Chunk 0 from {s} traveled over {s}->{t} in epoch 0" for s, t in ((1, 3), (2, 3), (2, 1))),
    *(f"Chunk 0 from 3 traveled over 3->{t} in epoch 0 via switches 0" for t in (1, 2)),
]


def test_transfers_that_are_said_to_go_through_switches_do() -> None:
    """Though a link joins a and b; what the file says nothing of goes by fewest links."""
    schedule = tool_schedule(teccl(teccl_allgather(SENTENCES)), star_with_a_link())
    ways = paths(schedule)
    assert (ways["ab"], ways["ba"], ways["ac"]) == (["asb"], ["ba"], ["asc"])


def test_a_pair_with_both_kinds_names_the_path_of_each_transfer() -> None:
    """Two chunks from a to b, one over the link and one over the switch."""
    two = [line.replace("Chunk 0", f"Chunk {chunk}") for line in SENTENCES for chunk in (0, 1)]
    two[1] = two[1].removesuffix(" via switches 0")
    schedule = tool_schedule(teccl(teccl_allgather(two)), star_with_a_link())
    assert paths(schedule)["ab"] == ["ab", "asb"]
    verify(schedule)
    sends = schedule.sends
    named = {
        int(sends.chunk[i]): int(sends.path[i])
        for i in np.flatnonzero((sends.tail == 0) & (sends.head == 1))
        if sends.chunk[i] < 2
    }
    assert named == {0: 1, 1: 0}


def test_gpus_may_be_others_than_in_order() -> None:
    """A one-way line 0 -> 1 -> 2 in the file runs from c over a to b."""
    chunks = [([0], (0, 1, 2), 0)]
    transfers = sccl(sccl_file(3, chunks, [[[0, 0, 1]], [[0, 1, 2]]]))
    schedule = tool_schedule(transfers, star_with_a_link(), order=[2, 0, 1])
    assert schedule.chunks.root.tolist() == [2]
    assert list(zip(schedule.sends.tail, schedule.sends.head, strict=True)) == [(2, 0), (0, 1)]
    verify(schedule)


def test_a_network_of_another_size_is_refused() -> None:
    with pytest.raises(
        InvalidParameterError, match=r"the file is for 4 GPUs, and ring:nodes=3 has"
    ):
        tool_schedule(teccl(teccl_allgather(ring_sentences(4))), load_topology("ring:nodes=3"))


def test_a_hop_that_the_network_does_not_have_is_refused() -> None:
    """GPUs 0 and 2 of a ring of 4 have no link and no switch; a and b of two have no switch."""
    chunks = [([0], range(4), 0)]
    far = sccl(sccl_file(4, chunks, [[[0, 0, 2]]]))
    with pytest.raises(UnsupportedError, match="no path from gpu0 to gpu2 through switches"):
        tool_schedule(far, load_topology("ring:nodes=4"))
    net = network_of("a b", "a - b", "two")
    lines = [
        f"Chunk 0 from {s} traveled over {s}->{t} in epoch 0 via switches 0"
        for s, t in ((1, 2), (2, 1))
    ]
    with pytest.raises(UnsupportedError, match=r"no path from . to . through switches alone"):
        tool_schedule(teccl(teccl_allgather(lines)), net)


def test_a_message_has_the_file_s_names_too() -> None:
    transfers = teccl(teccl_allgather(ring_sentences(3)))
    text = as_the_file_has_it(transfers, "step 1, chunk 2, a -> b: not there")
    assert text == "step 1, chunk 2, a -> b: not there (in the file: epoch 2, chunk 0 from 3)"
    assert as_the_file_has_it(transfers, "chunk 9 is lost") == "chunk 9 is lost"


def copying(*names: str, wide: int = 2) -> Topology:
    """GPUs a and b at switch s, c at t; of s and t those named copy."""
    s, t = (f"[{switch}{'*' * (switch in names)}]" for switch in "st")
    return network_of(f"a b c {s} {t}", f"a b t - s: {wide}, t - c: {wide}", "two switches")


def cut(topology: Topology, *rows: Send) -> tuple[list[tuple[int, ...]], int]:
    sends = Sends.of(rows)
    through = sends.tail >= 0
    pairs = list(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    found, left, _, links = cut_at_multicast_switches(
        topology, sends, through, paths_between(topology, pairs, through=True)
    )
    assert left.sum() == len(found) - sum(
        (tail, head) in links for tail, head in zip(found.tail, found.head, strict=True)
    )
    return sorted(zip(found.step, found.chunk, found.tail, found.head, strict=True)), len(links)


def test_a_chunk_for_two_gpus_crosses_to_the_switch_once() -> None:
    """Ends 3 and 4 are s and t. From a to b and c in a step: a-s, s-b, s-t, t-c."""
    rows = (Send(0, 0, 0, 1), Send(0, 0, 0, 2))
    assert cut(copying("s", "t"), *rows) == (
        [(0, 0, 0, 3), (0, 0, 3, 1), (0, 0, 3, 4), (0, 0, 4, 2)],
        4,
    )


def test_in_two_steps_or_of_two_chunks_it_goes_twice() -> None:
    for rows in ((Send(0, 0, 0, 1), Send(1, 0, 0, 2)), (Send(0, 0, 0, 1), Send(0, 1, 0, 2))):
        found, _ = cut(copying("s", "t"), *rows)
        assert len(found) == 5


def test_a_path_with_a_switch_that_does_not_copy_is_left_whole() -> None:
    """From a to c over t, too; from a to b over s alone."""
    rows = (Send(0, 0, 0, 1), Send(0, 0, 0, 2))
    assert cut(copying("s"), *rows) == ([(0, 0, 0, 2), (0, 0, 0, 3), (0, 0, 3, 1)], 2)
    assert cut(copying(), *rows) == ([(0, 0, 0, 1), (0, 0, 0, 2)], 0)


MULTICAST_SENTENCES = [
    f"Chunk 0 from {s} traveled over {s}->{t} in epoch 0 via switches 0"
    for s in (1, 2, 3)
    for t in (1, 2, 3)
    if s != t
]


@pytest.mark.parametrize(("names", "link"), [((), 2), (("s", "t"), 1)])
def test_an_allgather_through_switches_that_copy(names: tuple[str, ...], link: int) -> None:
    """Shards of 1/3: a sends two, or one and it is copied; c gets two at 2 GB/s in any case."""
    topology = copying(*names)
    found = score_transfers(teccl(teccl_allgather(MULTICAST_SENTENCES)), topology)
    assert found.wrong is None
    verify(found.schedule)
    loads = {
        topology.nodes[e.tail].name + topology.nodes[e.head].name: load
        for e, load in zip(topology.links, found.measurement.loads, strict=True)
    }
    assert loads["as"] == Fraction(link, 3)
    assert loads["tc"] == loads["st"] == Fraction(2, 3)
    assert (found.measurement.algbw_gb_s, found.measurement.share) == (3, 1)


def test_a_chunk_that_comes_twice_is_found_behind_a_switch_too() -> None:
    twice = [*MULTICAST_SENTENCES, "Chunk 0 from 1 traveled over 2->3 in epoch 1 via switches 0"]
    found = score_transfers(teccl(teccl_allgather(twice)), copying("s", "t"))
    assert found.wrong is not None
    assert "t -> c: c has that already or gets it twice" in found.wrong


def test_an_all_to_all_is_not_copied() -> None:
    demands = {
        (s, t, t): [[f"{s}->{t} with volume 1.0 in epoch 0 via switches 0"]]
        for s in (1, 2, 3)
        for t in (1, 2, 3)
        if s != t
    }
    plain, marked = (
        score_transfers(teccl(teccl_all_to_all(demands)), topology)
        for topology in (copying(), copying("s", "t"))
    )
    assert replace(plain.measurement, bound=None) == replace(marked.measurement, bound=None)
