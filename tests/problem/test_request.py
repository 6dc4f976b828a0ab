"""What is asked, checked once."""

import os

import pytest

from forestcoll import generate
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request, usable_cores
from forestcoll.topology import load_topology
from tests.lp.networks import line


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_invalid_time_limits_are_refused(seconds: float) -> None:
    with pytest.raises(InvalidParameterError, match="must be from 0 to 10000000"):
        generate(line(3), collective="allreduce", lp_time_limit_s=seconds)


RING = load_topology("ring:nodes=3")


def test_missing_options_have_defaults() -> None:
    """Equal weights, no root, all cores of this process; an allreduce sums up free_root."""
    request = Request.of(RING, Options())
    assert (request.weights, request.root, request.options) == ((1, 1, 1), None, Options())
    assert request.threads == usable_cores() == len(os.sched_getaffinity(0))
    assert request.free_root
    assert request.is_free


def test_roots_become_ranks_and_weights_whole_numbers() -> None:
    """Whoever gives either fixes where the sums are."""
    rooted = Request.of(RING, Options(collective="allreduce", root="gpu1", threads=1))
    assert (rooted.root, rooted.weights, rooted.free_root) == (1, (0, 1, 0), False)
    assert rooted.threads == 1
    weighted = Request.of(RING, Options(collective="allreduce", weights=["1/2", 1, 0]))
    assert (weighted.root, weighted.weights, weighted.free_root) == (None, (1, 2, 0), False)
    assert weighted.over(1) == Request.of(RING, Options(collective="allreduce", root=1))


def test_only_requests_of_the_core_without_k_are_free() -> None:
    assert not Request.of(RING, Options(k=2)).is_free
    assert not Request.of(RING, Options(method="paper")).is_free


@pytest.mark.parametrize(
    ("collective", "directions"),
    [
        ("allgather", (False,)),
        ("broadcast", (False,)),
        ("reduce-scatter", (True,)),
        ("reduce", (True,)),
        ("allreduce", (True, False)),
    ],
)
def test_sums_come_first_in_an_allreduce(collective: str, directions: tuple[bool, ...]) -> None:
    """True where data is summed up."""
    root = 0 if collective in ("broadcast", "reduce") else None
    assert Request.of(RING, Options(collective=collective, root=root)).reductions == directions


def test_a_collective_that_there_is_not_is_refused() -> None:
    """With those that there are."""
    with pytest.raises(UnsupportedError, match="it must be one of allgather"):
        Request.of(RING, Options(collective="gossip"))


def test_all_cores_count_without_an_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    """One, if it does not say how many there are either."""
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert usable_cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
