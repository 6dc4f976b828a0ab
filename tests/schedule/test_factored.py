"""Factored forests: the verdict of the forest they stand for, without writing it out."""

import random
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pytest

from forestcoll.core.assembly import expand, heights, trees
from forestcoll.errors import VerificationError
from forestcoll.generate import generate, generate_factored
from forestcoll.schedule.cost.measures import cost
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.verify.dispatch import Verdict, verify
from forestcoll.topology import group, load_topology
from tests.random_topologies import KINDS, random_topology
from tests.schedule.hand import FORESTS, MUTABLE
from tests.schedule.mutations_of.factored import MUTATIONS, Mutation
from tests.schedule.mutations_of.forests import MUTATIONS as EXPLICIT_MUTATIONS

CLUSTERS = (
    *("dgx_a100:boxes=1", "dgx_a100:boxes=3", "dgx_a100:boxes=32", "dgx_h100:boxes=4"),
    *("mi250:boxes=2", "mi250:boxes=16", "torus:dims=4x4", "paper_example"),
    *("reduce-scatter dgx_a100:boxes=3", "reduce-scatter mi250:boxes=2", "reduce paper_example"),
    *("broadcast dgx_a100:boxes=3", "weighted dgx_a100:boxes=3", "alone ring:nodes=3"),
)
RANDOM = [f"{kind} {seed}" for kind in KINDS for seed in range(12)]
NOT_KNOWN_UNEXPANDED = ("batches", "tree_edges", "height")


@cache
def factored(name: str) -> FactoredForest:
    """The factored forest of a cluster, of a collective on it, or of "kind seed"."""
    if name in RANDOM:
        kind, seed = name.split()
        return generate_factored(random_topology(int(seed), kind))
    what, _, spec = name.rpartition(" ")
    net = load_topology(spec)
    if what == "alone":
        return generate_factored(group(net, [net.nodes[0].name]))
    if what == "weighted":
        return generate_factored(net, weights=[v % 3 for v in range(net.num_compute)])
    forest = generate_factored(
        net, collective=what or "allgather", root=1 if what in ("broadcast", "reduce") else None
    )
    assert isinstance(forest, FactoredForest)
    return forest


def judged(make: Callable[[], Forest | FactoredForest]) -> Verdict | None:
    """Return the verdict, or None if the forest is rejected, as early as when it is made."""
    try:
        return verify(make())
    except VerificationError:
        return None


def agree(one: Verdict | None, other: Verdict | None) -> bool:
    """Whether two verdicts say the same of what both know."""
    if one is None or other is None:
        return one is other
    mine, yours = asdict(one), asdict(other)
    return all(mine[key] == yours[key] for key in mine if key not in NOT_KNOWN_UNEXPANDED)


@pytest.mark.parametrize("name", [*CLUSTERS, *RANDOM])
def test_factored_and_expanded_form_get_the_same_verdict(name: str) -> None:
    """Both are optimal allgathers, with the same loads; the height bound holds."""
    forest = factored(name)
    explicit = expand(forest)
    verdict = verify(forest)
    assert verdict.optimal
    assert agree(verdict, verify(explicit))
    assert verdict.height >= explicit.heights().max(initial=0)
    assert forest.num_trees == explicit.num_trees
    assert forest.time_s_per_gb == explicit.time_s_per_gb == verdict.time_s_per_gb
    if forest.num_trees:
        assert cost(explicit).time_s_per_gb == verdict.time_s_per_gb
        assert forest.algbw_gb_s == explicit.algbw_gb_s == verdict.algbw_gb_s


@pytest.mark.parametrize("name", [*CLUSTERS, *RANDOM[::5]])
def test_links_carry_their_loads_exactly(name: str) -> None:
    """The trees that use each logical link, counted one by one, are what the factored form says."""
    forest = factored(name)
    load = dict.fromkeys(
        zip(forest.links.tail.tolist(), forest.links.head.tolist(), strict=True), 0
    )
    for tree in trees(forest):
        for parent, child in tree.edges:
            edge = (child, parent) if forest.reduction else (parent, child)
            load[edge] += tree.multiplicity
    assert list(load.values()) == forest.links.load.tolist()


@pytest.mark.parametrize("name", [*CLUSTERS, *RANDOM[::5]])
def test_streams_are_what_expansion_writes_out(name: str) -> None:
    """Heights and trees come out the same without keeping them."""
    forest = factored(name)
    explicit = expand(forest)
    multiplicity, height = heights(forest)
    assert np.array_equal(multiplicity, explicit.multiplicity)
    assert np.array_equal(height, explicit.heights())
    assert list(trees(forest)) == list(explicit.trees())
    assert np.array_equal(explicit.root, np.sort(explicit.root))


def test_generate_is_the_expansion() -> None:
    one, other = generate(load_topology("mi250:boxes=2")), expand(factored("mi250:boxes=2"))
    assert np.array_equal(one.parent, other.parent)
    assert np.array_equal(one.routes.hop, other.routes.hop)


def test_equal_sets_share_their_packing() -> None:
    """32 boxes are 32 sets of 8 GPUs of one shape, in a set of 32 items."""
    forest = factored("dgx_a100:boxes=32")
    assert forest.shapes.items.tolist() == [8, 32]
    assert forest.sets.shape.tolist() == [0] * 32 + [1]
    assert forest.num_packed < 50


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_changed_forests_get_the_verdict_of_their_expansion(mutate: Mutation) -> None:
    """An expansion that is refused counts as rejected. 22 kinds of change, 24 each."""
    names = ("dgx_a100:boxes=3", "mi250:boxes=2", "paper_example", *RANDOM[::7])
    done = rejected = 0
    for seed in range(24 * 20):
        draw = random.Random(f"{mutate.__name__} {seed}")
        changed = mutate(factored(draw.choice(names)), draw)
        if changed is None:
            continue
        verdict = judged(lambda changed=changed: changed)
        assert agree(verdict, judged(lambda changed=changed: expand(changed))), seed
        done += 1
        rejected += verdict is None
        if done == 24:
            break
    assert done == 24
    assert (rejected == 0) == (mutate.__name__ == "split_batch")


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


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"parent": (1, -1)}, r"^batch 0 of set 0 \(8 GPUs from b0\.gpu0 on\): "),
        ({"multiplicity": (0, 0)}, r"^batch 0 of set 0 .*: multiplicity is 0; it must be positive"),
        (
            {"multiplicity": (0, 10**6)},
            r"^set 0 .*: 1000000 trees are packed from b0\.gpu0, but 1 start there and 2 come in",
        ),
        ({"items": (0, 7)}, r"shapes\.parent has shape"),
    ],
)
def test_messages_name_the_set(spoil: dict[str, tuple[int, int]], message: str) -> None:
    """Three A100 boxes: a GPU starts one tree, and one of each other box comes in there."""
    forest = factored("dgx_a100:boxes=3")
    changes = {}
    for name, (at, value) in spoil.items():
        changes[name] = getattr(forest.shapes, name).copy()
        changes[name][at] = value
    with pytest.raises(VerificationError, match=message):
        verify(replace(forest, shapes=replace(forest.shapes, **changes)))


def test_expansion_names_the_set_that_does_not_match() -> None:
    """Box 0 is packed for one tree less than enter it."""
    forest = factored("dgx_a100:boxes=3")
    fewer = forest.shapes.multiplicity.copy()
    fewer[0] -= 1
    with pytest.raises(VerificationError, match=r"^not to be expanded: set \d+ \(8 nodes from \d+"):
        expand(replace(forest, shapes=replace(forest.shapes, multiplicity=fewer)))


def test_routes_are_found_when_asked_for() -> None:
    """Generating, expanding and counting trees does not route; verify does, once."""
    forest = generate_factored(load_topology("dgx_a100:boxes=2"))
    explicit = expand(forest)
    assert explicit.routes is forest.routes
    assert "hop" not in vars(forest.routes)
    verify(explicit)
    hop = forest.routes.hop
    assert explicit.routes.hop is hop
    with pytest.raises(AttributeError, match="routes have no attribute 'hops'"):
        _ = forest.routes.hops  # type: ignore[attr-defined]
