"""Trees, transfers or paths that two schedules share, and those in only one of them.

A tree is identified by its parents, with multicast switches by its walks; a transfer by its step,
chunk, ends, part of the chunk and, if given, path; a path of an all-to-all by its nodes. GPUs and
switches are identified by name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.what_if.tree_changes import gpu_names, parents_by_name

__all__ = ["Explicit", "OfGpu", "Shared", "rerouted", "shared_pieces"]

Explicit = Forest | MulticastForest | StepSchedule | FlowSchedule
"""A schedule of one phase whose pieces are written out."""

Way = tuple[str, ...]  # the nodes of a path, by their names
Piece = tuple[str, Hashable]  # a GPU's name, a key of the piece at that GPU

Amounts = tuple[Iterable[tuple[Piece, int]], int]  # units of each piece, units of all data


@dataclass(frozen=True, slots=True)
class OfGpu:
    """Numbers of pieces of one GPU: in both, with another share of the data, in only one."""

    gpu: str
    same: int
    other_share: int
    only_first: int
    only_second: int

    @property
    def differing(self) -> int:
        """Pieces that are not the same in both."""
        return self.other_share + self.only_first + self.only_second


@dataclass(frozen=True, slots=True)
class Shared:
    """Distinct pieces of two schedules.

    Parameters
    ----------
    what : str
        "trees", "transfers" or "paths".
    by_gpu : tuple of OfGpu
        By the root of the trees, or the sender; the most different first.
    """

    what: str
    by_gpu: tuple[OfGpu, ...]

    @property
    def same(self) -> int:
        """In both, with the same share of the data."""
        return sum(one.same for one in self.by_gpu)

    @property
    def other_share(self) -> int:
        """In both, with another share of the data."""
        return sum(one.other_share for one in self.by_gpu)

    @property
    def only_first(self) -> int:
        """In the first alone."""
        return sum(one.only_first for one in self.by_gpu)

    @property
    def only_second(self) -> int:
        """In the second alone."""
        return sum(one.only_second for one in self.by_gpu)

    @property
    def differing(self) -> int:
        """Pieces that are not the same in both."""
        return sum(one.differing for one in self.by_gpu)


def shared_pieces(first: Explicit, second: Explicit) -> Shared | None:
    """Compare the pieces of two schedules; None if their kinds differ.

    Examples
    --------
    >>> from forestcoll import generate, load_topology
    >>> ring = generate(load_topology("ring:nodes=4")).schedule
    >>> found = shared_pieces(ring, ring)
    >>> found.what, found.same, found.differing
    ('trees', 8, 0)
    """
    if isinstance(first, Forest) and isinstance(second, Forest):
        names = list(dict.fromkeys([*gpu_names(first), *gpu_names(second)]))
        return _compare(
            "trees", *((_trees(one, names), _trees_in_all(one)) for one in (first, second))
        )
    if isinstance(first, MulticastForest) and isinstance(second, MulticastForest):
        return _compare("trees", *((_walked(one), _trees_in_all(one)) for one in (first, second)))
    if isinstance(first, StepSchedule) and isinstance(second, StepSchedule):
        return _compare("transfers", *((_sent(one), one.chunks.whole) for one in (first, second)))
    if isinstance(first, FlowSchedule) and isinstance(second, FlowSchedule):
        return _compare("paths", *((_ways(one), one.whole) for one in (first, second)))
    return None


def rerouted(first: Explicit, second: Explicit) -> int | None:
    """Count the pairs of nodes that both schedules connect, over different paths.

    None if paths or walks are the pieces themselves.
    """
    if not isinstance(first, Forest | StepSchedule) or not isinstance(
        second, Forest | StepSchedule
    ):
        return None
    mine, theirs = (_shares(one) for one in (first, second))
    return sum(mine[pair] != theirs[pair] for pair in mine.keys() & theirs.keys())


def _compare(
    what: str,
    first: tuple[Iterable[tuple[Piece, int]], int],
    second: tuple[Iterable[tuple[Piece, int]], int],
) -> Shared:
    (mine, whole), (theirs, other) = ((_added(pieces), of) for pieces, of in (first, second))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for piece, amount in mine.items():
        if piece not in theirs:
            counts[piece[0]]["only_first"] += 1
        elif amount * other == theirs[piece] * whole:  # equal shares, without fractions
            counts[piece[0]]["same"] += 1
        else:
            counts[piece[0]]["other_share"] += 1
    for piece in theirs.keys() - mine.keys():
        counts[piece[0]]["only_second"] += 1
    kinds = ("same", "other_share", "only_first", "only_second")
    found = [OfGpu(gpu, *(count[kind] for kind in kinds)) for gpu, count in counts.items()]
    found.sort(key=lambda one: (-one.differing, one.gpu))
    return Shared(what, tuple(found))


def _added(pieces: Iterable[tuple[Piece, int]]) -> dict[Piece, int]:
    amounts: dict[Piece, int] = {}
    for piece, amount in pieces:
        amounts[piece] = amounts.get(piece, 0) + amount
    return amounts


def _trees_in_all(forest: Forest | MulticastForest) -> int:
    return sum(forest.weights) * forest.k


def _trees(forest: Forest, names: Sequence[str]) -> Iterator[tuple[Piece, int]]:
    roots, parent = parents_by_name(forest, names)
    batches = zip(roots.tolist(), parent, forest.multiplicity.tolist(), strict=True)
    for root, row, multiplicity in batches:
        yield (names[root], row.astype("int32").tobytes()), multiplicity


def _walked(forest: MulticastForest) -> Iterator[tuple[Piece, int]]:
    names, gpus = _names(forest.topology), forest.topology.compute
    for tree in forest.trees():
        walks = frozenset(tuple(names[node] for node in walk) for walk in tree.walks)
        yield (names[gpus[tree.root]], walks), tree.multiplicity


def _sent(schedule: StepSchedule) -> Iterator[tuple[Piece, int]]:
    names, sends, whole = _names(schedule.topology), schedule.sends, schedule.chunks.whole
    ends = [names[node] for node in schedule.topology.ends]
    chunks = _chunks(schedule, ends)
    ways = None if sends.path is None else [nodes for nodes, _ in _paths(schedule.routes, names)]
    paths = [-1] * len(sends) if sends.path is None else sends.path.tolist()
    columns = [sends.step, sends.chunk, sends.tail, sends.head, sends.reduce]
    columns += [schedule.intervals.first, schedule.intervals.amount]
    for (step, chunk, tail, head, adds, first, amount), path in zip(
        zip(*(column.tolist() for column in columns), strict=True), paths, strict=True
    ):
        way = None if ways is None or path < 0 else ways[path]
        begins = Fraction(first, whole) if first else 0
        key = (step, chunks[chunk], ends[head], adds, begins, Fraction(amount, whole), way)
        yield (ends[tail], key), amount


def _chunks(schedule: StepSchedule, ends: Sequence[str]) -> list[Hashable]:
    """Return a key of every chunk: its number, GPUs and size."""
    chunks = schedule.chunks
    return [
        (
            number,
            root >= 0 and ends[root],
            target >= 0 and ends[target],
            Fraction(size, chunks.whole),
        )
        for number, (root, target, size) in enumerate(
            zip(chunks.root.tolist(), chunks.target.tolist(), chunks.size.tolist(), strict=True)
        )
    ]


def _ways(schedule: FlowSchedule) -> Iterator[tuple[Piece, int]]:
    for nodes, multiplicity in _paths(schedule.routes, _names(schedule.topology)):
        yield (nodes[0], nodes), multiplicity


def _shares(
    schedule: Forest | StepSchedule,
) -> dict[tuple[str, str], dict[tuple[str, ...], Fraction]]:
    """Return the share of each path in the data from its first node to its last."""
    amounts: dict[tuple[str, str], Counter[Way]] = defaultdict(Counter)
    for nodes, multiplicity in _paths(schedule.routes, _names(schedule.topology)):
        amounts[nodes[0], nodes[-1]][nodes] += multiplicity
    return {
        pair: {nodes: Fraction(amount, ways.total()) for nodes, amount in ways.items()}
        for pair, ways in amounts.items()
    }


def _paths(routes: Routes, names: Sequence[str]) -> Iterator[tuple[Way, int]]:
    hop, start = routes.hop.tolist(), routes.first_hop.tolist()
    for number, multiplicity in enumerate(routes.multiplicity.tolist()):
        yield tuple(names[node] for node in hop[start[number] : start[number + 1]]), multiplicity


def _names(topology: Topology) -> list[str]:
    return [node.name for node in topology.nodes]
