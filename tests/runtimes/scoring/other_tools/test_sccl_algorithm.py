"""What algorithms of SCCL and TACCL say, by hand."""

from typing import Any

import pytest

from forestcoll.errors import InvalidScheduleError, UnsupportedError
from forestcoll.runtimes.scoring.other_tools.sccl_algorithm import is_sccl_algorithm
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolSend
from tests.runtimes.scoring.tool_documents import allreduce_of_a_ring, document, sccl, sccl_file

ALL = (0, 1, 2)


def test_an_allgather_of_sccl() -> None:
    """Two addresses a rank; what is listed first need not be address 0."""
    chunks = [([a // 2], ALL, a) for a in (5, 4, 3, 2, 1, 0)]
    found = sccl(sccl_file(3, chunks, [[[5, 2, 0]], [], [[5, 0, 1]]]))
    assert (found.tool, found.collective, found.gpus) == ("SCCL", "allgather", ALL)
    assert [chunk.root for chunk in found.chunks] == [0, 0, 1, 1, 2, 2]
    assert (found.whole, found.units) == (6, 1)
    assert found.sends == (ToolSend(0, 5, 2, 0), ToolSend(2, 5, 0, 1))


def test_addresses_may_have_gaps() -> None:
    found = sccl(sccl_file(3, [([rank], ALL, 10 * rank) for rank in ALL], [[[20, 2, 0]]]))
    assert found.sends == (ToolSend(0, 2, 2, 0),)
    assert found.chunks[2].name == "address 20"


def test_times_and_links_of_taccl_are_not_read() -> None:
    chunks = [([rank], ALL, rank) for rank in ALL]
    found = sccl(sccl_file(3, chunks, [[[2, 2, 0, 37, 1]]], kind="sccl_type"))
    assert found.tool == "TACCL"
    assert found.sends == (ToolSend(0, 2, 2, 0),)


def test_a_broadcast_and_a_reduce_have_a_root() -> None:
    out = sccl(sccl_file(3, [([1], ALL, a) for a in range(2)], [[[0, 1, 0]]]))
    assert (out.collective, out.root, out.whole) == ("broadcast", 1, 2)
    into = sccl(sccl_file(3, [([rank], [1], 0) for rank in ALL], [[[0, 2, 1]]]))
    assert (into.collective, into.root, into.whole) == ("reduce", 1, 1)
    assert into.sends == (ToolSend(0, 0, 2, 1, adds=True),)


def test_sends_of_a_reduction_add_unless_marked_otherwise() -> None:
    """Three addresses, each with a part of every rank; TACCL says which sends add."""
    parts = [([rank], [address], address) for address in ALL for rank in ALL]
    plain = sccl(sccl_file(3, parts, [[[0, 1, 0]]]))
    assert plain.collective == "reduce-scatter"
    assert [one.adds for one in plain.sends] == [True]
    text = sccl(sccl_file(3, parts, [[[0, 1, 0, 5, 0, None], [1, 0, 1, 5, 0, "rrc"]]]))
    assert [one.adds for one in text.sends] == [False, True]
    short = sccl(sccl_file(3, parts, [[[0, 1, 0, None], [1, 0, 1, "rrc"], [2, 0, 2, 5]]]))
    assert [one.adds for one in short.sends] == [False, True, True]


def test_an_all_to_all_by_pairs() -> None:
    """Rank 2 has address 5 for rank 1; a GPU sends 3 of 9 addresses, one to itself."""
    chunks = [([a % 3], [a // 3], a) for a in range(9)]
    found = sccl(sccl_file(3, chunks, [[[5, 2, 1]]]))
    assert (found.collective, found.whole) == ("all-to-all", 3)
    assert (found.chunks[5].root, found.chunks[5].target) == (2, 1)


def test_an_allreduce_of_taccl_counts_its_addresses_in_the_instance() -> None:
    """One buffer is listed, three addresses are sent."""
    found = sccl(allreduce_of_a_ring(3))
    assert (found.collective, found.whole, len(found.chunks)) == ("allreduce", 3, 3)
    assert [one.adds for one in found.sends] == [True] * 6 + [False] * 6


def test_other_objects_are_no_algorithm() -> None:
    topology = {"msccl_type": "topology", "name": "DGX1", "switches": [], "links": []}
    assert is_sccl_algorithm(document(topology))
    with pytest.raises(InvalidScheduleError, match="is 'topology' of SCCL's; an algorithm has"):
        sccl(topology)
    assert not is_sccl_algorithm(document({"name": "x"}))


@pytest.mark.parametrize(
    ("chunks", "why"),
    [
        ([([0], [rank], rank) for rank in ALL], "different numbers of addresses, or none"),
        ([([rank], [0], rank) for rank in ALL], "different numbers of addresses, or none"),
        ([([0], ALL, 0), ([0], ALL, 1), ([1], ALL, 2)], "ranks have different numbers"),
        ([([0], [0, 1], 0)], "several ranks, but not all"),
        ([([0, 1], ALL, 0)], "chunk 0 is at 2 ranks at first"),
        ([([rank], [*range(rank, 3)], 0) for rank in ALL], "end at different ranks"),
        ([([0], [2], 0), ([1], [2], 0)], "parts of some ranks, but not of all"),
    ],
)
def test_refused_collectives(chunks: list[tuple[list[int], list[int], int]], why: str) -> None:
    """A scatter, a gather, unequal parts, a group, copies at first, a scan, a partial sum."""
    with pytest.raises(UnsupportedError, match=f"is none that is known here: .*{why}"):
        sccl(sccl_file(3, chunks, [[[0, 0, 1]]]))


def changed(*where: str | int, to: Any) -> dict[str, Any]:
    data = sccl_file(3, [([rank], ALL, rank) for rank in ALL], [[[0, 0, 1]]])
    place: Any = data
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = to
    return data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (changed("collective", to=7), "collective is 7; it must be an object"),
        (changed("collective", "nodes", to="3"), "collective.nodes is '3'"),
        (changed("collective", "nodes", to=10**9), "from 1 to 100000"),
        (changed("collective", "nodes", to=True), "collective.nodes is True"),
        (changed("collective", "chunks", to=[]), "collective.chunks is empty"),
        (changed("collective", "chunks", to={}), "collective.chunks is {}; it must be a list"),
        (changed("collective", "chunks", 0, "pre", to=0), r"chunks\[0\].pre is 0"),
        (changed("collective", "chunks", 0, "pre", to=[3]), r"chunks\[0\].pre\[0\] is 3"),
        (changed("collective", "chunks", 0, "addr", to=10**7), r"chunks\[0\].addr is 10000000"),
        (changed("steps", to=None), "steps is None; it must be a list"),
        (changed("steps", 0, to=[]), r"steps\[0\] is \[\]; it must be an object"),
        (changed("steps", 0, "sends", to=3), r"steps\[0\].sends is 3"),
        (changed("steps", 0, "sends", 0, to=[0, 1]), r"sends\[0\] is \[0, 1\]; it must be"),
        (changed("steps", 0, "sends", 0, to=[0, 1, 1]), "is from 1 to itself"),
        (changed("steps", 0, "sends", 0, to=[0, 1, 3]), r"sends\[0\]\[2\] is 3"),
        (changed("steps", 0, "sends", 0, to=[0, 1.5, 2]), r"sends\[0\]\[1\] is '1.5'"),
        (changed("steps", 0, "sends", 0, to=[9, 1, 2]), "is of address 9, which no chunk"),
        (changed("steps", 0, "sends", 0, to=[0, 0, 1, 1, 1, "x"]), "must be 'rrc'"),
        ({"msccl_type": ["algorithm"]}, "an algorithm has steps"),
    ],
)
def test_unexpected_content_is_reported_with_its_place(data: object, problem: str) -> None:
    with pytest.raises(InvalidScheduleError, match=problem):
        sccl(data)


def test_an_allreduce_with_fewer_chunks_in_its_instance_is_reported() -> None:
    data = allreduce_of_a_ring(3)
    data["instance"]["chunks"] = 2
    with pytest.raises(InvalidScheduleError, match="is of address 2, which no chunk"):
        sccl(data)
    data["instance"] = None
    with pytest.raises(InvalidScheduleError, match="instance is None; it must be an object"):
        sccl(data)
