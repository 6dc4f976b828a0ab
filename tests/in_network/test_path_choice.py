"""Which tree takes which path, where a link has several."""

from dataclasses import replace

import pytest

from forestcoll.errors import VerificationError
from forestcoll.in_network.path_choice import PathChoice
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule import Path, Routes, cost, verify
from tests.in_network.broadcasts import broadcast
from tests.in_network.multicast_switches import walks
from tests.schedule.made import hand


def test_batches_are_cut_at_changes_of_paths() -> None:
    """Three trees each way over paths of 1 and 2: batches of 1 and 2."""
    forest = hand.rails2()
    choice = PathChoice(forest)
    assert choice.batch.tolist() == [0, 0, 1, 1]
    assert choice.multiplicity.tolist() == [1, 2, 1, 2]
    result = multicast(forest)
    assert [walks(result, batch) for batch in range(4)] == [["asb"], ["atb"], ["bsa"], ["bta"]]
    assert result.loads() == cost(forest).loads
    assert verify(result).optimal


def test_cuts_of_several_links_meet_in_one_batch() -> None:
    """Five trees a -> b -> c over paths of 2 + 3 and of 4 + 1: batches of 2, 2 and 1."""
    joined = ("as", "at", "bs", "bt", "bu", "bv", "cu", "cv")
    net = hand.topology("twice", "abc", "stuv", [(g, n, 9) for g, n in joined])
    paths = {"asb": 2, "atb": 3, "buc": 4, "bvc": 1}
    forest = broadcast(net, [(0, 1), (1, 2)], paths, 5)
    choice = PathChoice(forest)
    assert choice.multiplicity.tolist() == [2, 2, 1]
    assert choice.paths(0, 3)[:, 1:].tolist() == [[0, 2], [1, 2], [1, 3]]


def test_an_edge_without_a_path_is_refused() -> None:
    """The forest was not verified; the link is named."""
    forest = hand.star3()
    paths = {link: found for link, found in forest.routes.paths().items() if link != (0, 1)}
    with pytest.raises(VerificationError, match="a -> b has no path"):
        multicast(replace(forest, routes=Routes.from_paths(paths)))


def test_too_few_paths_are_refused() -> None:
    """Two trees run from a to b, but only one path."""
    forest = hand.star3()
    paths = dict(forest.routes.paths())
    paths[0, 1] = (Path(paths[0, 1][0].nodes, 1),)
    with pytest.raises(VerificationError, match="a -> b has not as many paths as trees"):
        multicast(replace(forest, routes=Routes.from_paths(paths)))


def test_each_part_gets_the_path_of_each_edge() -> None:
    """Rails: path 0 and 1 lead from a to b, 2 and 3 back; one tree and two of each."""
    choice = PathChoice(hand.rails2())
    assert len(choice) == 4
    assert choice.paths(0, 2)[:, 1].tolist() == [0, 1]
    assert choice.paths(2, 4)[:, 0].tolist() == [2, 3]
    assert list(choice.blocks(2)) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert list(choice.blocks(5)) == [(0, 2), (2, 4)]


def test_a_single_path_of_each_link_is_that_of_its_edges() -> None:
    """In a star every link has one path, of the same number; nothing is cut."""
    forest = hand.star3()
    choice = PathChoice(forest)
    links = list(zip(forest.routes.tail.tolist(), forest.routes.head.tolist(), strict=True))
    assert len(forest.routes.multiplicity) == len(links)
    assert choice.batch.tolist() == [0, 1, 2]
    assert choice.multiplicity.tolist() == forest.multiplicity.tolist()
    for row, parents in zip(choice.paths(0, 3).tolist(), forest.parent.tolist(), strict=True):
        edges = [
            (path, above, rank) for rank, (path, above) in enumerate(zip(row, parents, strict=True))
        ]
        assert all(links[path] == (above, rank) for path, above, rank in edges if above >= 0)
