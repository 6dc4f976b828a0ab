"""Factored forests: proved as they are, with the verdict of what they stand for."""

import random
from dataclasses import replace

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.core.assembly import expand
from forestcoll.errors import VerificationError
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.factored import Links
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.topology import load_topology
from tests.schedule.made.factored import CLUSTERS, RANDOM, agree, factored, judged
from tests.schedule.mutations_of.factored import MUTATIONS, Mutation


@pytest.mark.parametrize("name", [*CLUSTERS, *RANDOM])
def test_factored_and_expanded_form_get_the_same_verdict(name: str) -> None:
    """Both are optimal allgathers, with the same loads; the depth bound holds."""
    forest = factored(name)
    explicit = expand(forest)
    verdict = verify(forest)
    assert verdict.optimal
    assert agree(verdict, verify(explicit))
    assert verdict.depth >= explicit.tree_depths().max(initial=0)
    assert forest.num_trees == explicit.num_trees
    assert forest.time_s_per_gb == explicit.time_s_per_gb == verdict.time_s_per_gb
    if forest.num_trees:
        assert cost(explicit).time_s_per_gb == verdict.time_s_per_gb
        assert forest.algbw_gb_s == explicit.algbw_gb_s == verdict.algbw_gb_s


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
        ({"parent": (1, 8)}, r"^set 0 .* has 8 items, but a batch names a parent 8$"),
        ({"root": (0, 8)}, r"^set 0 .* has 8 items, but a batch names a root 8$"),
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


@pytest.mark.parametrize("collective", ["", "reduce-scatter "])
def test_the_message_names_the_set_that_lacks_a_link(collective: str) -> None:
    """Three A100 boxes of one shape: box 1 has no link any more between two of its GPUs."""
    forest = factored(f"{collective}dgx_a100:boxes=3")
    lost = (forest.links.tail == 8 + 2) & (forest.links.head == 8 + 5)
    left = {name: array[~lost] for name, array in vars(forest.links).items()}
    with pytest.raises(VerificationError, match=r"no link of set 1 leads from its item 2 to 5$"):
        verify(replace(forest, links=replace(forest.links, **left)))


def test_the_message_names_the_first_set_without_the_link() -> None:
    """Boxes of MI250: item 0 has no link to item 15 in any box, until one is added in box 1."""
    forest = factored("mi250:boxes=16")
    links = forest.links
    ranks = forest.topology.num_compute
    key = links.tail.astype(np.int64) * ranks + links.head
    added = 16 * ranks + 31
    assert added not in key
    at = int(np.searchsorted(key, added))
    more = {
        name: np.insert(getattr(links, name), at, value)
        for name, value in (("tail", 16), ("head", 31), ("load", 1))
    }
    with pytest.raises(VerificationError, match=r"no link of set 0 leads from its item 0 to 15$"):
        verify(replace(forest, links=replace(links, **more)))


@pytest.mark.parametrize("end", ["tail", "head"])
@pytest.mark.parametrize("rank", [-1, 24])
def test_links_end_at_gpus(end: str, rank: int) -> None:
    forest = factored("dgx_a100:boxes=3")
    ends = getattr(forest.links, end).copy()
    ends[-1] = rank
    with pytest.raises(VerificationError, match=rf"^array links\.{end} holds {rank}; .* 0 and 23$"):
        verify(replace(forest, links=replace(forest.links, **{end: ends})))


def test_weights_are_one_for_each_gpu() -> None:
    forest = factored("dgx_a100:boxes=3")
    with pytest.raises(VerificationError, match=r"^the weights are 23; .* a tuple of 24 ints$"):
        verify(replace(forest, weights=(1,) * 23))


def test_shapes_fit_their_sets() -> None:
    """Three boxes: the box and the set of all exchange shapes, or all boxes have one of no set."""
    forest = factored("dgx_a100:boxes=3")
    for shape, message in (
        ([1, 1, 1, 0], r"^set 0 \(8 GPUs from b0\.gpu0 on\) has 8 items, but shape 1 is of 3$"),
        ([1, 1, 1, 1], r"^shape 0 is that of no set; leave it out$"),
    ):
        sets = replace(forest.sets, shape=np.array(shape, dtype=np.int32))
        with pytest.raises(VerificationError, match=message):
            verify(replace(forest, sets=sets))


def test_links_are_in_order_and_each_once() -> None:
    forest = factored("dgx_a100:boxes=3")
    order = np.arange(len(forest.links))
    for wrong, message in (
        ([1, 0, *order[2:]], r"^logical link b0\.gpu0 -> b0\.gpu1 is out of order"),
        ([0, 0, *order[1:]], r"^logical link b0\.gpu0 -> b0\.gpu1 is listed twice"),
    ):
        links = Links(*(array[wrong] for array in vars(forest.links).values()))
        with pytest.raises(VerificationError, match=message):
            verify(replace(forest, links=links))


def test_paths_without_trees_are_an_error() -> None:
    """The GPUs of one box are all joined, but no tree goes from the last GPU of one to the next."""
    forest = factored("dgx_a100:boxes=3")
    paths, topology = forest.routes.paths(), forest.topology
    assert (7, 9) not in paths
    hub = topology.position_of["ib"]
    paths[7, 9] = (Path((topology.compute[7], hub, topology.compute[9]), 1),)
    message = r"^logical link b0\.gpu7 -> b1\.gpu1 has physical paths, but no tree uses it"
    with pytest.raises(VerificationError, match=message):
        verify(replace(forest, routes=Routes.from_paths(paths)))


def test_heights_of_nested_sets_are_bounded() -> None:
    """A ring of four is one set: two hops. Of three boxes the outer trees have one hop, as those in
    a box: one hop inside, one between boxes, and one inside again.
    """
    assert verify(generate(load_topology("ring:nodes=4"), factored=True).schedule).depth == 2
    assert verify(factored("dgx_a100:boxes=3")).depth == 3
