"""Reader of NCCL's channels from a graph file or a log."""

from __future__ import annotations

import os
from pathlib import Path

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.channels.chosen_channels import Channels
from forestcoll.topology.importers.channels.nccl_graph import channels_from_graph
from forestcoll.topology.importers.channels.nccl_log import channels_from_log
from forestcoll.topology.reading.whole_text import whole_text

__all__ = ["read_channels"]


def read_channels(path: str | os.PathLike[str]) -> Channels:
    """Read the channels of a file of NCCL_GRAPH_DUMP_FILE, or of a log of NCCL_DEBUG=INFO.

    Raises
    ------
    InvalidTopologyError
        If the file cannot be read, or has no channels of one communicator.
    """
    text = whole_text(Path(path), InvalidTopologyError)
    if text.lstrip().startswith("<"):
        return channels_from_graph(text, str(path))
    return channels_from_log(text, str(path))
