"""Logs of NCCL_DEBUG=INFO."""

import re

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.channels.chosen_channels import Ring
from forestcoll.topology.importers.channels.nccl_log import channels_from_log
from tests.topology.importers.small_files import LOG


def test_rings_of_rank_0_and_trees_of_all_ranks() -> None:
    """Tree 1: rank 1 is the root, 2 below it, 0 below 2. Messages of connections do not count."""
    found = channels_from_log(LOG, "f")
    assert found.gpus == "rank"
    assert found.rings == (Ring(0, (0, 1, 2)), Ring(1, (0, 2, 1)))
    assert [tree.parents for tree in found.trees] == [
        ((0, None), (1, 0), (2, 1)),
        ((0, 2), (1, None), (2, 1)),
    ]
    assert found.trees[1].root() == 1
    assert (found.nics, found.nvls) == (("mlx5_0:1", "mlx5_1:1"), 16)


def test_prefixes_of_launchers_are_ignored() -> None:
    text = "".join(f"[1]<stdout>: {line}\n" for line in LOG.splitlines()) + "x" * 9000
    assert channels_from_log(text, "f") == channels_from_log(LOG + LOG, "f")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Channel 01/02 : 0 2 1", "Channel 00/02 : 0 2 1", "line 3: channel 0 is a second ring"),
        ("Channel 01/02 : 0 2 1", "Channel 01/02 : 0 2 2", "line 3: channel 1 has a rank twice"),
        ("->1->-1", "->0->-1", "line 5: rank 0 has a second parent in tree 1"),
        ("->0->-1", "->-1->-1", "line 4: tree 0 has no rank"),
        ("NCCL INFO", "NCCL", "f: has no channels; run with NCCL_DEBUG=INFO"),
    ],
)
def test_wrong_logs_are_refused(old: str, new: str, message: str) -> None:
    assert old in LOG
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        channels_from_log(LOG.replace(old, new), "f")
