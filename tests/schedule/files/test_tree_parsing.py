"""Trees, routes and walks: from lists to arrays, or refused by the entry that is wrong."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.errors import InvalidScheduleError, VerificationError
from forestcoll.schedule import read_schedule, verify, write_schedule
from forestcoll.schedule.files.header import Head
from forestcoll.schedule.files.tree_parsing import parse_routes, parse_trees
from tests.schedule.files.malformed import TREES, assert_equal, refused, spoil
from tests.schedule.made.hand import leaves4, star3
from tests.schedule.mutations_of.forests import FILE_MUTATIONS
from tests.schedule.mutations_of.multicast import star


def test_many_trees_without_edges_are_refused_before_room_is_made(tmp_path: Path) -> None:
    """1.5e4 trees on 1e4 GPUs fill 600 MB, but the file lists no edge of them."""

    def change(document: dict[str, Any]) -> None:
        nodes = [{"name": f"g{i}", "kind": "compute"} for i in range(10_000)]
        links = [{"from": "g0", "to": "g1", "bandwidth_gb_s": 1, "both": True}]
        document["topology"] = {"name": "many", "nodes": nodes, "links": links}
        document["trees"] = [{"root": 0, "multiplicity": 1, "edges": []}] * 15_000
        document["optimum"] = None

    message = refused(spoil(tmp_path, change))
    assert message == (
        "trees lists 0 edges in all, but 15000 trees on 10000 GPUs have 149985000; "
        "is the file complete?"
    )


def test_order_of_edges_and_routes_in_a_file_is_free(tmp_path: Path) -> None:
    """Children may come before parents, and routes in any order."""

    def shuffle(document: dict[str, Any]) -> None:
        document["routes"].reverse()
        for tree in document["trees"]:
            tree["edges"].reverse()

    assert_equal(read_schedule(spoil(tmp_path, shuffle)), leaves4())


@pytest.mark.parametrize("name", FILE_MUTATIONS)
def test_child_with_two_parents_is_rejected(name: str, tmp_path: Path) -> None:
    """What an array of parents cannot hold is found while reading."""
    mutate, message = FILE_MUTATIONS[name]
    assert re.search(message, refused(spoil(tmp_path, mutate), VerificationError))


def test_duplicate_child_names_both_parents(tmp_path: Path) -> None:
    """Tree a of the leaves is a -> b, a -> c -> d; d is given b as a second parent."""
    path = spoil(tmp_path, lambda d: d["trees"][0]["edges"].append([1, 3]))
    assert refused(path, VerificationError) == (
        "tree 0, rooted at a: d is a child twice, of c and of b"
    )


def test_route_listed_twice_is_left_to_verify(tmp_path: Path) -> None:
    """The form allows it; the proof does not."""
    path = spoil(tmp_path, lambda d: d["routes"].append(d["routes"][0]))
    with pytest.raises(VerificationError, match="a -> b is listed twice"):
        verify(read_schedule(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["trees"][0].update(walks=[99]), r"trees\[0\].walks\[0\] is 99; it must be"),
        (lambda d: d["trees"][1].update(walks=["a"]), r"trees\[1\].walks\[0\] is 'a'; it must be"),
        (lambda d: d["walks"].append(["a", "z"]), r"walks\[8\] is 'z'; it must be names of nodes"),
        (lambda d: d["walks"].append("aw"), r"walks\[8\] is 'aw'; it must be a list"),
        (lambda d: d["trees"][0].update(edges=[]), r"trees\[0\].'edges' is not in the format"),
        (lambda d: d.update(routes=[]), "'routes' is not in the format"),
    ],
)
def test_files_that_are_not_in_the_format_are_refused(
    tmp_path: Path, change: Callable[[dict[str, object]], None], message: str
) -> None:
    """With the file, the field, what was found and what may be there."""
    path = tmp_path / "schedule.json"
    write_schedule(star(), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=message):
        read_schedule(path)


@pytest.mark.parametrize("name", TREES)
def test_malformed_trees_and_routes_are_refused_by_field(name: str, tmp_path: Path) -> None:
    """The message names the file, the field, the value found and the values allowed."""
    change, message = TREES[name]
    assert re.search(message, refused(spoil(tmp_path, change)))


def head(reduction: bool = False) -> Head:
    """What the star says of itself."""
    return Head(star3().topology, "by hand", 1, Fraction(1), None, (1, 1, 1), reduction)


def test_edges_become_parents_in_the_direction_of_the_data() -> None:
    """In a reduction the sender is the child."""
    trees = [{"root": 1, "multiplicity": 4, "edges": [[1, 2], [2, 0]]}]
    root, multiplicity, parent = parse_trees(trees, head())
    assert (root.tolist(), multiplicity.tolist()) == ([1], [4])
    assert parent.tolist() == [[2, -1, 1]]
    trees[0]["edges"] = [[0, 2], [2, 1]]
    assert parse_trees(trees, head(reduction=True))[2].tolist() == [[2, -1, 1]]
    nothing = parse_trees([], head())
    assert [array.shape for array in nothing] == [(0,), (0,), (0, 3)]


def test_routes_of_forests_are_sorted_and_those_of_steps_must_be() -> None:
    """Transfers name paths by their places, so these are not moved."""

    def route(tail: int, to: int, *nodes: str) -> dict[str, object]:
        return {"from": tail, "to": to, "paths": [{"nodes": list(nodes), "multiplicity": 2}]}

    net = star3().topology
    routes = [route(1, 2, "b", "w", "c"), route(0, 1, "a", "w", "b")]
    found = parse_routes(routes, net).paths()
    assert {link: paths[0].nodes for link, paths in found.items()} == {
        (0, 1): (0, 3, 1),
        (1, 2): (1, 3, 2),
    }
    with pytest.raises(InvalidScheduleError, match=r"^routes\[0\] is out of order; sort routes"):
        parse_routes(routes, net, in_order=True)
    assert parse_routes(routes[::-1], net, in_order=True) == parse_routes(routes, net)
    to_switch = [route(0, 3, "a", "w")]
    assert parse_routes(to_switch, net, in_order=True).head.tolist() == [3]
    with pytest.raises(InvalidScheduleError, match=r"^routes\[0\].to is 3; .* between 0 and 2"):
        parse_routes(to_switch, net)
