"""Physical trees with multicast or reduction: what is right is proved, what is not is named."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from forestcoll.errors import VerificationError
from forestcoll.generation import generate
from forestcoll.in_network.pruning import multicast, traffic
from forestcoll.schedule import Allreduce, MulticastForest, read_schedule, verify, write_schedule
from forestcoll.schedule.multicast import Walks
from forestcoll.schedule.verification.trees import multicast as verify_multicast
from forestcoll.topology import group, load_topology
from tests.command_line import ROOT
from tests.hand_networks import network_of
from tests.schedule.mutations_of.multicast import MUTATIONS, box, rows_of, star, with_rows


@pytest.mark.parametrize("reduction", [False, True])
def test_the_verdict_states_the_proof(reduction: bool) -> None:
    """Four stars around w: a link into or out of a GPU carries 3 trees over 9 GB/s."""
    verdict = verify(star(reduction))
    assert verdict.collective == ("reduce-scatter" if reduction else "allgather")
    assert (verdict.gpus, verdict.roots, verdict.k, verdict.trees) == (4, 4, 1, 4)
    assert (verdict.batches, verdict.tree_edges, verdict.paths) == (4, 16, 8)
    assert (verdict.logical_links, verdict.depth, verdict.deliveries) == (8, 2, 12)
    assert verdict.congestion == Fraction(1, 3)
    assert verdict.busiest_link == (("a", "w") if reduction else ("w", "a"))
    assert verdict.time_s_per_gb == Fraction(1, 12)
    assert not verdict.optimal


@pytest.mark.parametrize("reduction", [False, True])
def test_an_optimal_forest_stays_optimal(reduction: bool) -> None:
    """Both switches are used; a GPU gets three shards over 10 GB/s, and no cut says less."""
    assert verify(box(reduction)).optimal
    assert box(reduction).time_s_per_gb == Fraction(3, 40)


@pytest.mark.parametrize("reduction", [False, True])
@pytest.mark.parametrize("spoil", MUTATIONS, ids=lambda spoil: spoil.__name__)
def test_faults_are_named(
    spoil: Callable[[MulticastForest], MulticastForest], reduction: bool
) -> None:
    """Each mutation of a forest that is right is refused in one line that names the fault."""
    with pytest.raises(VerificationError) as caught:
        verify(spoil(star(reduction)))
    assert MUTATIONS[spoil][reduction] in str(caught.value)
    assert "\n" not in str(caught.value)


def looped(reduction: bool, times: int = 1) -> MulticastForest:
    """Stars whose roots send to the switch and get from it what they have themselves, as NVLS."""
    rows = rows_of(star(reduction))
    for root, row in enumerate(rows):
        back = (root, 4) if reduction else (4, root)
        row[1:1] = [back] * times
    return replace(with_rows(star(reduction), rows), congestion=Fraction(4, 9))


@pytest.mark.parametrize("reduction", [False, True])
def test_loopback_loads_links_and_changes_no_tree(reduction: bool) -> None:
    """A link to or from the switch that carries 3 of the 4 trees carries all; tree_depths stay."""
    verdict = verify(looped(reduction))
    assert (verdict.depth, verdict.deliveries) == (2, 12)
    assert verdict.congestion == Fraction(4, 9)
    assert verdict.tree_edges == 16 + 4


@pytest.mark.parametrize("reduction", [False, True])
def test_loopback_goes_back_once(reduction: bool) -> None:
    fault = "a sends its part 2 times" if reduction else "a gets its data back 2 times"
    with pytest.raises(VerificationError, match=f"tree 0.*{fault}; once is enough"):
        verify(looped(reduction, times=2))
    rows = rows_of(looped(reduction))
    rows[2].append((2, 4) if reduction else (4, 2))
    fault = "c sends its part 2 times" if reduction else "c gets its data back 2 times"
    with pytest.raises(VerificationError, match=f"tree 2, rooted at c: {fault}"):
        verify(with_rows(looped(reduction), rows))


@pytest.mark.parametrize("reduction", [False, True])
def test_nothing_else_goes_back(reduction: bool) -> None:
    """To the switch from a GPU that has the data from it, or between two GPUs."""
    for back, fault in (
        ((1, 4), r"w (gets the data|sends its sum) 2"),
        ((1, 5, 0), "is the root and"),
    ):
        rows = rows_of(star(reduction))
        rows[0].append(back[::-1] if reduction else back)
        with pytest.raises(VerificationError, match=fault):
            verify(with_rows(star(reduction), rows))


@pytest.mark.parametrize("entries", [1, 2**20])
@pytest.mark.parametrize("reduction", [False, True])
def test_two_switches_that_feed_each_other_are_a_cycle(
    reduction: bool, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the tree of b: w and y get the data from each other only, which is no loopback."""
    monkeypatch.setattr(verify_multicast, "_BLOCK_ENTRIES", entries)
    topology = network_of("a b [w*] [y*]", "a b w - y, a b - w", "two switches")
    plain = replace(star(reduction), topology=topology, weights=(1, 1))
    a, b, w, y = range(4)
    right = [[(a, w), (w, b)], [(b, y), (y, w), (w, a)]]
    fed = [right[0], [(w, y), (y, w), (w, a)]]
    sound, faulty = (
        with_rows(plain, [[walk[::-1] if reduction else walk for walk in row] for row in rows])
        for rows in (right, fed)
    )
    assert verify(replace(sound, congestion=Fraction(2))).depth == 3
    with pytest.raises(VerificationError, match=r"^tree 1, rooted at b: .* is a cycle, apart from"):
        verify(replace(faulty, congestion=Fraction(2)))


@pytest.mark.parametrize("reduction", [False, True])
def test_the_depth_of_a_single_tree_counts_its_walks(reduction: bool) -> None:
    """Only a has data: a hop into the switch and one out of it."""
    forest = replace(star(reduction), weights=(1, 0, 0, 0), congestion=Fraction(1, 9))
    assert verify(with_rows(forest, rows_of(forest)[:1])).depth == 2


@pytest.mark.parametrize("reduction", [False, True])
def test_a_tree_may_be_a_chain_of_all_gpus(reduction: bool) -> None:
    """Twelve GPUs, so eleven hops: more than eight, which three doublings would follow."""
    links = ", ".join(f"g{i} - g{i + 1}" for i in range(11))
    topology = network_of("g0..11 [w*]", f"g0..11 - w, {links}", "chain")
    weights = (1,) + (0,) * 11
    forest = replace(star(reduction), topology=topology, weights=weights, congestion=Fraction(1))
    chain = [(i + 1, i) if reduction else (i, i + 1) for i in range(11)]
    assert verify(with_rows(forest, [chain])).depth == 11


@pytest.mark.parametrize("reduction", [False, True])
def test_the_first_node_may_be_a_switch_within_a_tree(reduction: bool) -> None:
    """From a to w, to b, to c; without a, b gets it from c and hangs in a cycle through w."""
    topology = network_of("[w*] a b c", "a b c - w, b - c", "switch first")
    forest = replace(star(reduction), topology=topology, weights=(1, 0, 0), congestion=Fraction(1))
    w, a, b, c = range(4)
    way = -1 if reduction else 1
    chain = [walk[::way] for walk in ((a, w), (w, b), (b, c))]
    assert verify(with_rows(forest, [chain])).depth == 3
    cycle = [walk[::way] for walk in ((c, w), (w, b), (b, c))]
    with pytest.raises(VerificationError, match="is a cycle, apart from the root"):
        verify(with_rows(forest, [cycle]))


@pytest.mark.parametrize("reduction", [False, True])
def test_the_root_and_the_walk_that_are_wrong_are_named(reduction: bool) -> None:
    """In the tree of c, b sends to c; its switch gets nothing; it sends to d past b."""
    rows = rows_of(star(reduction))
    rows[2].remove((4, 2) if reduction else (2, 4))
    with pytest.raises(VerificationError, match=r"^tree 2, rooted at c: w (copies|adds up)"):
        verify(with_rows(star(reduction), rows))
    rows = rows_of(star(reduction))
    rows[2].append((2, 5, 1) if reduction else (1, 5, 2))
    fault = "^tree 2, rooted at c: c is the root and"
    with pytest.raises(VerificationError, match=fault):
        verify(with_rows(star(reduction), rows))
    rows = rows_of(star(reduction))
    past = (4, 1, 5, 3)
    rows[2] = [past[:: -1 if reduction else 1] if {*walk} == {3, 4} else walk for walk in rows[2]]
    with pytest.raises(
        VerificationError, match=r"^walk (d -> x -> b -> w|w -> b -> x -> d) passes"
    ):
        verify(with_rows(star(reduction), rows))


@pytest.mark.parametrize(
    ("part", "spoilt", "fault"),
    [
        ("node", [0, 6], "array walks.node holds 6; its values lie between 0 and 5"),
        ("node", [0, -1], "array walks.node holds -1; its values lie between 0 and 5"),
        ("first_node", [1, 2], "array walks.first_node runs from 1 to"),
    ],
)
def test_walks_out_of_range_are_refused(part: str, spoilt: list[int], fault: str) -> None:
    """The first entries of an array of the walks are others."""
    walks = star().walks
    array = np.append(spoilt, getattr(walks, part)[2:]).astype(np.int64)
    with pytest.raises(VerificationError, match=fault):
        verify(replace(star(), walks=replace(walks, **{part: array})))


def test_multiplicities_are_whole_numbers_one_a_batch() -> None:
    for spoilt in (np.ones(4), np.ones(3, dtype=np.int64)):
        with pytest.raises(VerificationError, match=r"^array multiplicity"):
            verify(replace(star(), multiplicity=spoilt))


def test_an_optimum_that_is_not_attained_is_refused() -> None:
    """The stars leave x unused, so they are slower than the optimum of the box."""
    with pytest.raises(VerificationError, match="claimed to be optimal"):
        verify(replace(star(), optimum=box().optimum))


def test_a_switch_that_can_copy_may_just_forward() -> None:
    """Walks may pass through w: then it is not among the multicasting nodes of the tree."""
    rows = [[(r, 4, v) for v in range(4) if v != r] for r in range(4)]
    verdict = verify(with_rows(star(), rows))
    assert (verdict.depth, verdict.tree_edges) == (1, 12)


def test_a_relay_forwards_but_does_not_copy() -> None:
    """GPUs outside the group are passed through, and are no ends of walks."""
    net = group(load_topology("ring:nodes=4"), ["gpu0", "gpu2"])
    forest = multicast(generate(net).schedule)
    assert verify(forest).optimal
    assert {len(walk) for row in rows_of(forest) for walk in row} == {3}
    spoiled = with_rows(replace(forest, k=1, optimum=None), [[(0, 1), (1, 2)], [(2, 1), (1, 0)]])
    with pytest.raises(VerificationError, match="gpu1, a relay, which only forwards"):
        verify(spoiled)


def test_a_single_gpu_has_an_empty_schedule() -> None:
    """A group of one: nothing is sent, and nothing may be."""
    net = group(load_topology("ring:nodes=4"), ["gpu0"])
    forest = multicast(generate(net).schedule)
    assert verify(forest).trees == 0
    assert forest.tree_depths().tolist() == []
    assert {kind.factor for kind in traffic(generate(net).schedule, forest)} == {None}
    with pytest.raises(VerificationError, match="must be empty"):
        verify(with_rows(forest, [[(0, 1)]]))


# --- files -------------------------------------------------------------------------------------

ARRAYS = ("root", "multiplicity", "first_walk", "walk")


def assert_equal(one: MulticastForest, other: MulticastForest) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype == getattr(other, name).dtype
    np.testing.assert_array_equal(one.walks.first_node, other.walks.first_node)
    np.testing.assert_array_equal(one.walks.node, other.walks.node)
    for name in ("topology", "method", "k", "congestion", "optimum", "weights", "reduction"):
        assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "reduce"])
def test_multicast_forests_survive_a_round_trip(
    tmp_path: Path, suffix: str, collective: str
) -> None:
    """And the same forest gives the same bytes."""
    root = 0 if collective in ("broadcast", "reduce") else None
    topology = load_topology("dgx_h100:boxes=2,nics=nodes")
    forest = multicast(generate(topology, collective=collective, root=root).schedule)
    path = tmp_path / f"schedule.{suffix}"
    write_schedule(forest, path)
    again = read_schedule(path)
    assert isinstance(again, MulticastForest)
    assert_equal(again, forest)
    before = path.read_bytes()
    write_schedule(again, path)
    assert path.read_bytes() == before


def test_the_schema_describes_the_file(tmp_path: Path) -> None:
    """A file with walks is accepted, one with edges or routes in it is not."""
    schema = json.loads(
        (ROOT / "docs" / "schemas" / "schedule.schema.json").read_text(encoding="utf-8")
    )
    path = tmp_path / "schedule.json"
    write_schedule(star(), path)
    document = json.loads(path.read_text())
    validator = Draft202012Validator(schema)
    validator.validate(document)
    write_schedule(
        multicast(generate(load_topology("dgx_h100:boxes=1"), collective="allreduce").schedule),
        path,
    )
    validator.validate(json.loads(path.read_text()))
    assert not validator.is_valid({**document, "routes": []})
    assert not validator.is_valid({**document, "trees": [{**document["trees"][0], "edges": []}]})
    assert not validator.is_valid({key: document[key] for key in document if key != "walks"})


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_allreduces_are_written_with_both_phases(tmp_path: Path, suffix: str) -> None:
    """One switch reduces in the first phase and multicasts in the second."""
    topology = load_topology("dgx_h100:boxes=1")
    schedule = generate(topology, collective="allreduce", multicast=True).schedule
    path = tmp_path / f"schedule.{suffix}"
    write_schedule(schedule, path)
    again = read_schedule(path)
    assert isinstance(again, Allreduce)
    for old, new in zip(schedule.phases, again.phases, strict=True):
        assert isinstance(new, MulticastForest)
        assert_equal(old, new)
    assert verify(again).optimal


@pytest.mark.parametrize("entries", [1, 12, 2**20])
@pytest.mark.parametrize("reduction", [False, True])
def test_names_wrong_tree(reduction: bool, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four stars around w, six nodes each; in one of them a GPU gets nothing, or two hang loose."""
    monkeypatch.setattr(verify_multicast, "_BLOCK_ENTRIES", entries)
    forest, w = star(reduction), 4
    assert verify(forest).depth == 2
    for at in range(4):
        rows = rows_of(forest)
        last = 2 if at == 3 else 3
        lost = (last, w) if reduction else (w, last)
        rows[at] = [walk for walk in rows[at] if walk != lost]
        fault = "never sends its part" if reduction else "never gets the data"
        name = f"^tree {at}, rooted at {'abcd'[at]}: {'abcd'[last]} {fault}$"
        with pytest.raises(VerificationError, match=name):
            verify(with_rows(forest, rows))


@pytest.mark.parametrize("entries", [-(2**20), 2**20])
def test_pairs_of_ends_are_counted_once(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stars around w: each of four GPUs sends to w, and w to each; by a table and by sorting."""
    monkeypatch.setattr(verify_multicast, "_TABLE_ENTRIES", entries)
    forest = star()
    twice = replace(
        forest,
        walks=Walks(
            np.concatenate(
                [forest.walks.first_node, forest.walks.first_node[1:] + len(forest.walks.node)]
            ),
            np.tile(forest.walks.node, 2),
        ),
    )
    assert verify_multicast._num_pairs(forest) == len(forest.walks) == 8
    assert verify_multicast._num_pairs(twice) == 8


def test_a_walk_that_is_wrong_is_named() -> None:
    """One that only ends at x, which copies nothing, and the second of many, without a link."""
    rows = rows_of(star())
    rows[0].append((0, 5))
    with pytest.raises(VerificationError, match="walk a -> x ends at x, a switch that is not"):
        verify(with_rows(star(), rows))
    rows = rows_of(star())
    rows[1][rows[1].index((4, 2))] = (1, 2)
    with pytest.raises(VerificationError, match="walk b -> c hops from b to c, but box has no"):
        verify(with_rows(star(), rows))
