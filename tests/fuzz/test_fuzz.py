"""What `make fuzz` does, with 300 fixed networks: small ones of every family, and some large."""

from __future__ import annotations

import itertools
import signal

import pytest

from forestcoll.topology import validate
from tests.fuzz import check
from tests.fuzz.__main__ import plan
from tests.fuzz.check import Outcome, examine
from tests.fuzz.families import FAMILIES, LARGE, build, size_of
from tests.fuzz.pool import Pool
from tests.fuzz.table import summary

SMALL = 36
"""GPUs at most, so that 22 networks of each family take seconds."""

SMALL_ONES = [
    (family, seed)
    for family in FAMILIES
    for seed in itertools.islice(
        (seed for seed in itertools.count() if size_of(family, seed) <= SMALL), 22
    )
]
LARGE_ONES = [
    *(("directed", 3), ("bidirectional", 4), ("bidirectional", 6), ("unbalanced", 1)),
    *(("regular", 0), ("dgx", 1), ("dgx", 5), ("loose", 0), ("pods", 2), ("fat-tree", 5)),
    *(("torus", 3), ("torus", 4), ("dragonfly", 4), ("damaged", 3), ("odd-speeds", 0)),
]


@pytest.mark.parametrize(("family", "seed"), SMALL_ONES + LARGE_ONES)
def test_forest_verifies_and_attains_the_bound(family: str, seed: int) -> None:
    """All that ``tests.fuzz.check`` asks for."""
    outcome = examine(family, seed, lambda stage, gpus: None)
    assert not outcome.failure, f"{outcome.failure}\n{outcome.command}"
    assert outcome.gpus >= size_of(family, seed)
    assert outcome.gpus >= LARGE or (family, seed) in SMALL_ONES


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_always_gives_the_same_network(family: str) -> None:
    """The same links, and an allgather is possible; another seed gives another network."""
    assert build(family, 11) == build(family, 11)
    assert build(family, 11) != build(family, 13)
    validate(build(family, 11))


def test_more_than_half_of_a_run_is_large() -> None:
    """Of the sizes asked for, in the order of a run; few exceed 256 and none 512."""
    sizes = [size_of(*task) for task in itertools.islice(plan(run=1), 3000)]
    assert sum(size >= LARGE for size in sizes) > 0.55 * len(sizes)
    assert sum(size > 256 for size in sizes) < 0.02 * len(sizes)
    assert max(sizes) <= 512
    assert min(sizes) == 2


def test_what_fails_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that does not hold becomes the outcome, whatever it raises."""

    def nothing_is_right(forest: object) -> None:
        raise ZeroDivisionError("1 / 0")

    monkeypatch.setattr(check, "CHECKS", (nothing_is_right,))
    outcome = examine("torus", 2, lambda stage, gpus: None)
    assert outcome.failure == "ZeroDivisionError: 1 / 0"
    assert outcome.command == "python -m tests.fuzz --family torus --seed 2"
    cells = [list(column.cells) for column in summary([outcome]).columns]
    assert cells[0] == ["torus", "all"]
    assert cells[-1] == ["1", "1"]


def test_a_network_beyond_its_time_is_stopped_and_the_next_one_examined() -> None:
    """The alarm ends the worker, another takes over; 0.2 s suffice for a small torus only."""
    slow = next(seed for seed in itertools.count() if size_of("bidirectional", seed) > 450)
    quick = next(seed for seed in itertools.count() if size_of("torus", seed) <= 4)
    with Pool(jobs=1, limit_s=0.2) as pool:
        first, second = pool.outcomes([("bidirectional", slow), ("torus", quick)])
    assert isinstance(first, Outcome)
    assert first.failure.startswith("slow: over 0.2 s, in ")
    assert (second.family, second.failure) == ("torus", "")
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
