"""What is asked, checked once."""

from __future__ import annotations

import os
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.errors import InvalidParameterError, UnknownMethodError, UnsupportedError
from forestcoll.problem.request import ASKED, Asked, Request, check_k, usable_cores
from forestcoll.topology import load_topology
from tests.lp.networks import line


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidParameterError, match="must be from 0 to 10000000"):
        generate(line(3), collective="allreduce", program_s=seconds)


RING = load_topology("ring:nodes=3")


def test_what_is_not_asked_has_its_default() -> None:
    """As ASKED says, which names every option; threads are the cores of this process."""
    request = Request.of(RING, "allgather", {})
    assert set(ASKED) == set(Asked.__annotations__)
    assert (request.weights, request.root, request.k) == ((1, 1, 1), None, None)
    assert (request.method, request.program_s) == (ASKED["method"], ASKED["program_s"])
    assert request.threads == usable_cores() == len(os.sched_getaffinity(0))
    assert request.anywhere
    assert request.is_free
    assert not request.multicast


def test_roots_become_ranks_and_weights_whole_numbers() -> None:
    """Whoever gives either fixes where the sums are."""
    rooted = Request.of(RING, "allreduce", {"root": "gpu1", "threads": 1})
    assert (rooted.root, rooted.weights, rooted.anywhere) == (1, (0, 1, 0), False)
    weighted = Request.of(RING, "allreduce", {"weights": ["1/2", 1, 0]})
    assert (weighted.root, weighted.weights, weighted.anywhere) == (None, (1, 2, 0), False)
    assert weighted.over(1) == Request.of(RING, "allreduce", {"root": 1})


def test_only_what_is_for_the_core_without_a_k_is_free() -> None:
    assert not Request.of(RING, "allgather", {"k": 2}).is_free
    assert not Request.of(RING, "allgather", {"method": "paper"}).is_free


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
    assert Request.of(RING, collective, {"root": root}).reductions == directions


def test_every_option_is_checked_at_once() -> None:
    """Each with the value found and those allowed."""
    with pytest.raises(TypeError, match="no option 'speed'; options are root, weights, k"):
        Request.of(RING, "allgather", {"speed": 1})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(UnknownMethodError, match="no method 'magic'; known: forestcoll, paper"):
        Request.of(RING, "allgather", {"method": "magic"})
    with pytest.raises(UnsupportedError, match="it must be one of allgather"):
        Request.of(RING, "gossip", {})
    with pytest.raises(UnsupportedError, match="for few links take the method forestcoll"):
        Request.of(RING, "allgather", {"method": "paper", "few_links": True})
    for k in (0, -1, True, 1.0, "2", 10**15 + 1, 10**5000):
        with pytest.raises(
            InvalidParameterError, match=r"^k is .* a whole number from 1 to 1000000000000000$"
        ):
            Request.of(RING, "allgather", {"k": k})  # type: ignore[typeddict-item]
    with pytest.raises(InvalidParameterError, match=r"^the most trees is 0;"):
        check_k(0, "the most trees")


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "2"])
def test_trees_and_hops_are_whole_numbers_from_one(number: Any) -> None:
    """Of k and of the greatest height alike; 1 is the least of both."""
    for option, name in (("k", "k"), ("max_height", "the greatest height")):
        asked: Any = {option: number}
        message = rf"^{name} is .* a whole number from 1 to \d+$"
        with pytest.raises(InvalidParameterError, match=message):
            Request.of(RING, "allgather", asked)
        least: Any = {option: 1}
        assert getattr(Request.of(RING, "allgather", least), option) == 1


def test_what_does_not_go_together_is_refused() -> None:
    """Heights with switches that copy, and few links with the paper's algorithms."""
    with pytest.raises(UnsupportedError, match="leave max_height or multicast away"):
        Request.of(RING, "allgather", {"max_height": 2}, multicast=True)
    with pytest.raises(UnsupportedError, match="for few links take the method forestcoll"):
        Request.of(RING, "allgather", {"few_links": True, "method": "paper"})
    assert Request.of(RING, "allgather", {"few_links": True}).few_links
    assert Request.of(RING, "allgather", {"method": "paper"}).method == "paper"


def test_the_first_unknown_option_by_name_is_told() -> None:
    asked: Any = {"zeta": 1, "beta": 1, "omega": 1, "k": 1, "alpha": 1}
    with pytest.raises(TypeError, match=r"^there is no option 'alpha'; options are "):
        Request.of(RING, "allgather", asked)


def test_where_a_system_does_not_say_which_cores_there_are_all_of_them_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One, if it does not say how many there are either."""
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert usable_cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
