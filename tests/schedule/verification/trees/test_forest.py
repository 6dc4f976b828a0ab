"""Explicit forests: proved, counted, and refused when anything is changed."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import Allreduce
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.schedule.verification.dispatch import verify
from tests.hand_networks import network_of
from tests.schedule.made.hand import FORESTS, MUTABLE, forest, leaves4, rails2, star3, topology
from tests.schedule.mutations_of.forests import MUTATIONS
from tests.schedule.verification.rejecting import rejected


def test_trees_are_counted_with_multiplicity() -> None:
    """Two GPUs, k = 3: two batches stand for six trees, two paths each way for three trees."""
    verdict = verify(rails2())
    assert (verdict.batches, verdict.trees, verdict.paths) == (2, 6, 4)
    assert verdict.algbw_gb_s == 6


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_nothing_claimed_is_not_optimal_but_correct(make: Callable[[], Forest]) -> None:
    """Without a cut there is a proof of delivery and of congestion, and none of optimality."""
    verdict = verify(replace(make(), optimum=None, congestion=Fraction(1000)))
    assert not verdict.optimal
    assert verdict.congestion == make().congestion


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_is_rejected_by_name(name: str, make: Callable[[], Forest]) -> None:
    """One fault in a correct forest is found, and the message names it."""
    mutate, message = MUTATIONS[name]
    assert re.search(message, rejected(mutate(make())))


def test_the_schedule_of_one_gpu_is_empty() -> None:
    """Nothing moves and nothing is claimed; a tree without edges is refused."""
    net = topology("alone", "a", "w", [("a", "w", 1)])
    empty = forest(net, [], {}, k=1, congestion=0)
    verdict = verify(empty)
    assert (verdict.trees, verdict.time_s_per_gb, verdict.algbw_gb_s) == (0, 0, None)
    assert "must be empty: no trees" in rejected(forest(net, [(0, 1, [])], {}, k=1, congestion=0))
    assert "congestion must be 0" in rejected(forest(net, [], {}, k=1, congestion=1))
    nobody = topology("nobody", "", "wv", [("w", "v", 1)])
    assert "has no GPU" in rejected(forest(nobody, [], {}, k=1, congestion=1))


def test_loads_beyond_64_bits_are_exact() -> None:
    """Chains of 2^62 trees on the star load every link with 2^63, and the answer is right."""
    correct = star3()
    many = 2**62
    verdict = verify(
        replace(
            correct,
            k=many,
            congestion=Fraction(many),
            multiplicity=many * correct.multiplicity,
            routes=Routes.from_paths(
                {
                    link: tuple(Path(path.nodes, many) for path in paths for _ in range(2))
                    for link, paths in correct.routes.paths().items()
                }
            ),
        )
    )
    assert verdict.congestion == many
    assert verdict.trees == 3 * many
    assert verdict.optimal


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"k": 0}, "k is 0; it must be a positive int"),
        ({"method": ""}, "the method is ''"),
        ({"congestion": Fraction(0)}, "the congestion claimed is Fraction"),
    ],
)
def test_the_claims_of_a_factored_forest_are_checked(claim: dict[str, Any], message: str) -> None:
    """As those of an explicit one; what is right has 3 edges in each of its 4 trees."""
    correct = as_factored(leaves4())
    assert verify(correct).tree_edges == 12
    with pytest.raises(VerificationError, match=message):
        verify(replace(correct, **claim))


def test_the_routes_of_a_factored_forest_are_checked() -> None:
    correct = as_factored(leaves4())
    tail = correct.routes.tail.copy()
    tail[-1] = 4
    with pytest.raises(VerificationError, match=r"routes\.tail holds 4"):
        verify(replace(correct, routes=replace(correct.routes, tail=tail)))


def test_a_single_gpu_loads_no_link() -> None:
    """One GPU on a switch: both phases of an allreduce are empty, so no link is busy."""
    alone = generate(network_of("alone [w]", "alone - w", "alone")).schedule
    both = verify(Allreduce(transposed(alone, alone.topology), alone))
    assert (both.time_s_per_gb, both.busiest_link) == (0, None)
