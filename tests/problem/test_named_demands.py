"""Demands by name, in bytes by hand, and what is refused."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.named_demands import DEMANDS, named_demand, rank_of_gpu
from forestcoll.topology import load_topology

FOUR = load_topology("ring:nodes=4")
BOXES = load_topology("dgx_a100:boxes=2")

BY_HAND = {
    "all-to-all:size=4KB": [[0, 1024, 1024, 1024], [1024, 0, 1024, 1024],
                            [1024, 1024, 0, 1024], [1024, 1024, 1024, 0]],
    "sendrecv:size=7": [[0, 7, 0, 0], [0, 0, 7, 0], [0, 0, 0, 7], [7, 0, 0, 0]],
    "gather:size=40,root=gpu2": [[0, 0, 10, 0], [0, 0, 10, 0], [0, 0, 0, 0], [0, 0, 10, 0]],
    "gather:size=40": [[0, 0, 0, 0], [10, 0, 0, 0], [10, 0, 0, 0], [10, 0, 0, 0]],
    "scatter:size=40,root=3": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [10, 10, 10, 0]],
    "pipeline:size=5": [[0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, 5], [0, 0, 0, 0]],
    "pipeline:size=5,stages=2": [[0, 0, 5, 0], [0, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]],
    "zipf:size=1000,exponent=0": [[0, 250, 250, 250], [250, 0, 250, 250],
                                  [250, 250, 0, 250], [250, 250, 250, 0]],
    "all-to-all:size=3": [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]],
    "sendrecv:size=7,group=gpu3+gpu1": [[0, 0, 0, 0], [0, 0, 0, 7], [0, 0, 0, 0], [0, 7, 0, 0]],
    "all-to-all:size=8,group=gpu0+gpu2|gpu1+gpu3": [[0, 0, 4, 0], [0, 0, 0, 4],
                                                    [4, 0, 0, 0], [0, 4, 0, 0]],
    "gather:size=8,root=gpu1,group=gpu1+gpu0|gpu3+gpu1": [[0, 4, 0, 0], [0, 0, 0, 0],
                                                          [0, 0, 0, 0], [0, 4, 0, 0]],
}  # fmt: skip


@pytest.mark.parametrize("spec", BY_HAND)
def test_a_named_demand_by_hand(spec: str) -> None:
    made = named_demand(spec, FOUR)
    assert made.matrix.tolist() == BY_HAND[spec]
    assert made.name == spec


def test_every_name_is_written_out_above() -> None:
    assert {spec.partition(":")[0] for spec in BY_HAND} == set(DEMANDS)


def test_shares_by_zipf_s_law_in_an_order_of_each_gpu() -> None:
    """1000 bytes by 1, 1/2, 1/3, 1/4 of 25/12: 480, 240, 160, 120; one of them for itself."""
    amounts = named_demand("zipf:size=1000,seed=4", FOUR).matrix
    parts = [480, 240, 160, 120]
    for row in amounts.tolist():
        assert len({*row} - {0}) == 3
        assert {*row} - {0} < {*parts}
    assert (amounts != named_demand("zipf:size=1000,seed=5", FOUR).matrix).any()
    assert (amounts == named_demand("zipf:size=1000,seed=4", FOUR).matrix).all()


def test_the_size_is_64_mb_if_not_given() -> None:
    assert named_demand("sendrecv", FOUR).bytes == 4 * 64 * 2**20


def test_groups_are_boxes_and_indices_too() -> None:
    """An all-to-all in each pair of GPU i of box 0 and box 1: 16 parts of half of 2 bytes."""
    spec = "all-to-all:size=2,group=" + "|".join(f"*/{i}" for i in range(8))
    amounts = named_demand(spec, BOXES).matrix
    assert amounts.sum() == 16
    assert all(amounts[i, i + 8] == amounts[i + 8, i] == 1 for i in range(8))


REFUSED = {
    "all-to-al": "there is no demand 'all-to-al'; did you mean 'all-to-all'",
    "x" * 5000: "there is no demand 'xxx",
    "": "there is no demand ''; known: all-to-all, sendrecv,",
    "all-to-all:root=gpu1": "'root=gpu1' is not a parameter, or is given twice; it has size=...",
    "gather:root": "'root' is not a parameter",
    "gather:root=0,root=1": "'root=1' is not a parameter, or is given twice",
    "gather:root=gpu9": "gather: root: names 'gpu9', which is not a node; did you mean",
    "gather:root=9": "gather: root: names rank 9; ranks are 0 to 3",
    "gather:root=" + "9" * 5000: "gather: root: names",
    "gather:root=gpu0,group=gpu1+gpu2": "root 'gpu0' is outside a group",
    "all-to-all:group=gpu0+gpu9": "all-to-all: group: names 'gpu9', which is not a node",
    "all-to-all:group=gpu0": "group 'gpu0' must name two GPUs or more, each once",
    "all-to-all:group=": "group '' must name two GPUs or more",
    "all-to-all:group=gpu0+gpu1|": "group '' must name two GPUs or more",
    "all-to-all:group=gpu0+gpu0": "group 'gpu0.gpu0' must name two GPUs or more, each once",
    "all-to-all:size=0": "all-to-all: size has '0', which is 0 bytes",
    "all-to-all:size=-1": "all-to-all: size has '-1'; write bytes, or a size",
    "all-to-all:size=nan": "all-to-all: size has 'nan'",
    "all-to-all:size=1000T": r"all-to-all: size is \d+ bytes; at most 1e\+14",
    "sendrecv:size=90T": "bytes in all; at most",
    "pipeline:stages=3": "stages is 3; it must be 2 or more and divide the 4 GPUs",
    "pipeline:stages=1": "stages is 1",
    "pipeline:stages=0": "stages is 0",
    "pipeline:stages=x": "stages is 'x'; give a number",
    "pipeline:stages=-2": "stages is '-2'; it must be from 0 to",
    "pipeline:stages=" + "9" * 5000: "pipeline: stages is '999",
    "zipf:exponent=10.5": "exponent is 10.5; it must be from 0 to 10",
    "zipf:exponent=-1": "exponent is '-1'; it must be from 0",
    "zipf:exponent=nan": "exponent is 'nan'; it must be from 0",
    "zipf:exponent=1e999": "exponent is '1e999'; it must be from 0",
    "zipf:seed=1.5": "seed is '1.5'; give a number",
    "zipf:size=1,exponent=10": "the demand is empty",
}


@pytest.mark.parametrize("spec", REFUSED, ids=lambda spec: spec[:40])
def test_a_specification_that_is_refused(spec: str) -> None:
    with pytest.raises(InvalidParameterError, match=REFUSED[spec]) as caught:
        named_demand(spec, FOUR)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_a_group_of_a_switch_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="group: names 'ib', which is a switch"):
        named_demand("all-to-all:group=b0.gpu0+ib", BOXES)


def test_more_pairs_than_a_demand_may_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.problem.named_demands.MOST_CHUNKS", 15)
    with pytest.raises(InvalidParameterError, match="has 4 GPUs; a demand has at most 15 pairs"):
        named_demand("all-to-all", FOUR)
    assert named_demand("all-to-all:group=gpu0+gpu1", FOUR).num_chunks == 2


def test_a_gpu_by_name_or_rank() -> None:
    assert rank_of_gpu(BOXES, "b1.gpu0", "here") == rank_of_gpu(BOXES, 8, "here") == 8
    with pytest.raises(InvalidParameterError, match=r"^here: names rank 16; ranks are 0 to 15"):
        rank_of_gpu(BOXES, 16, "here")
