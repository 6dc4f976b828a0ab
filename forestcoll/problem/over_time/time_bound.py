"""Lower bounds on the time of a collective at a size, with labels or a rate as proof.

Problem: before which time can no schedule end a collective?
Input:   a topology, a collective, a size, alpha, and the proof that a search found.
Output:  the bound in us, exactly, and its proof in words.
Cost:    linear in the links.
Source:  the minimum cuts over time of Ford and Fulkerson, see docs/mathematics/time-bound.md.

A cut over time gives each node a label from 0 to T: the time from which on the node is on the side
of the sources. A link (t, h) with bandwidth b and latency l carries at most
b max(0, label_h - label_t - l) across it. GPUs with the label 0 are sources, those with the label T
are sinks. If the data that sources have and sinks need are as much as all links carry, no schedule
ends before T.

In an allreduce, m sets of GPUs gossip: each piece of the data goes from set to set 2 (m - 1) times,
in a broadcast or reduce m - 1 times. Transfers that are sent early, or arrive late, count in part;
those over a shared capacity together.

If no switch reduces and multicasts in one pass, each set must send all data to each other set: once
over its own links if early, else once to each other set.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.over_time.timed_links import REDUCTIONS
from forestcoll.problem.price_bound import PriceBound
from forestcoll.problem.rate_bound import RateBound
from forestcoll.topology.describe import counted, decimal, link_groups, nodes_in_words
from forestcoll.topology.graph import Link
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = [
    "GOSSIPS", "DelayedRate", "GossipOverTime", "PassesOverTime", "TimeBound", "TimeCut",
    "TimeProof",
]  # fmt: skip

GOSSIPS = ("allreduce", "broadcast", "reduce")
"""Collectives that gossip between sets may bound."""

_GROUPS_SHOWN = 8

_NO_ONE_PASS = "if no switch reduces and multicasts in one pass"


@dataclass(frozen=True, slots=True)
class TimeCut:
    """A cut over time.

    Parameters
    ----------
    labels_us : tuple of Fraction
        The label of each node, from 0 to T, in the order of the nodes. In a reduction they are of
        the reversed network.
    """

    labels_us: tuple[Fraction, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DelayedRate:
    """A bound on the rate, which no schedule attains during the first and last microseconds.

    Parameters
    ----------
    bound : RateBound, AllreduceBound or PriceBound
        The last is of an all-to-all of equal parts.
    delay_us : Fraction
        The time in which links carry no data of use: before any data arrive at their tails, or
        too late for any GPU.
    """

    bound: RateBound | AllreduceBound | PriceBound = field(repr=False)
    delay_us: Fraction

    @property
    def algbw_gb_s(self) -> Fraction:
        """The bound on the rate, in GB/s of what nccl-tests calls the size."""
        if isinstance(self.bound, PriceBound):
            return self.bound.topology.num_compute / self.bound.inverse_rate
        return self.bound.algbw_gb_s


@dataclass(frozen=True, slots=True)
class GossipOverTime:
    """Sets of GPUs that must learn what all others know, or what the root knows.

    In a reduce they are of the reversed network, in which the root sends.

    Parameters
    ----------
    sets : tuple of tuples of int
        Disjoint sets of nodes, each with a GPU. All other nodes are switches that only forward.
    shared : tuple of str
        Names of the shared capacities whose links count together.
    since_us : Fraction
        From a root: transfers that arrive earlier count if they are from the root's set, for all
        sets; later ones from anywhere, for their own set.
    """

    sets: tuple[tuple[int, ...], ...] = field(repr=False)
    shared: tuple[str, ...] = ()
    since_us: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class PassesOverTime:
    """Sets of GPUs each of which must send all data to each other, in passes over switches.

    In a pass switches reduce, so that it ends at one GPU, or multicast, so that it begins at one.
    It bounds allreduces in which no switch does both with a piece.

    Parameters
    ----------
    sets : tuple of tuples of int
        Disjoint sets of nodes, each with a GPU. All other nodes are switches.
    reach_us : Fraction
        What arrives earlier before the end counts where it leaves the set of the sender.
        What arrives later counts for the GPUs that it may reach; if a switch multicasts it, where
        it enters a set.
    """

    sets: tuple[tuple[int, ...], ...] = field(repr=False)
    reach_us: Fraction


TimeProof = TimeCut | DelayedRate | GossipOverTime | PassesOverTime


@dataclass(frozen=True, repr=False)
class TimeBound(InBrief):
    """No schedule of a collective ends earlier than this.

    Parameters
    ----------
    root : int, optional
        Rank of the root of a broadcast or reduce.
    weights : tuple of int
        The weight of each rank.
    size_bytes : int
        As nccl-tests counts it: all shards together, or what one GPU sends in an all-to-all.
    alpha_us : Fraction
        Latency of a hop from GPU to GPU, beside those of its links.
    time_us : Fraction
        The bound.
    proof : TimeCut, DelayedRate, GossipOverTime or PassesOverTime
        The last bounds only allreduces in which no switch reduces and multicasts in one pass.
    by_rate_us : Fraction, optional
        The time for this size at the best known bound on the rate, without latencies. None if the
        program that finds one took too long.
    """

    topology: Topology
    collective: str
    root: int | None
    weights: tuple[int, ...]
    size_bytes: int
    alpha_us: Fraction
    time_us: Fraction
    proof: TimeProof
    by_rate_us: Fraction | None = None

    @property
    def reduction(self) -> bool:
        """Whether the labels are of the reversed network."""
        return self.collective in REDUCTIONS

    @property
    def algbw_gb_s(self) -> Fraction:
        """Upper bound on the algorithmic bandwidth at this size, in GB/s."""
        return self.size_bytes / (1000 * self.time_us)

    @property
    def share_of_rate(self) -> Fraction | None:
        """How much of the bound on the rate is possible at this size; None without one."""
        return None if self.by_rate_us is None else self.by_rate_us / self.time_us

    @property
    def model(self) -> str:
        """Which schedules the bound is about, in words."""
        if isinstance(self.proof, PassesOverTime):
            return f"any allreduce {_NO_ONE_PASS}"
        rate = self.proof.bound if isinstance(self.proof, DelayedRate) else None
        return rate.model if isinstance(rate, RateBound | AllreduceBound) else "any schedule"

    def in_words(self) -> list[str]:
        """Return the proof in words."""
        if isinstance(self.proof, DelayedRate):
            return [
                f"links carry nothing of use for {decimal(self.proof.delay_us)} us, and data for "
                f"{decimal(self.time_us - self.proof.delay_us)} us at "
                f"{decimal(self.proof.algbw_gb_s)} GB/s at most"
            ]
        if isinstance(self.proof, GossipOverTime):
            return self._gossip_in_words(self.proof)
        if isinstance(self.proof, PassesOverTime):
            return self._passes_in_words(self.proof)
        labels = self.proof.labels_us
        sources = self._gpus_labelled(labels, Fraction(0))
        sinks = self._gpus_labelled(labels, self.time_us)
        verb = "contribute to" if self.collective in (*REDUCTIONS, "allreduce") else "reach"
        near, far = (sinks, sources) if self.reduction else (sources, sinks)
        due = self._due(sources, sinks)
        amount = str(due) if due.denominator == 1 else decimal(due)
        return [
            f"{amount} bytes of {nodes_in_words(self.topology, near)} must {verb} "
            f"{nodes_in_words(self.topology, far)}",
            *self._turns(labels),
            *self._crossings(),
        ]

    def _gossip_in_words(self, proof: GossipOverTime) -> list[str]:
        rooted = self.collective != "allreduce"
        times = (len(proof.sets) - 1) * (1 if rooted else 2)
        seldom = "comes from few" if self.reduction else "reaches few"
        gpus = [[v for v in one if v in self.topology.rank_of] for one in proof.sets]
        return [
            f"each of {self.size_bytes} bytes must go {times} times between {len(gpus)} sets of "
            "GPUs, or more often where it "
            + (f"{seldom} GPUs" if rooted else "carries few summands or reaches few GPUs"),
            *(nodes_in_words(self.topology, one) for one in gpus[:_GROUPS_SHOWN]),
            *(f"over {name} only what it carries" for name in proof.shared[:_GROUPS_SHOWN]),
            *self._moment_in_words(proof.since_us),
        ]

    def _passes_in_words(self, proof: PassesOverTime) -> list[str]:
        gpus = [[v for v in one if v in self.topology.rank_of] for one in proof.sets]
        return [
            f"no switch reduces and multicasts in one pass, so each of {self.size_bytes} bytes "
            f"must leave each of {len(gpus)} sets of GPUs, or go to each other set directly",
            f"in the last {decimal(proof.reach_us)} us only the latter",
            *(
                ["each GPU is a set"]
                if all(len(one) == 1 for one in gpus)
                else (nodes_in_words(self.topology, one) for one in gpus[:_GROUPS_SHOWN])
            ),
        ]

    def _moment_in_words(self, since_us: Fraction) -> list[str]:
        if not since_us:
            return []
        if self.reduction:
            return [f"in the last {decimal(since_us)} us only what enters the root's set counts"]
        return [f"in the first {decimal(since_us)} us only what leaves the root's set counts"]

    def _gpus_labelled(self, labels: tuple[Fraction, ...], label: Fraction) -> list[int]:
        return [v for v in self.topology.compute if labels[v] == label]

    def _due(self, sources: list[int], sinks: list[int]) -> Fraction:
        """Return the bytes that must cross the cut."""
        size = Fraction(self.size_bytes)
        if self.collective == "allreduce":
            return size
        if self.collective == "all-to-all":
            return size * len(sources) * len(sinks) / self.topology.num_compute
        weight = sum(self.weights[self.topology.rank_of[v]] for v in sources)
        return size * weight / sum(self.weights)

    def _turns(self, labels: tuple[Fraction, ...]) -> list[str]:
        """Say when nodes turn to the side of the sources; in a reduction, in reversed time."""
        turning: dict[Fraction, list[int]] = defaultdict(list)
        for node, label in enumerate(labels):
            turning[label].append(node)
        when = "before the end" if self.reduction else "from the start"
        return [
            f"{decimal(label)} us {when}: {nodes_in_words(self.topology, turning[label])}"
            for label in sorted(turning)[:_GROUPS_SHOWN]
        ]

    @property
    def crossing(self) -> list[tuple[Link, Fraction]]:
        """Links that carry data across a cut over time, with the microseconds; else none."""
        if not isinstance(self.proof, TimeCut):
            return []
        labels, found = self.proof.labels_us, []
        for link in self.topology.links:
            near, far = (link.head, link.tail) if self.reduction else (link.tail, link.head)
            sends = self.topology.nodes[link.tail].is_gpu
            late = link.latency_us + (self.alpha_us if sends else 0)
            if (open_us := labels[far] - labels[near] - late) > 0:
                found.append((link, open_us))
        return found

    def _crossings(self) -> list[str]:
        """Say what links carry across the cut, and for how long."""
        links: dict[Fraction, list[Link]] = defaultdict(list)
        for link, open_us in self.crossing:
            links[open_us].append(link)
        lines = []
        for open_us in sorted(links, reverse=True):
            for alike in link_groups(self.topology, links[open_us]):
                each = f"{counted(len(alike), 'link')} of {decimal(alike[0].bandwidth_gb_s)} GB/s"
                tails = nodes_in_words(self.topology, (link.tail for link in alike))
                heads = nodes_in_words(self.topology, (link.head for link in alike))
                lines.append(f"{each} for {decimal(open_us)} us, from {tails} to {heads}")
        return lines[:_GROUPS_SHOWN]

    def in_a_line(self) -> str:
        """Return collective, network, size and time in a line."""
        name = f"{self.collective} on {self.topology.name}"
        least = f"{name}, {self.size_bytes} bytes: at least {decimal(self.time_us)} us"
        return f"{least} {_NO_ONE_PASS}" if isinstance(self.proof, PassesOverTime) else least

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the proof."""
        return {
            "topology": self.topology.name,
            "collective": self.collective,
            "size": f"{self.size_bytes} bytes",
            "alpha": f"{decimal(self.alpha_us)} us",
            "at least": f"{decimal(self.time_us)} us",
            "what binds": self.in_words(),
        }
