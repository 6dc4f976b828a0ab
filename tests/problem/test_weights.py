"""Weights and roots: whole numbers, and what is refused."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.errors import ForestCollError, InvalidParameterError, UnsupportedError
from forestcoll.problem.weights import rank_of_root, read_weights, weights_for, whole_weights
from forestcoll.topology import Topology, load_topology


def test_only_proportions_of_weights_matter() -> None:
    """1/2, 3/2 and 0.5 are 1, 3 and 1; by rank or by name."""
    ring = load_topology("ring:nodes=3")
    whole = generate(ring, weights=[1, 3, 1]).schedule
    for weights in (["1/2", Fraction(3, 2), "0.5"], {"gpu2": 7, "gpu1": 21, "gpu0": 7}):
        forest = generate(ring, weights=weights).schedule
        assert (forest.weights, forest.k) == ((1, 3, 1), whole.k)
        assert forest.time_s_per_gb == whole.time_s_per_gb


RING: Topology = load_topology("dgx_a100:boxes=1")

REFUSED: dict[str, tuple[Mapping[str, Any], type[ForestCollError], str]] = {
    "unknown collective": ({"collective": "gossip"}, UnsupportedError, "it must be one of allg"),
    "no root": ({"collective": "broadcast"}, InvalidParameterError, "broadcast needs a root"),
    "unknown root": (
        {"collective": "reduce", "root": "b0.gpu9"},
        InvalidParameterError,
        "the root is 'b0.gpu9', which is not a node; did you mean 'b0.gpu",
    ),
    "root beyond the ranks": (
        {"collective": "reduce", "root": 8},
        InvalidParameterError,
        "the root is rank 8; ranks are 0 to 7",
    ),
    "negative root": ({"collective": "reduce", "root": -1}, InvalidParameterError, "rank -1"),
    "root that is a truth value": (
        {"collective": "reduce", "root": True},
        InvalidParameterError,
        "the root is True, which is not a node",
    ),
    "root that is a switch": (
        {"collective": "broadcast", "root": "b0.nvswitch"},
        InvalidParameterError,
        "the root is 'b0.nvswitch', which is a switch",
    ),
    "root of an allgather": ({"root": 0}, InvalidParameterError, "allgather takes no root"),
    "weights of a broadcast": (
        {"collective": "broadcast", "root": 0, "weights": [1] * 8},
        InvalidParameterError,
        "broadcast takes a root, no weights",
    ),
    "root and weights": (
        {"collective": "allreduce", "root": 0, "weights": [1] * 8},
        InvalidParameterError,
        "a root or weights, not both",
    ),
    "too few weights": ({"weights": [1] * 7}, InvalidParameterError, "7 weights are given; .* 8 G"),
    "too many weights": ({"weights": [1] * 9}, InvalidParameterError, "9 weights are given"),
    "negative weight": (
        {"weights": [1] * 7 + ["-1/2"]},
        InvalidParameterError,
        "the weight of 'b0.gpu7' is -1/2; it cannot be negative",
    ),
    "all weights zero": ({"weights": [0] * 8}, InvalidParameterError, "all weights are 0"),
    "weight that is not a number": (
        {"weights": [1] * 7 + ["lots"]},
        InvalidParameterError,
        "the weight of 'b0.gpu7' is 'lots', which is not a number",
    ),
    "weight that was computed": (
        {"weights": [1 / 3] * 8},
        InvalidParameterError,
        "the weight of 'b0.gpu0' is the float 0.3333333333333333, which is not exact",
    ),
    "weights that are text": ({"weights": "11111111"}, InvalidParameterError, "weights are str"),
    "weight of a stranger": (
        {"weights": {"b0.gpu8": 1}},
        InvalidParameterError,
        "weights name 'b0.gpu8', which is not a node; did you mean 'b0.gpu",
    ),
    "weight of a switch": (
        {"weights": {"b0.nvswitch": 1}},
        InvalidParameterError,
        "weights name 'b0.nvswitch', which is a switch",
    ),
    "weights of some": (
        {"weights": {"b0.gpu0": 1, "b0.gpu2": 2}},
        InvalidParameterError,
        r"do not name 'b0.gpu1' \(6 of 8 GPUs are missing\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_weights_and_roots_are_refused_with_the_reason(case: str) -> None:
    """Typed, in one line, before any work."""
    options, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message) as caught:
        generate(RING, **options)
    assert "\n" not in str(caught.value)


def test_weights_are_whole_without_a_common_divisor() -> None:
    """1/2, 0, 3/4 are 2, 0, 3 quarters; 60 and 90 have 30 in common; by name in any order."""
    ring = load_topology("ring:nodes=3")
    assert whole_weights(ring, ["1/2", 0, "0.75"]) == (2, 0, 3)
    assert whole_weights(ring, {"gpu2": 90, "gpu0": 60, "gpu1": 0}) == (2, 0, 3)
    assert whole_weights(ring, None) == (1, 1, 1)
    assert whole_weights(ring, [60, 0, 90]) == whole_weights(ring, [Fraction(2), 0, 3]) == (2, 0, 3)
    assert whole_weights(ring, [2**70, 2**71, 0]) == (1, 2, 0)


@pytest.mark.parametrize(
    ("weight", "fault"),
    [
        (-1, "the weight of 'gpu1' is -1; it cannot be negative"),
        (10**100, r"the weight of 'gpu1' is about 1e\+100, which no machine has"),
        (True, "the weight of 'gpu1' is True"),
    ],
)
def test_whole_numbers_that_are_no_weights_are_refused(weight: int, fault: str) -> None:
    ring = load_topology("ring:nodes=3")
    with pytest.raises(InvalidParameterError, match=fault):
        whole_weights(ring, [1, weight, 2])
    assert whole_weights(ring, [0, 2**64, 2**65]) == (0, 1, 2)
    assert whole_weights(ring, [0, 4, 2]) == (0, 2, 1)


def test_a_root_has_all_the_weight() -> None:
    """Ranks count GPUs, not nodes: those of the example come before its switches."""
    example = load_topology("paper_example").relabelled([10, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8])
    assert rank_of_root(example, "c1.2") == rank_of_root(example, 1) == 1
    for collective in ("broadcast", "reduce", "allreduce"):
        assert weights_for(example, collective, root="c1.2") == (0, 1, 0, 0, 0, 0, 0, 0)
    assert weights_for(example, "allreduce") == (1,) * 8


def test_a_file_of_weights_is_read_as_it_stands(tmp_path: Path) -> None:
    """By its suffix; what the numbers are worth is for others to say."""
    for name, text, found in (
        ("w.yaml", "{a: 1/2, b: 0.1}", {"a": "1/2", "b": "0.1"}),
        ("w.json", "[1, 0.10, true]", [1, "0.10", True]),
    ):
        (tmp_path / name).write_text(text)
        assert read_weights(tmp_path / name) == found
    (tmp_path / "w.yaml").write_text("a")
    with pytest.raises(InvalidParameterError, match="holds 'a'; it must hold a mapping, GPU: weig"):
        read_weights(tmp_path / "w.yaml")
    with pytest.raises(InvalidParameterError, match=r"none.json: cannot be read: no such file"):
        read_weights(tmp_path / "none.json")


@pytest.mark.parametrize(("weights", "kind"), [("123", "str"), ({1, 2, 3}, "set"), (7, "int")])
def test_weights_are_a_list_or_a_mapping(weights: Any, kind: str) -> None:
    """A text is a sequence, but none of numbers; a set has no order."""
    with pytest.raises(InvalidParameterError, match=f"^weights are {kind}; they must be a list"):
        whole_weights(load_topology("ring:nodes=3"), weights)


def test_names_are_suggested_only_if_similar() -> None:
    """Of GPUs gpu0 to gpu2, gpu3 is near and x is not."""
    ring = load_topology("ring:nodes=3")
    with pytest.raises(InvalidParameterError, match=r"not a node; did you mean 'gpu\d'\?$"):
        whole_weights(ring, {"gpu7": 1})
    with pytest.raises(InvalidParameterError, match=r"not a node; a GPU is 'gpu0'$"):
        whole_weights(ring, {"x": 1})
    with pytest.raises(InvalidParameterError, match=r"not a node; did you mean 'gpu\d'\?$"):
        rank_of_root(ring, "gpu7")
    with pytest.raises(InvalidParameterError, match=r"'x', which is not a node; a GPU is 'gpu0'$"):
        rank_of_root(ring, "x")


@pytest.mark.parametrize("root", [-1, 3])
def test_a_rank_out_of_range_is_refused_with_the_range(root: int) -> None:
    ring = load_topology("ring:nodes=3")
    with pytest.raises(InvalidParameterError, match=f"rank {root}; ranks are 0 to 2$"):
        rank_of_root(ring, root)
    assert [rank_of_root(ring, rank) for rank in range(3)] == [0, 1, 2]
