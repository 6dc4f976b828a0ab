"""Differences between two schedules: networks, figures, link loads and shared pieces.

The comparison passes over the trees, transfers or paths of both. Nodes are identified by their
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.comparison.schedule_measures import Measured, measured
from forestcoll.comparison.shared_pieces import Explicit, Shared, rerouted, shared_pieces
from forestcoll.core.assembly import expand
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.differences import differences
from forestcoll.what_if.tree_changes import TreeChanges, tree_changes

__all__ = [
    "LinkDifference", "LinkDifferences", "PhaseDiff", "ScheduleDiff", "diff", "link_differences",
]  # fmt: skip

_MOST_PARENTS = 2**26
"""Largest factored forest, in parents of its trees, that is expanded for the comparison."""


@dataclass(frozen=True, slots=True)
class PhaseDiff:
    """Differences between two phases.

    Parameters
    ----------
    name : str
        "shared trees", "shared transfers" or "shared paths"; for an allreduce with "reduce" or
        "gather" before it.
    changes : TreeChanges, optional
        For explicit or factored forests: the share of the data that keeps its trees, and the GPUs
        whose transfers change.
    rerouted : int, optional
        Pairs of nodes that both schedules connect, over different paths.
    """

    name: str
    pieces: Shared
    changes: TreeChanges | None
    rerouted: int | None

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return not self.pieces.differing and not self.rerouted


@dataclass(frozen=True, slots=True)
class ScheduleDiff:
    """Differences between two schedules.

    Parameters
    ----------
    network : tuple of str
        Differences between the networks, in words; names of networks do not matter.
    not_compared : str
        Why ``phases`` is empty; an empty text otherwise.
    same_clock : bool
        Whether both have the same times of transfers, or none.
    """

    first: Measured
    second: Measured
    network: tuple[str, ...]
    links: LinkDifferences
    phases: tuple[PhaseDiff, ...]
    not_compared: str
    same_clock: bool

    @property
    def is_same(self) -> bool:
        """Whether everything is compared and equal; False if the pieces are not compared."""
        return (
            self.first == self.second
            and not self.network
            and not self.not_compared
            and self.same_clock
            and all(phase.is_same for phase in self.phases)
        )


def diff(first: AnySchedule, second: AnySchedule) -> ScheduleDiff:
    """Compare two schedules; nodes are identified by their names.

    Parameters
    ----------
    first, second : any schedule
        Assumed to do what they claim; :func:`forestcoll.schedule.verify` proves that. The
        comparison ignores names of networks, the order of trees, and the proofs of bounds.

    Examples
    --------
    >>> from forestcoll import generate, load_topology
    >>> whole = load_topology("dgx_a100:boxes=2")
    >>> slower = whole.scaled("b1.gpu3 - ib", "1/2")
    >>> damaged = diff(generate(whole).schedule, generate(slower).schedule)
    >>> damaged.is_same, len(damaged.network), damaged.network[0]
    (False, 2, 'b1.gpu3 -> ib has 25/2 GB/s, not 25')
    """
    mine, theirs = measured(first), measured(second)
    phases, reason = _phases(first, second, mine, theirs)
    return ScheduleDiff(
        mine,
        theirs,
        tuple(differences(first.topology, second.topology)),
        link_differences(mine.loads, theirs.loads),
        phases,
        reason,
        _clock(first) == _clock(second),
    )


def _phases(
    first: AnySchedule, second: AnySchedule, mine: Measured, theirs: Measured
) -> tuple[tuple[PhaseDiff, ...], str]:
    """Compare phase by phase, or return why that is impossible."""
    if mine.collective != theirs.collective:
        return (), "they are of different collectives"
    if any(_parents(one) > _MOST_PARENTS for one in (mine, theirs) if "Factored" in one.kind):
        if first == second:
            return (), ""
        return (), f"a factored forest has more than {_MOST_PARENTS} parents to write out"
    pairs = list(zip(_explicit(first), _explicit(second), strict=False))
    names = ["reduce ", "gather "] if len(pairs) == 2 else [""]
    found = [_phase(name, *pair) for name, pair in zip(names, pairs, strict=True)]
    whole = [one for one in found if one is not None]
    if len(whole) < len(found) or isinstance(first, Allreduce) != isinstance(second, Allreduce):
        return (), "they are of different kinds"
    return tuple(whole), ""


def _parents(one: Measured) -> int:
    return (one.distinct_trees or 0) * one.gpus


def _explicit(schedule: AnySchedule) -> tuple[Explicit, ...]:
    if isinstance(schedule, Allreduce):
        return tuple(part for phase in schedule.phases for part in _explicit(phase))
    return (expand(schedule) if isinstance(schedule, FactoredForest) else schedule,)


def _phase(name: str, first: Explicit, second: Explicit) -> PhaseDiff | None:
    pieces = shared_pieces(first, second)
    if pieces is None:
        return None
    forests = isinstance(first, Forest) and isinstance(second, Forest)
    changes = tree_changes(first, second) if forests else None  # type: ignore[arg-type]
    return PhaseDiff(f"{name}shared {pieces.what}", pieces, changes, rerouted(first, second))


def _clock(schedule: AnySchedule) -> Clock | None:
    return schedule.in_short().clock if isinstance(schedule, StepSchedule) else None


Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LinkDifference:
    """A link with different loads: the shares of the data in both schedules."""

    link: Ends
    first: Fraction
    second: Fraction


@dataclass(frozen=True, slots=True)
class LinkDifferences:
    """The number of links with equal loads, and the links with different ones.

    Parameters
    ----------
    others : tuple of LinkDifference
        The greatest differences first, equal ones by name.
    """

    same: int
    others: tuple[LinkDifference, ...]


def link_differences(
    first: Mapping[Ends, Fraction], second: Mapping[Ends, Fraction]
) -> LinkDifferences:
    """Compare loads link by link.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> link_differences({("a", "b"): third, ("b", "a"): third}, {("a", "b"): third}).others
    (LinkDifference(link=('b', 'a'), first=Fraction(1, 3), second=Fraction(0, 1)),)
    """
    links = first.keys() | second.keys()
    none = Fraction(0)
    others = [
        LinkDifference(link, first.get(link, none), second.get(link, none))
        for link in links
        if first.get(link, none) != second.get(link, none)
    ]
    others.sort(key=lambda one: (-abs(one.first - one.second), one.link))
    return LinkDifferences(len(links) - len(others), tuple(others))
