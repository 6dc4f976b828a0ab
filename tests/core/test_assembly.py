"""Trees written out: as many as the factored form says, in its order."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.core.assembly import expand, expand_packed, tree_depths, trees
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.generation import generate
from forestcoll.schedule import Allreduce
from forestcoll.topology import load_topology
from tests.schedule.literals import ring_of_five
from tests.schedule.made.factored import CLUSTERS, RANDOM, factored
from tests.schedule.mutations_of.multicast import star


@pytest.mark.parametrize("name", [*CLUSTERS, *RANDOM[::5]])
def test_streamed_trees_equal_the_expanded_forest(name: str) -> None:
    """Heights and trees come out the same without keeping them."""
    forest = factored(name)
    explicit = expand(forest)
    multiplicity, depth = tree_depths(forest)
    assert np.array_equal(multiplicity, explicit.multiplicity)
    assert np.array_equal(depth, explicit.tree_depths())
    assert list(trees(forest)) == list(explicit.trees())
    assert np.array_equal(explicit.root, np.sort(explicit.root))


def test_generate_is_the_expansion() -> None:
    one, other = (
        generate(load_topology("mi250:boxes=2")).schedule,
        expand(factored("mi250:boxes=2")),
    )
    assert np.array_equal(one.parent, other.parent)
    assert np.array_equal(one.routes.hop, other.routes.hop)


@pytest.mark.parametrize(
    "name", ["torus:dims=4x4", "ring:nodes=5", "hypercube:dimension=3", "dgx_a100:boxes=2"]
)
def test_a_packed_forest_is_expanded_alike_without_checks(name: str) -> None:
    """Also where a root has several batches, of which the fullest comes first."""
    forest = factored(name)
    checked, packed = expand(forest), expand_packed(forest)
    assert np.array_equal(packed.root, checked.root)
    assert np.array_equal(packed.multiplicity, checked.multiplicity)
    assert np.array_equal(packed.parent, checked.parent)
    assert packed.optimum == checked.optimum


def test_expansion_names_the_set_that_does_not_match() -> None:
    """Box 0 is packed for one tree less than enter it."""
    forest = factored("dgx_a100:boxes=3")
    fewer = forest.shapes.multiplicity.copy()
    fewer[0] -= 1
    with pytest.raises(VerificationError, match=r"^not to be expanded: set \d+ \(8 nodes from \d+"):
        expand(replace(forest, shapes=replace(forest.shapes, multiplicity=fewer)))


def test_both_phases_of_an_allreduce_are_written_out() -> None:
    """With the bound and the remark that it had."""
    made = generate(
        load_topology("dgx_a100:boxes=2"), collective="allreduce", factored=True
    ).schedule
    written = expand(made)
    assert isinstance(written, Allreduce)
    assert (written.bound, written.remark) == (made.bound, made.remark)
    for phase, factored_phase in zip(written.phases, made.phases, strict=True):
        assert np.array_equal(phase.parent, expand(factored_phase).parent)
    assert expand(written.gather) is written.gather


def test_other_schedules_are_refused() -> None:
    """Physical trees are written out already, and steps have no trees."""
    with pytest.raises(UnsupportedError, match="its physical trees are written out"):
        expand(star())
    with pytest.raises(UnsupportedError, match="forests and allreduces of them"):
        expand(ring_of_five())
