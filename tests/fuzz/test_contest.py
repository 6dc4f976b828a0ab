"""Nothing called a bound or optimal is beaten by any method; by more networks in ``make fuzz``."""

import random
from collections import Counter

import pytest

from forestcoll import generate, load_topology
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.topology import Topology
from tests.fuzz import contest
from tests.lp.networks import BETTER

BLOCKS, SEEDS = 4, 1
"""Of each kind of network so many in a block."""

SOON = 1
"""Blocks that are not left to ``make test-all``."""

SHAPES = [
    "dgx_a100:boxes=2",
    "dgx_h100:boxes=2,sharp=true",
    "mi250:boxes=1",
    "mi250:boxes=2,gpus_per_box=8",
    "rail_optimized:boxes=2,gpus_per_box=4",
    "docs/examples/heterogeneous.yaml",
]

SOONER = ("dgx_h100:boxes=2,sharp=true", "rail_optimized:boxes=2,gpus_per_box=4")
"""With one collective each, as methods on the others take a second or two."""


@pytest.mark.parametrize(
    "block",
    [*range(SOON), *(pytest.param(block, marks=pytest.mark.slow) for block in range(SOON, BLOCKS))],
)
def test_no_method_beats_a_bound_or_an_optimum(block: int) -> None:
    """10 random networks: directed, boxes with dead NICs, with switches that multicast, groups."""
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        for kind in contest.KINDS:
            outcome = contest.examine(kind, seed, lambda *_: None)
            assert not outcome.failure, f"{outcome.command}: {outcome.failure}"


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        pytest.param(
            *(spec, collective),
            marks=() if (at + turn) % 2 and spec in SOONER else pytest.mark.slow,
        )
        for at, spec in enumerate(SHAPES)
        for turn, collective in enumerate(["allgather", "allreduce"])
    ],
)
def test_no_method_beats_a_bound_on_clusters(spec: str, collective: str) -> None:
    assert contest.contest(load_topology(spec), collective, {}) >= 8


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    "topology",
    [
        pytest.param(
            topology,
            id=topology.name,
            marks=pytest.mark.slow if topology.num_compute > 6 else (),
        )
        for topology, *_ in BETTER
    ],
)
def test_no_method_beats_the_bound_of_networks_with_a_slower_combination(
    topology: Topology,
) -> None:
    assert contest.contest(topology, "allreduce", {}) >= 8


@pytest.mark.slow
def test_every_kind_of_network_and_many_methods_take_part() -> None:
    """Multicast switches, relays, one-way links, unequal boxes; ten methods and more at once."""
    seen: Counter[str] = Counter()
    for kind, build in contest.KINDS.items():
        for seed in range(20):
            topology = build(random.Random(f"contest on {kind} {seed}"))
            seen["copies"] += any(node.multicast for node in topology.nodes)
            seen["relays"] += any(node.is_gpu and node.is_switch for node in topology.nodes)
            seen["one way"] += topology.reversed().links != topology.links
    assert min(seen.values()) >= 10
    assert contest.contest(load_topology("dgx_h100:boxes=2"), "allreduce", {}) >= 15


def test_a_false_bound_is_beaten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contest fails if a bound is too low, or a slow schedule is called optimal."""
    topology = load_topology("ring:nodes=4")
    low = AllreduceBound(
        topology, generate(topology, collective="allreduce").schedule.algbw_gb_s / 2, ()
    )
    monkeypatch.setattr(contest, "best_known_bound", lambda *_, **__: low)
    with pytest.raises(AssertionError, match="beats Limit"):
        contest.contest(topology, "allreduce", {})
    monkeypatch.undo()
    honest = contest._ours

    def slow(*given: object) -> object:
        ways = dict(honest(*given))  # type: ignore[arg-type]
        return iter([("generate", ways["k = 1"]), ("all trees", ways["generate"])])

    monkeypatch.setattr(contest, "_ours", slow)
    with pytest.raises(AssertionError, match="beats generate"):
        contest.contest(topology, "allgather", {})
