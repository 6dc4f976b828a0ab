"""What `make fuzz` does, with some 60 fixed networks: small ones of every family, some large.

``make test-all`` has 350.
"""

import contextlib
import itertools
from collections import Counter
from dataclasses import replace

import pytest

from forestcoll import FactoredForest, expand, generate
from forestcoll.topology import load_topology, validate
from tests.fuzz import check, paths, shortcuts
from tests.fuzz.__main__ import plan
from tests.fuzz.check import Outcome, examine
from tests.fuzz.demands import DEMANDS, SHARE, demand_of
from tests.fuzz.families import FAMILIES, LARGE, build, size_of
from tests.fuzz.faults import hangs_or_dies
from tests.fuzz.pool import Pool
from tests.fuzz.table import summary

SMALL = 36
"""GPUs at most, so that 21 networks of each family take seconds."""

SEEDS, SOON = 21, 1
"""Networks of each family, and how many of them are not left to ``make test-all``."""

SMALL_ONES = [
    (family, seed)
    for family in FAMILIES
    for seed in itertools.islice(
        (seed for seed in itertools.count() if size_of(family, seed) <= SMALL), SEEDS
    )
]
REGISTERED = ("machines", "fabrics", "gpu-networks")

LARGE_SEEDS = {
    "directed": (8,),
    "bidirectional": (4, 6, 7),
    "unbalanced": (1,),
    "regular": (0, 1, 3),
    "dgx": (1, 2, 5),
    "chassis": (0, 5, 6),
    "loose": (0, 4),
    "mixed": (4, 6, 2),
    "pods": (2, 4, 7),
    "fat-tree": (2, 5, 7),
    "torus": (2, 3, 4),
    "cayley": (0, 8, 7, 9),
    "dragonfly": (7,),
    "damaged": (0, 3, 8),
    "odd-speeds": (3, 6, 0),
    "machines": (100, 105),
    "fabrics": (100, 101),
    "gpu-networks": (100, 107),
}
"""Some that take a second at most."""

LARGE_ONES = [(family, seed) for family, seeds in LARGE_SEEDS.items() for seed in seeds]

FIRST = {(family, seeds[0]) for family, seeds in LARGE_SEEDS.items()}
"""Of these the ones that are not left to ``make test-all``."""


@pytest.mark.parametrize(
    ("family", "seed"),
    [
        *(
            pytest.param(*one, marks=() if at % SEEDS < SOON else pytest.mark.slow)
            for at, one in enumerate(SMALL_ONES)
        ),
        *(pytest.param(*one, marks=() if one in FIRST else pytest.mark.slow) for one in LARGE_ONES),
    ],
)
def test_forests_attain_the_bound(family: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that ``tests.fuzz.check`` asks for, but fewer networks on every path."""
    monkeypatch.setattr(paths, "MOST_GPUS", 9)
    outcome = examine(family, seed, lambda stage, gpus: None)
    assert not outcome.failure, f"{outcome.failure}\n{outcome.command}"
    assert outcome.gpus >= LARGE or (family, seed) in SMALL_ONES
    if family not in REGISTERED:  # registered families may have a largest size
        assert outcome.gpus >= size_of(family, seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_always_gives_the_same_network(family: str) -> None:
    """The same links, and an allgather is possible; another seed gives another network."""
    assert build(family, 11) == build(family, 11)
    assert build(family, 11) != build(family, 13)
    validate(build(family, 11))


def test_a_quarter_of_a_run_asks_for_something_else() -> None:
    """Every collective, weights and groups; always the same for a seed."""
    topology = load_topology("ring:nodes=9")
    asked = [demand_of(*task, topology) for task in itertools.islice(plan(run=1), 2000)]
    assert asked == [demand_of(*task, topology) for task in itertools.islice(plan(run=1), 2000)]
    kinds = Counter((one.collective, *one.options, one.topology.num_compute < 9) for one in asked)
    assert abs(1 - kinds["allgather", False] / len(asked) - SHARE) < 0.05
    assert {(collective, *more) for collective, *more, _ in kinds} == {
        ("allgather",),
        ("broadcast", "root"),
        ("reduce", "root"),
        ("reduce-scatter",),
        ("allgather", "weights"),
    }
    words = {one.words for one in asked}
    assert words == {*DEMANDS, "allgather"} - {"weighted", "group"} | {
        "weighted allgather",
        "allgather in a group",
    }
    assert kinds["allgather", True] > len(asked) * SHARE / len(DEMANDS) / 2


def test_more_than_half_of_a_run_is_large() -> None:
    """Of the sizes asked for, in the order of a run; few exceed 256 and none 512."""
    sizes = [size_of(*task) for task in itertools.islice(plan(run=1), 3000)]
    assert sum(size >= LARGE for size in sizes) > 0.55 * len(sizes)
    assert sum(size > 256 for size in sizes) < 0.02 * len(sizes)
    assert max(sizes) <= 512
    assert min(sizes) == 2


def test_failures_are_reported_with_their_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that does not hold becomes the outcome, whatever it raises."""

    def nothing_is_right(*forms: object) -> None:
        raise ZeroDivisionError("1 / 0")

    monkeypatch.setattr(check, "CHECKS", (nothing_is_right,))
    outcome = examine("torus", 2, lambda stage, gpus: None)
    assert outcome.failure == "ZeroDivisionError: 1 / 0"
    assert outcome.command == "python -m tests.fuzz --family torus --seed 2"
    cells = [list(column.cells) for column in summary([outcome]).columns]
    assert cells[0] == ["torus", "all"]
    assert cells[-1] == ["1", "1"]


def test_a_switch_that_sends_more_than_it_receives_needs_several_cuts() -> None:
    """Dead cables of one-way NICs; the prices of several cuts prove more than one cut does."""
    outcome = examine("damaged", 71000084, lambda stage, gpus: None)
    assert outcome.failure == ""
    assert outcome.gpus == 152


def test_other_trees_than_on_one_thread_are_found() -> None:
    """A network that is shared out, with its trees in another order."""
    factored = generate(load_topology("torus:dims=16x16"), factored=True).schedule
    forest = expand(factored)
    check.threads_change_nothing(forest, factored)
    with pytest.raises(AssertionError, match="other trees: parent"):
        check.threads_change_nothing(replace(forest, parent=forest.parent[::-1]), factored)


def test_every_shortcut_and_few_links_are_paths() -> None:
    """Of a ring, an all-to-all of boxes and a broadcast, each path is as fast."""
    assert set(shortcuts.SHORTCUTS) <= {name.removeprefix("without ") for name in paths.PATHS}
    assert {"few links", "rotations", "explicit", "without any shortcut"} <= set(paths.PATHS)
    for spec, collective, options in (
        ("ring:nodes=9", "reduce-scatter", {}),
        ("dgx_a100:boxes=24", "allgather", {}),
        ("torus:dims=3x4", "broadcast", {"root": 5}),
    ):
        factored = generate(
            load_topology(spec), collective=collective, **options, factored=True
        ).schedule
        assert isinstance(factored, FactoredForest)
        forest = expand(factored)
        paths.the_same_trees(forest, factored)
        for remake in paths.PATHS.values():
            assert remake(factored).time_s_per_gb == forest.time_s_per_gb
    fewer = paths.PATHS["few links"](
        generate(load_topology("dgx_a100:boxes=24"), factored=True).schedule
    )
    assert isinstance(fewer, FactoredForest)
    usual = generate(load_topology("dgx_a100:boxes=24"), factored=True).schedule
    assert len(fewer.links.tail) <= len(usual.links.tail) / 2
    rotated = paths.PATHS["rotations"](usual)
    assert isinstance(rotated, FactoredForest)
    assert (rotated.shapes.is_rotated, usual.shapes.is_rotated) == (True, False)


def test_a_path_that_is_slower_or_slow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One tree where two are optimal; a second that is no second."""
    factored = generate(load_topology("ring:nodes=4"), factored=True).schedule
    forest = expand(factored)
    poor = generate(load_topology("ring:nodes=4"), k=1, factored=True).schedule
    monkeypatch.setattr(paths, "PATHS", {"poor": lambda _: poor})
    with pytest.raises(AssertionError, match="1 trees on the path 'poor', 2 else"):
        paths.each_path_both_ways(forest, factored)
    monkeypatch.setattr(paths, "SLOW_S", 0.0)
    with pytest.raises(AssertionError, match=r"slow: 0\.0 s on the path 'poor', over 0 s"):
        paths.each_path_both_ways(forest, factored)
    outcome = examine("torus", 2, lambda stage, gpus: None)
    assert outcome.failure.startswith("AssertionError: slow: 0.0 s on the path 'usual'")


def test_blocked_shortcuts_are_restored_after_an_error() -> None:
    """On a ring of 64, all trees of a root are turned to the others: two a root, not one."""
    ring = load_topology("ring:nodes=64")
    turned = generate(ring, factored=True).schedule
    with contextlib.suppress(ZeroDivisionError), shortcuts.blocked("turning"):
        other = generate(ring, factored=True).schedule
        raise ZeroDivisionError
    assert generate(ring, factored=True).schedule == turned
    assert other != turned


@pytest.mark.slow
def test_nothing_holds_up_the_pool() -> None:
    """A worker is stopped in native code, another is killed; those in their places go on."""
    with Pool(jobs=1, limit_s=0.5, examine=hangs_or_dies) as pool:
        slow, dead, well = pool.outcomes([("torus", 1), ("torus", 2), ("torus", 3)])
    assert (slow.gpus, slow.failure) == (5, "slow: over 0.5 s, in hanging")
    assert dead.failure == "the process ended with -9, in hanging"
    assert well == Outcome("torus", 3, gpus=5)


def test_the_pool_examines_networks() -> None:
    """Two workers, three families, whatever order they end in."""
    tasks = [("torus", 2), ("regular", 2), ("directed", 2)]
    with Pool(jobs=2, limit_s=30) as pool:
        outcomes = list(pool.outcomes(tasks))
    assert sorted((one.family, one.seed) for one in outcomes) == sorted(tasks)
    assert not any(one.failure for one in outcomes)
