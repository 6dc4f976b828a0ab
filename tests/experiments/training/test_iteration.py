"""An iteration, with the best bucket, and the claims of figure 9 of the BFB paper by shape."""

from __future__ import annotations

import pytest

from experiments.training.iteration import BUCKETS, iteration
from experiments.training.parallelism import Layer, data_parallel, sharded
from experiments.training.timeline import timeline
from forestcoll.errors import InvalidParameterError

LAYERS = [Layer(f"{n}", 0.01, 0.02, 50 * 2**20) for n in range(8)]


def seconds_of(collective: str, size: int) -> float:
    """A millisecond to start, then 10 GB/s."""
    return 1e-3 + size / 1e10


def test_the_best_bucket_is_chosen() -> None:
    times = {size: timeline(data_parallel(LAYERS, seconds_of, size)).seconds for size in BUCKETS}
    best = iteration(LAYERS, "data", seconds_of)
    assert best.timeline.seconds == min(times.values())
    assert times[best.bucket_bytes] == min(times.values())
    given = iteration(LAYERS, "data", seconds_of, bucket_bytes=2**30)
    assert (given.bucket_bytes, given.timeline.seconds) == (2**30, times[2**30])


def test_sharded_training_has_no_buckets() -> None:
    found = iteration(LAYERS, "sharded", seconds_of, prefetch=2)
    assert found.bucket_bytes is None
    assert found.timeline == timeline(sharded(LAYERS, seconds_of, 2))
    assert found.visible_share == found.timeline.visible / found.timeline.seconds


def test_slower_communication_never_makes_an_iteration_shorter() -> None:
    for parallel in ("data", "expert", "sharded"):
        times = [
            iteration(LAYERS, parallel, lambda _, size, f=factor: f * size / 1e10).timeline.seconds
            for factor in (0, 1, 2, 4)
        ]
        assert times == sorted(times)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="parallel is 'pipeline'; it must be one of"):
        iteration(LAYERS, "pipeline", seconds_of)
