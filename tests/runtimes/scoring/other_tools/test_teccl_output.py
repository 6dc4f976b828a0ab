"""What TE-CCL's sentences say, by hand."""

from typing import Any

import pytest

from forestcoll.errors import InvalidScheduleError, UnsupportedError, VerificationError
from forestcoll.runtimes.scoring.other_tools.teccl_output import is_teccl_output
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolSend
from tests.runtimes.scoring.tool_documents import (
    document,
    ring_sentences,
    teccl,
    teccl_all_to_all,
    teccl_allgather,
)


def test_an_allgather_is_read_with_gpus_in_ascending_order() -> None:
    """Node 0 is a switch, so GPUs 2, 5 and 7 are ranks 0, 1 and 2; two chunks of each."""
    flows = [
        f"Chunk {chunk} from {source} traveled over {source}->{other} in epoch 3 via switches {via}"
        for source in (7, 2, 5)
        for other in {2, 5, 7} - {source}
        for chunk, via in enumerate(("0", "0 -> 9"))
    ]
    found = teccl(teccl_allgather(flows))
    assert (found.tool, found.collective, found.step_word) == ("TE-CCL", "allgather", "epoch")
    assert found.gpus == (2, 5, 7)
    assert [chunk.root for chunk in found.chunks] == [0, 0, 1, 1, 2, 2]
    assert found.chunks[3].name == "chunk 1 from 5"
    assert (found.units, found.whole) == (1, 6)
    assert ToolSend(3, 5, 2, 0, through=True) in found.sends
    assert not any(one.adds for one in found.sends)


def test_without_switches_a_hop_is_not_through_them() -> None:
    assert not any(one.through for one in teccl(teccl_allgather(ring_sentences(3))).sends)


def pairs(**given: list[list[str]]) -> dict[str, Any]:
    """An all-to-all of GPUs 1 and 2 whose chunk for 2 goes by the paths given."""
    back = [["2->1 with volume 1.0 in epoch 0"]]
    return teccl_all_to_all({(1, 2, 1): given["ways"], (2, 1, 0): back})


def test_paths_of_an_all_to_all_take_intervals_in_turn() -> None:
    """1/4 and 3/4 in quarters of a chunk; M is what a GPU sends to 2, itself included: 8 units."""
    found = teccl(
        pairs(
            ways=[
                ["1->2 with volume 0.25 in epoch 4 via switches 8->9"],
                ["1->2 with volume 0.75 in epoch 5"],
            ]
        )
    )
    assert (found.collective, found.units, found.whole) == ("all-to-all", 4, 8)
    assert [(chunk.root, chunk.target) for chunk in found.chunks] == [(0, 1), (1, 0)]
    assert found.sends == (
        ToolSend(4, 0, 0, 1, through=True, first=0, amount=1),
        ToolSend(5, 0, 0, 1, first=1, amount=3),
        ToolSend(0, 1, 1, 0, first=0, amount=4),
    )


def test_volumes_that_were_rounded_are_shares_of_their_sum() -> None:
    """Three times 0.333333 are a chunk: the millionth that is left goes to the first."""
    ways = [[f"1->2 with volume 0.333333 in epoch {epoch}"] for epoch in range(3)]
    found = teccl(pairs(ways=ways))
    assert [one.amount for one in found.sends] == [333334, 333333, 333333, 1000000]
    assert [one.first for one in found.sends] == [0, 333334, 666667, 0]


def test_floats_that_are_nearly_a_volume_are_that() -> None:
    """As sums of floats come out; the hops of a path differ by no more."""
    ways = [
        ["1->2 with volume 0.30000000000000004 in epoch 0"],
        ["1->2 with volume 0.7 in epoch 1"],
        ["1->2 with volume 1e-05 in epoch 2"],
    ]
    amounts = [one.amount for one in teccl(pairs(ways=ways)).sends]
    assert amounts == [299997, 699993, 10, 1000000]


def test_older_files_number_their_fields_otherwise() -> None:
    data = pairs(ways=[["1->2 with volume 1.0 in epoch 0"]])
    old = {"6-Flows": data["7-Flows"], "7-Chunk paths": data["8-Chunk paths"]}
    assert teccl(old) == teccl(data)


def test_its_input_is_none() -> None:
    assert is_teccl_output(document(teccl_allgather([])))
    assert not is_teccl_output(document({"TopologyParams": {"name": "DGX1"}}))
    assert not is_teccl_output(document([1]))


def test_a_chunk_that_is_never_sent_is_named() -> None:
    """However many the numbers promise: none is made up to find the first."""
    flows = ring_sentences(3)
    flows[0] = flows[0].replace("Chunk 0", "Chunk 999999999")
    with pytest.raises(VerificationError, match="chunk 1 from 1 is never sent"):
        teccl(teccl_allgather(flows))


def test_paths_that_carry_half_of_a_chunk_are_wrong() -> None:
    with pytest.raises(VerificationError, match=r"chunk 1 from 1 for 2: its paths carry 1/2 of it"):
        teccl(pairs(ways=[["1->2 with volume 0.5 in epoch 0"]]))
    with pytest.raises(VerificationError, match="its paths carry 0 of it"):
        teccl(pairs(ways=[]))


def test_hops_to_switches_are_refused() -> None:
    """As A* has them; the sentence is named."""
    flows = [*ring_sentences(3), "Chunk 0 from 1 traveled over 1->0 in epoch 0"]
    with pytest.raises(UnsupportedError, match=r"7-Flows\[6\] ends at 0, .* A\* has them"):
        teccl(teccl_allgather(flows))


GOOD = "Chunk 0 from 1 traveled over 1->2 in epoch 0"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"7-Flows": GOOD}, "7-Flows is .* must be a list"),
        ({"7-Flows": []}, "7-Flows is empty"),
        ({"7-Flows": [GOOD, 7]}, r"7-Flows\[1\] is 7; it must be such as"),
        ({"7-Flows": [GOOD + " "]}, r"7-Flows\[0\] is .* must be such as"),
        ({"7-Flows": [GOOD.replace("1->2", "1->-2")]}, r"7-Flows\[0\]"),
        ({"7-Flows": [GOOD.replace("epoch 0", "epoch " + "9" * 400)]}, r"7-Flows\[0\]"),
        ({"7-Flows": [GOOD, GOOD.replace(" in", " with volume 1.0 in")]}, r"7-Flows\[1\]"),
        ({"7-Flows": [GOOD.replace("1->2", "1->1")]}, "leads from 1 to itself"),
        ({"7-Flows": ["x with volume 1"]}, "has no '8-Chunk paths'"),
        ({"7-Flows": ["x with volume 1"], "8-Chunk paths": []}, "8-Chunk paths is"),
        ({"7-Flows": ["x with volume 1"], "8-Chunk paths": {"Demand": []}}, "must be such as"),
    ],
)
def test_malformed_fields_are_reported_with_their_place(data: object, problem: str) -> None:
    with pytest.raises(InvalidScheduleError, match=problem):
        teccl(data)


@pytest.mark.parametrize(
    ("ways", "problem"),
    [
        ("1->2", r"is '1->2'; it must be a list"),
        (["1->2 with volume 1.0 in epoch 0"], r"\[0\] is .* must be a list"),
        ([["1->2 in epoch 0"]], "must be such as"),
        ([[{"a": 1}]], "must be such as"),
        ([["1->2 with volume 1e-999 in epoch 0"]], "must be such as"),
        (
            [["1->2 with volume 1.0 in epoch 0"], ["1->2 with volume 0.0 in epoch 0"]],
            "has a path with volume 0",
        ),
        (
            [["1->3 with volume 1.0 in epoch 0", "3->2 with volume 0.5 in epoch 1"]],
            "hops differ in volume",
        ),
    ],
)
def test_paths_that_are_not_as_it_writes_them_are_reported(ways: object, problem: str) -> None:
    data = pairs(ways=[["1->2 with volume 1.0 in epoch 0"]])
    key = "Demand at 2 for chunk 1 from 1 met by epoch 9"
    data["8-Chunk paths"][key] = ways
    with pytest.raises(InvalidScheduleError, match=problem):
        teccl(data)
