"""Rings and trees in words."""

from forestcoll.topology.importers.channels.chosen_channels import Channels, Ring, Tree


def test_channels_are_lines() -> None:
    tree = Tree(0, ((0, None), (1, 0)))
    found = Channels("rank", (Ring(0, (0, 1), ("mlx5_0", "mlx5_1")),), (tree,))
    assert list(found.in_lines()) == ["ring 0: 0 1 by NIC mlx5_0, mlx5_1", "tree 0: 0 0>1"]


def test_a_tree_has_one_root_or_is_not_whole() -> None:
    assert Tree(0, ((0, 1), (1, None))).root() == 1
    assert Tree(0, ((0, None), (1, None))).root() is None
