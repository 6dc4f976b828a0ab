"""Collectives of an iteration under three ways of training, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.training.parallelism import Layer, data_parallel, expert_parallel, sharded
from experiments.training.timeline import Stream, timeline
from forestcoll.errors import InvalidParameterError

LAYERS = [Layer("a", 1, 2, 40), Layer("b", 3, 4, 70), Layer("c", 1, 1, 0)]
EXPERTS = [Layer("a", 1, 2, 10), Layer("moe", 2, 4, 500, routed_bytes=6), Layer("z", 1, 1, 10)]


def as_long_as_bytes(collective: str, size: int) -> float:
    return float(size)


def runs(tasks: list) -> dict[str, tuple[float, float]]:
    return {run.task.name: (run.start, run.end) for run in timeline(tasks).runs}


def test_buckets_fill_backwards_and_start_when_they_are_full() -> None:
    """Gradients of c (0), b (70), a (40): a bucket of 60 after b; 50 left after a."""
    tasks = data_parallel(LAYERS, as_long_as_bytes, 60)
    found = runs(tasks)
    assert found["c backward"] == (5, 6)
    assert found["b backward"] == (6, 10)
    assert found["bucket 0"] == (10, 70)
    assert found["a backward"] == (10, 12)
    assert found["bucket 1"] == (70, 120)
    sent = [task.seconds for task in tasks if task.stream is Stream.COMMUNICATION]
    assert sum(sent) == sum(layer.parameter_bytes for layer in LAYERS)


def test_a_bucket_that_is_never_full_starts_at_the_end() -> None:
    found = runs(data_parallel(LAYERS, as_long_as_bytes, 1000))
    assert found["bucket 0"] == (12, 122)


def test_a_large_layer_fills_several_buckets() -> None:
    found = runs(data_parallel([Layer("a", 1, 1, 50)], as_long_as_bytes, 20))
    assert [found[f"bucket {i}"] for i in range(3)] == [(2, 22), (22, 42), (42, 52)]


def test_experts_exchange_tokens_around_each_pass_and_need_no_allreduce() -> None:
    tasks = expert_parallel(EXPERTS, as_long_as_bytes, 1000)
    found = runs(tasks)
    assert found["moe forward dispatch"] == (1, 7)
    assert found["moe forward"] == (7, 9)
    assert found["moe forward combine"] == (9, 15)
    assert found["z forward"] == (15, 16)
    assert found["moe backward combine"] == (17 + 6 + 4, 17 + 6 + 4 + 6)
    assert found["bucket 0"][1] - found["bucket 0"][0] == 20  # without the experts' 500


def test_an_all_to_all_waits_for_an_allreduce_that_has_begun() -> None:
    """The allreduce of z's gradients runs when the experts' backward pass wants to dispatch."""
    tasks = expert_parallel(EXPERTS, as_long_as_bytes, 10)
    found = runs(tasks)
    assert found["z backward"] == (16, 17)
    assert found["bucket 0"] == (17, 27)
    assert found["moe backward dispatch"] == (27, 33)


def test_data_parallel_ignores_experts() -> None:
    plain = [replace(layer, routed_bytes=0) for layer in EXPERTS]
    assert data_parallel(EXPERTS, as_long_as_bytes, 60) == data_parallel(
        plain, as_long_as_bytes, 60
    )


def test_sharded_parameters_are_gathered_one_layer_ahead() -> None:
    small = [Layer("a", 5, 5, 3), Layer("b", 5, 5, 4)]
    found = runs(sharded(small, as_long_as_bytes))
    assert found["a forward allgather"] == (0, 3)
    assert found["b forward allgather"] == (3, 7)  # while a computes, from 3 to 8
    assert found["a forward"] == (3, 8)
    assert found["b backward allgather"] == (8, 12)  # issued when b's forward pass begins
    assert found["b forward"] == (8, 13)
    assert found["a backward allgather"] == (13, 16)
    assert found["b backward"] == (13, 18)
    assert found["b reduce-scatter"] == (18, 22)
    assert found["a backward"] == (18, 23)
    assert found["a reduce-scatter"] == (23, 26)


def test_without_prefetch_every_layer_waits() -> None:
    small = [Layer("a", 5, 5, 3), Layer("b", 5, 5, 4)]
    found = timeline(sharded(small, as_long_as_bytes, prefetch=0))
    assert found.visible == 3 + 4 + 4 + 4 + 3 + 3  # but for one reduce-scatter of 4, hidden
    more = [timeline(sharded(small, as_long_as_bytes, prefetch=n)).seconds for n in range(4)]
    assert more == sorted(more, reverse=True)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "has no layers"),
        ([Layer("a", -1, 1, 1)], "layer 'a' has -1"),
        ([Layer("a", 1, float("nan"), 1)], "layer 'a' has nan"),
        ([Layer("a", 1, 1, -1)], "layer 'a' has -1"),
        ([Layer("a", 1, 1, 1, -1)], "layer 'a' has -1"),
    ],
)
def test_wrong_layers_are_refused(layers: list[Layer], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        sharded(layers, as_long_as_bytes)
    with pytest.raises(InvalidParameterError, match=message):
        expert_parallel(layers, as_long_as_bytes, 10)


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="bucket is 0 bytes"):
        data_parallel(LAYERS, as_long_as_bytes, 0)
    with pytest.raises(InvalidParameterError, match="prefetch is -1"):
        sharded(LAYERS, as_long_as_bytes, -1)
