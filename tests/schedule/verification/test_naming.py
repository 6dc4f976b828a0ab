"""How counter-examples call things: by the names of the network."""

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.verification.naming import (
    arrows,
    end_name,
    fail,
    gpu_name,
    link_name,
    path_name,
    tree_name,
    walk,
)
from tests.hand_networks import network_of
from tests.schedule.made.hand import leaves4, star3


class Mixed:
    """A network whose switch is the first node: ranks are not positions."""

    topology = network_of("[w] a b", "", "mixed")


def test_ranks_count_gpus_and_ends_go_on_with_the_others() -> None:
    """Rank 0 is a, at position 1; end 2 is the switch, at position 0."""
    mixed = Mixed()
    assert [gpu_name(mixed, rank) for rank in range(2)] == ["a", "b"]
    assert [end_name(mixed, end) for end in range(3)] == ["a", "b", "w"]
    assert walk(mixed, [1, 2, 0]) == "b -> w -> a"


def test_trees_links_and_paths_are_called_by_their_ends() -> None:
    """Tree 1 of the star is rooted at b; its path 2 is that of c -> a."""
    forest = star3()
    assert tree_name(forest, 1) == "tree 1, rooted at b"
    assert link_name(forest, 2) == "c -> a"
    assert path_name(forest, 2) == "path c -> w -> a of logical link c -> a"
    assert path_name(leaves4(), 1) == "path a -> x -> y -> c of logical link a -> c"


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (1, "0"),
        (8, "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7"),
        (9, "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> ... -> 8"),
        (10**4, "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> ... -> 9999"),
    ],
)
def test_long_walks_are_cut_short_before_their_end(length: int, shown: str) -> None:
    """Eight names are shown."""
    assert arrows(map(str, range(length))) == shown


def test_a_fault_ends_with_exit_code_1() -> None:
    with pytest.raises(VerificationError, match=r"^a misses b$") as caught:
        fail("a misses b")
    assert caught.value.exit_code == 1
