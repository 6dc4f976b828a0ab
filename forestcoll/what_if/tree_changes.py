"""Differences between two forests: changed trees and affected GPUs.

Equal trees are found by 64-bit hashes and then compared. The transfers of a GPU are compared by
hash only; about one pair in 2^50 of different ones counts as equal. A pass takes some 10 ns an
entry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.forest import Forest
from forestcoll.topology.in_brief import InARow

__all__ = ["TreeChanges", "gpu_names", "parents_by_name", "tree_changes"]

Gpus = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]

_ABSENT, _ROOT = -2, -1  # where a parent would stand
_MODULUS = 2**64
_AT_A_TIME = 64  # batches, whose tables then stay in the cache


@dataclass(frozen=True, slots=True, repr=False)
class TreeChanges(InARow):
    """How the trees of a new forest differ from those of an old one.

    Parameters
    ----------
    trees : int
        Trees of the new forest, counted with multiplicity.
    kept : Fraction
        Share of the data that runs over the same trees in both. Trees are compared by GPUs; the
        switches between two GPUs do not matter.
    touched : tuple of str
        GPUs with other senders, receivers or shares of the data than before; those of the new
        network first.
    """

    trees: int
    kept: Fraction
    touched: tuple[str, ...]

    def in_a_row(self) -> dict[str, object]:
        """Return the share of the data that keeps its trees, and what changes."""
        return {
            "kept_percent": 100 * self.kept,
            "changed_trees": f"{self.changed_trees} of {self.trees}",
            "touched_gpus": len(self.touched),
        }

    @property
    def changed_trees(self) -> int:
        """Trees of the new forest that carry data of other old trees, rounded up."""
        return math.ceil((1 - self.kept) * self.trees)


def tree_changes(old: Forest, new: Forest) -> TreeChanges:
    """Compare two forests of one collective, GPUs by their names.

    Examples
    --------
    >>> from forestcoll import generate, load_topology
    >>> ring = generate(load_topology("ring:nodes=4")).schedule
    >>> tree_changes(ring, ring)
    <TreeChanges kept_percent 100, changed_trees 0 of 8, touched_gpus 0>
    """
    names = list(dict.fromkeys([*gpu_names(new), *gpu_names(old)]))
    shares = [Fraction(1, sum(one.weights) * one.k) for one in (old, new)]
    whole = math.lcm(*(share.denominator for share in shares))  # all data is so many units
    before, after = (
        _Trees.of(forest, names, int(share * whole))
        for forest, share in zip((old, new), shares, strict=True)
    )
    kept = {
        tree: min(before.units[tree], units)
        for tree, units in after.units.items()
        if tree in before.units and before.equal(after, tree)
    }
    same = {tree for tree in kept if before.units[tree] == after.units[tree]}
    sums = [side.exchanges(side.units.keys() - same) for side in (before, after)]
    return TreeChanges(
        trees=new.num_trees,
        kept=Fraction(sum(kept.values()), whole) if new.num_trees else Fraction(1),
        touched=tuple(names[gpu] for gpu in np.flatnonzero((sums[0] != sums[1]).any(axis=0))),
    )


def gpu_names(forest: Forest) -> list[str]:
    """Return the names of the GPUs, by rank."""
    return [forest.topology.nodes[v].name for v in forest.topology.compute]


def parents_by_name(forest: Forest, names: Sequence[str]) -> tuple[Gpus, Gpus]:
    """Return root and parent of each batch with ``names`` in place of ranks.

    There is a column for each name. -1 marks the root, and a lower number a GPU not in the tree.
    """
    place = {name: i for i, name in enumerate(names)}
    at = np.array([place[name] for name in gpu_names(forest)] + [_ROOT], dtype=np.int32)
    parent = forest.parent
    if at[:-1].tolist() != list(range(len(names))):
        parent = np.full((forest.num_batches, len(names)), _ABSENT, dtype=np.int32)
        parent[:, at[:-1]] = at[forest.parent]
    return at[forest.root], parent


@dataclass(frozen=True, slots=True)
class _Trees:
    """The trees of a forest over the GPUs of both.

    ``root`` and ``parent`` are numbers of GPUs, ``parent`` with a column for each. ``hashes`` are
    of the batches; ``units`` is how much of the data runs over each distinct tree, by its hash, and
    ``row`` one batch of it.
    """

    root: Gpus
    parent: Gpus
    hashes: list[int]
    units: dict[int, int]
    row: dict[int, int]
    weight: list[int]

    @classmethod
    def of(cls, forest: Forest, names: list[str], unit: int) -> _Trees:
        root, parent = parents_by_name(forest, names)
        hashes = _row_hashes(parent)
        weight = [multiplicity * unit for multiplicity in forest.multiplicity.tolist()]
        units: dict[int, int] = {}
        row: dict[int, int] = {}
        for number, (tree, amount) in enumerate(zip(hashes, weight, strict=True)):
            units[tree] = units.get(tree, 0) + amount
            row.setdefault(tree, number)
        return cls(root, parent, hashes, units, row, weight)

    def equal(self, other: _Trees, tree: int) -> bool:
        """Whether trees of one hash are the same."""
        return bool((self.parent[self.row[tree]] == other.parent[other.row[tree]]).all())

    def exchanges(self, trees: set[int]) -> Hashes:
        """Return hashes of what each GPU receives, and sends, in some of the trees."""
        rows = [row for row, tree in enumerate(self.hashes) if tree in trees]
        gpus = self.parent.shape[1]
        roots, givers, takers = (_random(gpus, number) for number in range(1, 4))
        share = np.array([self.weight[row] % _MODULUS for row in rows], dtype=np.uint64)
        share *= roots[self.root[rows]]
        sums = np.zeros((2, gpus + 2), dtype=np.uint64)  # the last two entries: no parent
        givers = np.append(givers, np.zeros(2, dtype=np.uint64))
        for start in range(0, len(rows), _AT_A_TIME):
            parent = self.parent[rows[start : start + _AT_A_TIME]]
            part = share[start : start + _AT_A_TIME, None]
            sums[0, :gpus] += (part * givers[parent]).sum(axis=0, dtype=np.uint64)
            np.add.at(sums[1], parent, part * takers)
        return sums[:, :gpus]


def _row_hashes(parent: Gpus) -> list[int]:
    random = _random(parent.shape[1], 0)
    found: list[int] = []
    for start in range(0, len(parent), _AT_A_TIME):
        shifted = (parent[start : start + _AT_A_TIME] - _ABSENT).astype(np.uint64)
        found += (shifted * random).sum(axis=1, dtype=np.uint64).tolist()
    return found


def _random(gpus: int, number: int) -> Hashes:
    """Return a random number for each GPU, the same every time."""
    return np.random.default_rng(number).integers(1, _MODULUS, gpus, dtype=np.uint64)
