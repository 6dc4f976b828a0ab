"""Rates of a threadblock by machine: what one can copy, reduce or forward in a second.

Problem: links are shared by threadblocks, each of which is slower than a link. Vendors print no
         rate of a threadblock.
Input:   the name of a machine, or a topology of a family whose machine is known.
Output:  its rate for each protocol, with source; the threadblocks that run at once.
Source:  NVIDIA/nccl 2.30, ``src/graph/tuning.cc``, and ROCm/rccl 2.21, ``src/graph/paths.cc``.

NCCL limits a channel, which is one threadblock of each GPU, in rings with LL128
(``perChMaxRingLL128Bws``). It has no such limit for rings with Simple, so Simple has the same rate
here. Rings with LL have half of the rate of Simple there, since half of what they write are flags.
RCCL has no limit of a channel. It gives a link of xGMI as many channels as fill it, so one of them
carries at least that part of the link.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.multiprocessors import MACHINES
from forestcoll.topology.families.constants import Confidence, Constant
from forestcoll.topology.model import Topology

__all__ = ["NO_MACHINE", "THREADBLOCK_RATES", "MachineRate", "machine_of", "machine_rate"]

NO_MACHINE = "none"
"""The name for threadblocks without limits."""


@dataclass(frozen=True, slots=True)
class MachineRate:
    """The rate of a threadblock on a machine.

    Parameters
    ----------
    machine : str
    simple : Constant
        Of the protocols Simple and LL128, in GB/s.
    most_blocks : int or None
        The threadblocks that run at once on a GPU, as of
        :mod:`forestcoll.runtimes.interpretation.multiprocessors`; None if unknown.
    families : tuple of str
        The topology families of this machine.
    """

    machine: str
    simple: Constant
    most_blocks: int | None
    families: tuple[str, ...] = ()

    def gb_s(self, protocol: str) -> Fraction:
        """Return the rate of a protocol, in GB/s."""
        return self.simple.value / 2 if protocol == "LL" else self.simple.value


def _rate(value: int | str, source: str, confidence: Confidence) -> Constant:
    meaning = "one threadblock copies, reduces or forwards with Simple or LL128"
    return Constant(Fraction(value), "GB/s", meaning, source, confidence)


def _nccl(value: int | str, generation: str) -> Constant:
    source = f"NVIDIA/nccl src/graph/tuning.cc, perChMaxRingLL128Bws, {generation}"
    return _rate(value, source, "runtime source")


def _rccl(link: int, channels: int) -> Constant:
    source = f"ROCm/rccl src/graph/paths.cc: {channels} channels for a link of {link} GB/s"
    return _rate(str(Fraction(link, channels)), source, "derived")


_V100_MULTIPROCESSORS = 80  # NVIDIA Tesla V100 GPU Architecture
_MI250_COMPUTE_UNITS = 104  # of each die: AMD Instinct MI250 data sheet, 208 of a module

THREADBLOCK_RATES: Mapping[str, MachineRate] = MappingProxyType(
    {
        one.machine: one
        for one in (
            MachineRate(
                "v100", _nccl(20, "Volta"), _V100_MULTIPROCESSORS, ("dgx1", "dgx2", "ndv2")
            ),
            MachineRate(
                "a100",
                _nccl(20, "Ampere"),
                MACHINES["a100"],
                ("dgx_a100", "hgx_a800", "aws_p4d", "azure_nd_a100_v4"),
            ),
            MachineRate(
                "h100",
                _nccl("36.7", "Hopper"),
                MACHINES["h100"],
                (
                    *("dgx_h100", "hgx_h200", "hgx_h800", "aws_p5", "aws_p5en", "gcp_a3_high"),
                    *("gcp_a3_mega", "gcp_a3_ultra", "azure_nd_h100_v5", "oci_h100"),
                ),
            ),
            MachineRate(
                "b200",
                _nccl(40, "Blackwell"),
                None,
                ("hgx_b200", "hgx_b300", "gcp_a4", "nvl72", "gb200_nvl72", "gb300_nvl72"),
            ),
            MachineRate("mi250", _rccl(36, 2), _MI250_COMPUTE_UNITS, ("mi250", "mi250_teccl")),
            MachineRate(
                "mi300x",
                _rccl(48, 4),
                MACHINES["mi300x"],
                ("mi300x", "mi325x", "azure_nd_mi300x_v5"),
            ),
        )
    }
)
"""By the name of the machine."""

_FAMILIES = {family: rate for rate in THREADBLOCK_RATES.values() for family in rate.families}


def machine_rate(name: str) -> MachineRate | None:
    """Return the rate of a machine by its name; None for :data:`NO_MACHINE`.

    Raises InvalidParameterError if there is no such machine.

    Examples
    --------
    >>> machine_rate("a100").gb_s("LL")
    Fraction(10, 1)
    """
    if name == NO_MACHINE:
        return None
    if name not in THREADBLOCK_RATES:
        raise InvalidParameterError(
            f"machine is {name!r}; it must be one of {', '.join(THREADBLOCK_RATES)} or {NO_MACHINE}"
        )
    return THREADBLOCK_RATES[name]


def machine_of(topology: Topology) -> MachineRate | None:
    """Return the rate of a topology's machine, by the family in its name; None if unknown.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> machine_of(load_topology("dgx_a100:boxes=2").without("b0.gpu3 - ib")).machine
    'a100'
    """
    family = re.match(r"(\w+)(?=[:, ]|$)", topology.name)
    return None if family is None else _FAMILIES.get(family[1])
