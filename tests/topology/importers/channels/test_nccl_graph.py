"""NCCL's graph files."""

import re

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.channels.chosen_channels import Ring, Tree
from forestcoll.topology.importers.channels.nccl_graph import channels_from_graph
from tests.topology.importers.small_files import GRAPHS


def test_rings_trees_nics_and_nvls() -> None:
    """A tree inside a machine is a chain, from the GPU that is first."""
    found = channels_from_graph(GRAPHS, "f")
    assert found.gpus == "device"
    assert found.rings == (Ring(0, (0, 1, 2), ("0", "1")), Ring(1, (2, 1, 0), ("1", "1")))
    assert found.trees == (Tree(0, ((1, None), (0, 1), (2, 0)), ("0",)),)
    assert (found.nics, found.nvls) == (("0", "1"), 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("graphs", "graph", "line 1: graph is not the element graphs"),
        ('pattern="4"', 'pattern="9"', "pattern='9'; it must be a number from 0 to 6"),
        (
            '<gpu dev="1"/><gpu dev="2"/>',
            '<gpu dev="0"/>',
            "line 3: channel has no GPU, or one twice",
        ),
        ('<gpu dev="1"/><gpu dev="2"/>', "<gpu/>", "line 3: gpu has no dev"),
        ("pattern=", "patterns=", "graph has no pattern"),
    ],
)
def test_wrong_files_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        channels_from_graph(GRAPHS.replace(old, new), "f")


def test_a_file_without_channels_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="has no channels of rings or trees"):
        channels_from_graph("<graphs/>", "f")
