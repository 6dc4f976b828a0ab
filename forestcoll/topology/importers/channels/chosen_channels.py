"""Channels of NCCL: rings, trees and NICs, as a run chose them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Channels", "Ring", "Tree"]


@dataclass(frozen=True, slots=True)
class Ring:
    """A ring: its channel, GPUs in order, and the NICs it enters and leaves a machine by."""

    channel: int
    gpus: tuple[int, ...]
    nics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree: its channel, the parent of each GPU (None at the root), and NICs."""

    channel: int
    parents: tuple[tuple[int, int | None], ...]
    nics: tuple[str, ...] = ()

    def root(self) -> int | None:
        """Return the GPU without a parent; None if the file has not all GPUs."""
        roots = [gpu for gpu, parent in self.parents if parent is None]
        return roots[0] if len(roots) == 1 else None


@dataclass(frozen=True, slots=True)
class Channels:
    """All channels of one communicator.

    Parameters
    ----------
    gpus : str
        What numbers of GPUs mean: ``rank`` in the communicator (logs), or ``device`` of a machine
        (graph files).
    rings, trees : tuple
    nics : tuple of str
        In NCCL's order.
    nvls : int
        Channels that use multicast of the NVSwitches.
    """

    gpus: str
    rings: tuple[Ring, ...]
    trees: tuple[Tree, ...]
    nics: tuple[str, ...] = ()
    nvls: int = 0

    def in_lines(self) -> Iterator[str]:
        """Yield the channels in words, a line each."""
        for ring in self.rings:
            yield f"ring {ring.channel}: {' '.join(map(str, ring.gpus))}{_by(ring.nics)}"
        for tree in self.trees:
            arcs = " ".join(
                f"{gpu}" if parent is None else f"{parent}>{gpu}" for gpu, parent in tree.parents
            )
            yield f"tree {tree.channel}: {arcs}{_by(tree.nics)}"


def _by(nics: tuple[str, ...]) -> str:
    return f" by NIC {', '.join(nics)}" if nics else ""
