"""Explicit forests held as factored ones: nothing changes, and nothing wrong is hidden."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from forestcoll.core.assembly import expand, trees
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.verification.dispatch import verify
from tests.schedule.made.factored import RANDOM, agree, factored, judged
from tests.schedule.made.hand import FORESTS, MUTABLE
from tests.schedule.mutations_of.forests import MUTATIONS as EXPLICIT_MUTATIONS


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_any_explicit_forest_is_a_factored_one(make: Callable[[], Forest]) -> None:
    """One set of all GPUs: nothing changes, the trees themselves included."""
    forest = make()
    wrapped = as_factored(forest)
    assert verify(wrapped) == verify(forest)
    assert sorted(trees(wrapped), key=str) == sorted(forest.trees(), key=str)


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
@pytest.mark.parametrize("name", EXPLICIT_MUTATIONS)
def test_spoilt_explicit_forests_are_rejected_as_factored_ones(
    name: str, make: Callable[[], Forest]
) -> None:
    spoilt = EXPLICIT_MUTATIONS[name][0](make())
    assert judged(lambda: as_factored(spoilt)) is None
    assert judged(lambda: expand(as_factored(spoilt))) is None


def test_random_changes_of_explicit_forests_are_judged_alike() -> None:
    """200 forests with one entry of one array redrawn, right or wrong, get the same verdict."""
    verdicts = []
    for seed in range(200):
        draw = random.Random(seed)
        forest = expand(factored(draw.choice(("dgx_a100:boxes=3", "paper_example", *RANDOM[::7]))))
        name = draw.choice(("root", "multiplicity", "parent"))
        array = getattr(forest, name).copy()
        low, high = (1, forest.k) if name == "multiplicity" else (0, forest.topology.num_compute)
        array.flat[draw.randrange(array.size)] = draw.randrange(low - 1, high)
        changed = replace(forest, **{name: array})
        verdict = judged(lambda changed=changed: changed)
        wrapped = judged(lambda changed=changed: as_factored(changed))
        again = judged(lambda changed=changed: expand(as_factored(changed)))
        assert agree(verdict, wrapped), seed
        assert agree(verdict, again), seed
        verdicts.append(verdict)
    assert verdicts.count(None) > 100
    assert verdicts.count(None) < 200
