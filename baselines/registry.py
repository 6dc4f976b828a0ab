"""The peers by name, all called alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from baselines import (
    blink,
    blink_switch,
    blueconnect,
    bruck,
    direct,
    multitree,
    nccl_tree,
    recursive,
    ring,
    shifted_ring,
    tacos,
    torus,
    unwound,
)
from baselines.collectives import GATHERING, ROOTED, check_supported
from baselines.limits import Limits
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "Method", "Schedule"]

Schedule = Forest | Allreduce[Forest] | StepSchedule
"""What a method can make."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make schedules for a topology.

    Parameters
    ----------
    name : str
        As experiments and results call it, and as its schedules name their ``method``.
    summary : str
        What it does, in a line.
    source : str
        What it reimplements.
    generate : callable
        Called as ``generate(topology, collective, **parameters)``, with ``limits=`` if it searches;
        returns a schedule, or raises UnsupportedError for what the method cannot do.
    collectives : tuple of str
        What it does, on topologies that it supports; the first is its own.
    notes : str
        What differs from the source or is left out.
    """

    name: str
    summary: str
    source: str
    generate: Callable[..., Schedule] = field(repr=False)
    collectives: tuple[str, ...]
    notes: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """What can be set, besides the topology, the collective and the limits."""
        names = inspect.signature(self.generate).parameters
        return tuple(name for name in names if name not in ("topology", "collective", "limits"))

    def run(
        self,
        topology: Topology,
        collective: str | None = None,
        parameters: Mapping[str, Any] = MappingProxyType({}),
        limits: Limits | None = None,
    ) -> Schedule:
        """Make a schedule.

        Parameters
        ----------
        topology : Topology
        collective : str, optional
            The method's own if not given.
        parameters : mapping
        limits : Limits, optional
            For a method that searches.

        Raises
        ------
        UnsupportedError
            If the method does not do this, here; the message says why.
        InvalidParameterError
            If the method has no such parameter, or not that value.
        TimeLimitError
            If the time is up and there is nothing to return.
        """
        collective = self.collectives[0] if collective is None else collective
        check_supported(self.name, collective, self.collectives)
        if unknown := sorted(set(parameters) - set(self.parameters)):
            known = ", ".join(self.parameters) or "none"
            raise InvalidParameterError(
                f"{self.name} has no parameter {unknown[0]!r}; it has: {known}"
            )
        searches = "limits" in inspect.signature(self.generate).parameters
        extra = {"limits": limits} if limits is not None and searches else {}
        return self.generate(topology, collective, **parameters, **extra)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                name="ring",
                summary="rings through all boxes, one per NIC",
                source="NCCL and RCCL ring",
                generate=ring.generate,
                collectives=GATHERING,
                notes="direct links (xGMI): rings are searched for, not RCCL's hand-made ones",
            ),
            Method(
                name="nccl-tree",
                summary="a chain in each box, a double binary tree between them, per NIC",
                source="NCCL tree, after Sanders, Speck and Traff (2009)",
                generate=nccl_tree.generate,
                collectives=("allreduce",),
                notes="direct links (xGMI): chains are searched for",
            ),
            Method(
                name="double-binary-tree",
                summary="two binary trees over all GPUs, leaves of the one inner in the other",
                source="Sanders, Speck and Traff (2009), as in NCCL and BFB (NSDI 2025)",
                generate=nccl_tree.generate_flat,
                collectives=("allreduce",),
                notes="boxes are ignored",
            ),
            Method(
                name="direct",
                summary="everyone sends to everyone, at once or in rotation",
                source="direct and pairwise exchange (Thakur et al., IJHPCA 2005)",
                generate=direct.generate,
                collectives=direct.COLLECTIVES,
                notes="where links or switches join all GPUs",
            ),
            Method(
                name="multitree",
                summary="greedy trees from all roots, grown step by step",
                source="Huang et al., MultiTree (ISCA 2021), as in ForestColl section 6.5",
                generate=multitree.generate,
                collectives=GATHERING,
                notes="unit = slowest link; trees flow at once instead of step by step",
            ),
            Method(
                name="recursive-halving-doubling",
                summary="swaps with partners at distances 1, 2, 4, ...",
                source="Thakur, Rabenseifner, Gropp (IJHPCA 2005)",
                generate=recursive.generate,
                collectives=GATHERING,
                notes="N that is no power of two: folded in a step before and one after",
            ),
            Method(
                name="bruck",
                summary="log2 N steps for any N, to the GPU 1, 2, 4, ... places away",
                source="Bruck et al. (IEEE TPDS 1997)",
                generate=bruck.generate,
                collectives=(*GATHERING, "all-to-all"),
            ),
            Method(
                name="blueconnect",
                summary="rings inside the boxes, then from box to box on every rail",
                source="Cho et al., BlueConnect (MLSys 2019)",
                generate=blueconnect.generate,
                collectives=GATHERING,
                notes="two factors, box and number in it; phases do not overlap",
            ),
            Method(
                name="torus",
                summary="ring collectives dimension by dimension, rotated parts on all links",
                source="Sack and Gropp (ACM TOPC 2015), as in Zhao et al. (NSDI 2025)",
                generate=torus.generate,
                collectives=GATHERING,
            ),
            Method(
                name="shifted-ring",
                summary="two rings of different strides, half of every shard each way round",
                source="TopoOpt (NSDI 2023), as in Zhao et al. (NSDI 2025)",
                generate=shifted_ring.shifted_ring,
                collectives=GATHERING,
                notes="on one ring or two in the order of the GPUs' numbers",
            ),
            Method(
                name="shifted-bfb-ring",
                summary="the same rings, every shard both ways round by the shortest way",
                source="Zhao et al. (NSDI 2025)",
                generate=shifted_ring.shifted_bfb_ring,
                collectives=GATHERING,
                notes="on one ring or two in the order of the GPUs' numbers",
            ),
            Method(
                name="tacos",
                summary="chunks and links matched at random along a time-expanded network",
                source="Won et al., TACOS (MICRO 2024)",
                generate=tacos.generate,
                collectives=GATHERING,
                notes="switches unwound; matchings made maximum unless greedy ones are asked for",
            ),
            Method(
                name="blink",
                summary="spanning trees of a single root, packed for the best rate",
                source="Wang et al., Blink (MLSys 2020)",
                generate=blink.generate,
                collectives=ROOTED,
                notes="no switches; no protocol across machines",
            ),
            Method(
                name="blink-switch",
                summary="Blink on the links that ForestColl's switch removal leaves",
                source="Blink+Switch of ForestColl section 6.1",
                generate=blink_switch.generate,
                collectives=ROOTED,
                notes="the rate depends on who removes the switches",
            ),
            Method(
                name="unwound",
                summary="switches unwound into rings, cliques or hypercubes, then our core",
                source="ForestColl section 5.3, of TACCL and TACOS",
                generate=unwound.generate,
                collectives=(*GATHERING, "broadcast", "reduce"),
                notes="an ablation: all but the switch removal is ForestColl's",
            ),
        )
    }
)
"""Every baseline by its name."""
