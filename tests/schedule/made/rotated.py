"""Factored forests of small clusters whose trees are kept as rotations, as those of large ones."""

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from forestcoll.core import tree_packing
from forestcoll.generation import generate
from forestcoll.topology import load_topology

ROTATED = ("dgx_a100:boxes=6", "reduce-scatter dgx_a100:boxes=6", "torus:dims=4x6", "mi250:boxes=4")


@contextlib.contextmanager
def rotations_of_few() -> Iterator[None]:
    """Keep trees as rotations from two items on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_packing, "_ROTATED_FROM", 2)
        yield


@cache
def rotated(name: str) -> Any:
    """The factored forest, or the allreduce, of "collective network"."""
    collective, _, spec = name.rpartition(" ")
    with rotations_of_few():
        return generate(
            load_topology(spec), collective=collective or "allgather", factored=True
        ).schedule
