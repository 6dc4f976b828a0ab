"""What GPUs do for each piece, by hand."""

from forestcoll import compile_program
from forestcoll.runtimes.mscclpp.exporter.data_actions import DUE, MOST_SUMMANDS, OWN, Action
from forestcoll.schedule import Chunks, Send
from forestcoll.topology import load_topology
from tests.runtimes.mscclpp.exporter.made_plans import actions, down, program, swap, there_and_back
from tests.schedule.made.programs import by_hand


def row(action: Action) -> tuple[str, int, list[int], int, int]:
    """Kind, GPU, from whom the sources are, to which GPU it goes, from whom that place is."""
    sources = [slot.peer for slot in action.sources]
    return action.kind, action.gpu, sources, action.target.gpu, action.target.peer


def test_final_data_is_put_in_place_directly() -> None:
    """And is passed on from there; the root copies its own, the last one waits."""
    found, _ = actions(down())
    assert [row(one) for one in found] == [
        ("put", 0, [OWN], 1, DUE),
        ("put", 1, [DUE], 2, DUE),
        ("copy", 0, [OWN], 0, DUE),
        ("end", 2, [], 2, DUE),
    ]
    assert [one.level for one in found] == [0, 1, 0, 2]


def test_in_place_nothing_is_copied() -> None:
    assert "copy" not in {one.kind for one in actions(down(), in_place=True)[0]}


def test_summands_arrive_in_scratch() -> None:
    """The sum is the result of GPU 0; what comes back takes the place of GPU 1's part, which has
    been sent by then.
    """
    found, _ = actions(there_and_back())
    assert [row(one) for one in found] == [
        ("put", 1, [OWN], 0, 1),
        ("re", 0, [OWN, 1], 0, DUE),
        ("put", 0, [DUE], 1, DUE),
        ("end", 1, [], 1, DUE),
    ]


def test_a_sum_waits_for_all_that_reads_the_own_part() -> None:
    """In a swap each may add up only when it has sent: the sum may be where its part is."""
    found, _ = actions(swap())
    sums = {one.gpu: one for one in found if one.kind == "re"}
    puts = {one.gpu: one for one in found if one.kind == "put"}
    for gpu in (0, 1):
        assert set(sums[gpu].needs) == {puts[0], puts[1]}
        assert sums[gpu].target.peer == DUE


def test_a_result_that_comes_too_early_goes_to_scratch_first() -> None:
    """GPU 0 sends its part to 2 by 1, and gets the sum of 1 and 2 with its own from 2 by no way on
    which it is known that 1 has read it; here the own part is read by what comes later.
    """
    sends = [
        Send(0, 0, 0, 1, True),
        Send(1, 0, 1, 2, True),
        Send(2, 0, 2, 1),
        Send(2, 0, 2, 0),
    ]
    topology = load_topology("complete:nodes=3")
    made = compile_program(by_hand(topology, "allreduce", Chunks.equal([-1], 1), sends))
    found, _ = actions(made)
    for one in found:
        if one.kind == "put" and one.target.peer == DUE:
            before, left = set(), [one]
            while left:
                for need in left.pop().needs:
                    if need not in before:
                        before.add(need)
                        left.append(need)
            readers = [
                other
                for other in found
                if other.gpu == one.target.gpu and OWN in [slot.peer for slot in other.sources]
            ]
            assert set(readers) <= before


def test_many_summands_are_added_in_several_sums() -> None:
    """23 others send to one: 9, 9 and 5, then the three sums and the own part."""
    gpus = 24
    topology = load_topology(f"complete:nodes={gpus}")
    sends = [Send(0, 0, gpu, 0, True) for gpu in range(1, gpus)]
    made = compile_program(by_hand(topology, "reduce", Chunks.equal([0], 1), sends))
    sums = [one for one in actions(made)[0] if one.kind == "re"]
    assert [len(one.sources) for one in sums] == [9, 9, 5, 4]
    assert all(len(one.sources) <= MOST_SUMMANDS + 1 for one in sums)
    assert sums[-1].target.peer == DUE


def test_a_forwarded_sum_takes_the_place_of_its_first_summand() -> None:
    """GPU 1 of three adds what 2 sends, in the scratch where it came, and sends it to 0."""
    sends = [Send(0, 0, 2, 1, True), Send(1, 0, 1, 0, True)]
    found, _ = actions(program("reduce", 3, sends, root=0))
    (first, _) = [one for one in found if one.kind == "re"]
    assert (first.gpu, first.target.peer) == (1, 2)
    assert first.target in first.sources
