"""``forestcoll topology channels``: the rings and trees that NCCL chose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import Json
from forestcoll.topology.importers.channels.channel_files import read_channels

__all__ = ["show_channels"]


def show_channels(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Of NCCL_GRAPH_DUMP_FILE, or a log with NCCL_DEBUG=INFO."
        ),
    ],
    json_: Json = False,
) -> None:
    """Print the rings and trees that NCCL chose in a run."""
    found = read_channels(file)
    if json_:
        typer.echo(
            as_json(
                {
                    "gpus": found.gpus,
                    "rings": [
                        {"channel": ring.channel, "gpus": list(ring.gpus), "nics": list(ring.nics)}
                        for ring in found.rings
                    ],
                    "trees": [
                        {
                            "channel": tree.channel,
                            "parents": {str(gpu): parent for gpu, parent in tree.parents},
                            "nics": list(tree.nics),
                        }
                        for tree in found.trees
                    ],
                    "nics": list(found.nics),
                    "nvls_channels": found.nvls,
                }
            )
        )
        return
    for line in found.in_lines():
        typer.echo(line)
    if found.nics:
        typer.echo(f"NICs: {', '.join(found.nics)}")
    if found.nvls:
        typer.echo(f"NVLS channels: {found.nvls}")
