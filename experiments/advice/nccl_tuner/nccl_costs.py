"""Latencies and efficiencies of NCCL's algorithms and protocols, from NCCL's own cost model.

Problem: a protocol trades latency for bandwidth, and a topology file knows neither.
Input:   an algorithm, a protocol, a collective, the GPUs and boxes, the machine.
Output:  microseconds of a call, of a hop in a box and of a hop between boxes; the share of each
         bandwidth that data gets.
Source:  NVIDIA/nccl 2.30, ``src/graph/tuning.cc`` (``ncclTunerConstantsDefaults`` and
         ``ncclTopoTuneModel``), for GPUs joined by NVLink.

NCCL multiplies its latencies by the hops of an algorithm; here a simulation counts the hops. NCCL
has one latency for all of NVLS and CollNet, which is of the call here, and divided over the two
hops between boxes. Left out: overheads of NICs and CPUs, upper limits of LL, and the correction of
trees by size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

__all__ = ["ALGORITHMS", "COLLECTIVES", "PROTOCOLS", "Cost", "cost_of"]

PROTOCOLS = ("ll", "ll128", "simple")
"""By their names in the plugin's file."""

ALGORITHMS: Mapping[str, str] = MappingProxyType(
    {
        "ring": "ring",
        "tree": "nccl-tree",
        "nvls": "nccl-nvls",
        "nvls_tree": "nccl-nvls-tree",
        "collnet_direct": "nccl-collnet-direct",
        "collnet_chain": "nccl-collnet-chain",
        "pat": "pat",
    }
)
"""The baselines that stand for NCCL's algorithms, by their names in the plugin's file."""

COLLECTIVES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "broadcast": ("ring",),
        "reduce": ("ring",),
        "allgather": ("ring", "nvls", "pat"),
        "reduce-scatter": ("ring", "nvls", "pat"),
        "allreduce": ("tree", "ring", "nvls", "nvls_tree", "collnet_direct", "collnet_chain"),
    }
)
"""The algorithms that NCCL has for each collective, less CollNet for allgathers."""

_US = {  # of a call; of a hop over NVLink; of a hop over the network
    ("ring", "ll"): ("6.6", "0.6", "2.7"),
    ("ring", "ll128"): ("14", "1.9", "4"),
    ("ring", "simple"): ("8.4", "3.4", "14"),
    ("tree", "ll"): ("6.8", "0.6", "5"),
    ("tree", "ll128"): ("14", "1.25", "8.5"),
    ("tree", "simple"): ("8.4", "4", "14"),
    ("nvls", "simple"): ("25", "0", "9"),
    ("nvls_tree", "simple"): ("25", "0", "20.9"),
    ("collnet_direct", "simple"): ("0", "3.7", "15.5"),
    ("collnet_chain", "simple"): ("0", "2.8", "15"),
    ("pat", "simple"): ("8", "0", "4"),
}
_RING = {"ll": Fraction(1, 2), "ll128": Fraction(92, 100), "simple": Fraction(1)}
_TREE = Fraction(92, 100)
_TREE_LL = Fraction(10, 38)
_TREE_LL128 = {True: Fraction(7, 9), False: Fraction(120, 128)}  # in one box, in several
_NVLS = {"h100": Fraction(85, 100), "b200": Fraction(74, 100)}
_PAT = Fraction(3, 4)
_PAT_US = Fraction("2.8")  # of each rank, in a call


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of an algorithm with a protocol.

    Parameters
    ----------
    call_us : Fraction
        Once for each call.
    inside_us, between_us : Fraction
        Of a hop in a box, and of a hop from box to box.
    efficiency : Fraction
        Share of each bandwidth that data gets.
    """

    call_us: Fraction
    inside_us: Fraction
    between_us: Fraction
    efficiency: Fraction


def cost_of(algorithm: str, protocol: str, gpus: int, boxes: int, machine: str) -> Cost | None:
    """Return the cost of an algorithm with a protocol; None if NCCL has no such pair here.

    Examples
    --------
    >>> cost_of("ring", "ll128", 16, 2, "a100").efficiency
    Fraction(23, 25)
    """
    if (algorithm, protocol) not in _US:
        return None
    call, inside, between = map(Fraction, _US[algorithm, protocol])
    if algorithm in ("nvls", "nvls_tree") and machine not in _NVLS:
        return None  # from Hopper on
    if algorithm == "pat":
        if boxes != gpus:
            return None  # NCCL takes it with one GPU a box
        call += _PAT_US * gpus
    return Cost(call, inside, between, _efficiency(algorithm, protocol, boxes, machine))


def _efficiency(algorithm: str, protocol: str, boxes: int, machine: str) -> Fraction:
    match algorithm, protocol:
        case "ring", _:
            return _RING[protocol]
        case "tree", "ll":
            return _TREE * _TREE_LL
        case "tree", "ll128":
            return _TREE * _TREE_LL128[boxes == 1]
        case "tree", _:
            return _TREE
        case (("nvls" | "nvls_tree"), _):
            return _NVLS[machine]
        case "pat", _:
            return _PAT
        case _:
            return Fraction(1)
