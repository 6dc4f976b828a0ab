"""Random networks of the registry: every family and every network between boxes is drawn."""

import random
from collections.abc import Mapping
from fractions import Fraction

import pytest

from benchmarks.topologies import rescaled
from forestcoll import FactoredForest, expand, generate
from forestcoll.topology import load_topology
from forestcoll.topology.families import FAMILIES as REGISTRY
from forestcoll.topology.families.fabric import parse_fabric
from tests.fuzz.check import numbering_changes_no_optimum
from tests.fuzz.families import FAMILIES
from tests.fuzz.registered import (
    DRAWN,
    FABRICS,
    GPU_NETWORKS,
    MACHINES,
    Draw,
    draw_registered,
    fabric_words,
    registered_spec,
)


def test_every_registered_family_is_drawn_once() -> None:
    """None is excluded."""
    assert sorted([*MACHINES, *FABRICS, *GPU_NETWORKS]) == sorted(REGISTRY)


@pytest.mark.parametrize("name", DRAWN)
def test_a_family_can_be_drawn_small_and_large(name: str) -> None:
    """Two GPUs are asked for, or 140; some families have a least size, or one size alone."""
    for size in (2, 140):
        spec = registered_spec(name, random.Random(size), size)
        assert spec.partition(":")[0] == name
        assert 2 <= load_topology(spec).num_compute <= 512


def test_every_word_for_a_network_between_boxes_is_drawn() -> None:
    chance = random.Random(1)
    drawn = {fabric_words(chance, 12).partition(":")[0] for _ in range(200)}
    known = REGISTRY["hgx_b200"].parameters
    (words,) = (one.type for one in known if one.name == "fabric")
    assert all(word in words for word in drawn)
    assert len(drawn) == len(words.partition(", with options")[0].split(", "))
    assert all(parse_fabric(word) for word in ("single", "rails"))


@pytest.mark.parametrize(
    ("family", "names"),
    [("machines", MACHINES), ("fabrics", FABRICS), ("gpu-networks", GPU_NETWORKS)],
)
def test_a_seed_draws_any_of_the_names(family: str, names: Mapping[str, Draw]) -> None:
    """200 draws of two GPUs meet nearly all; each is small, but for machines of one size."""
    chance = random.Random(family)
    met = {draw_registered(names, chance, 2).name.partition(":")[0] for _ in range(200)}
    assert met <= set(names)
    assert len(met) > len(names) * 0.9
    assert family in FAMILIES


def test_host_memory_stays_shared_in_another_order_and_on_slower_links() -> None:
    """Transfers of consumer GPUs share the memory of their socket."""
    topology = load_topology("pcie_box:gpus=4")
    assert topology.shared
    made = generate(topology, factored=True).schedule
    assert isinstance(made, FactoredForest)
    numbering_changes_no_optimum(expand(made), made)
    assert rescaled(topology, lambda _: Fraction(1, 2)).shared == topology.shared
