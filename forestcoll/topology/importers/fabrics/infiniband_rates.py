"""Data rates of InfiniBand links, and the machine and NIC that an adapter's description names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

__all__ = ["adapter_names", "is_aggregation_node", "link_gb_s", "switch_name"]

_LANE_GBIT_S: Mapping[str, Fraction] = {
    "SDR": Fraction(2),
    "DDR": Fraction(4),
    "QDR": Fraction(8),
    "FDR10": Fraction(10),
    "FDR": Fraction(150, 11),
    "EDR": Fraction(25),
    "HDR": Fraction(50),
    "NDR": Fraction(100),
    "XDR": Fraction(200),
}
"""Data of a lane, after encoding: 8b/10b up to QDR, 64b/66b from FDR10 on (InfiniBand
Architecture Specification, volume 2). FDR is 14.0625 Gb/s on the line."""

_WIDTH = re.compile(r"(1|2|4|8|12)x")
_ADAPTER = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9_.-]{0,253}) (?:(HCA-)([1-9][0-9]{0,2})|([a-z][a-z0-9_]{1,30}))"
    r"(?: \([^)]*\))?"
)
_SWITCH = re.compile(r"(?:[A-Z]{2}[0-9]?;)?(.+?)(?::[A-Z0-9]+/.{1,20})?")
_UNFIT = re.compile(r"[^A-Za-z0-9_.:;/-]+")


def link_gb_s(width: str, speed: str) -> Fraction | None:
    """Return the GB/s of a link such as ``4x`` ``NDR``; None if it is down or unknown.

    Examples
    --------
    >>> link_gb_s("4x", "NDR"), link_gb_s("2x", "NDR"), link_gb_s("4x", "???")
    (Fraction(50, 1), Fraction(25, 1), None)
    """
    lanes = _WIDTH.fullmatch(width)
    if lanes is None or speed not in _LANE_GBIT_S:
        return None
    return int(lanes[1]) * _LANE_GBIT_S[speed] / 8


def adapter_names(description: str) -> tuple[str, str]:
    """Return machine and NIC of a description; both empty if it names the model only.

    ``HCA-2`` counts the adapters of the machine, so it is the NIC numbered 1.

    Examples
    --------
    >>> adapter_names("node7 mlx5_3"), adapter_names("node7 HCA-2")
    (('node7', 'mlx5_3'), ('node7', '*_1'))
    >>> adapter_names("MT4129 ConnectX7   Mellanox Technologies")
    ('', '')
    """
    match = _ADAPTER.fullmatch(description.strip().strip("'"))
    if match is None:
        return "", ""
    return match[1], f"*_{int(match[3]) - 1}" if match[2] else match[4]


def is_aggregation_node(description: str) -> bool:
    """Whether an adapter is the part of a switch that reduces (SHARP), and no NIC."""
    return "aggregation node" in description.lower()


def switch_name(description: str) -> str:
    """Return the name of a switch without what its vendor puts around it.

    Examples
    --------
    >>> switch_name("MF0;rack1-leaf2:MQM9700/U1"), switch_name("ib-i1l1s01")
    ('rack1-leaf2', 'ib-i1l1s01')
    """
    match = _SWITCH.fullmatch(description.strip().strip("'"))
    return _UNFIT.sub("_", match[1] if match else description).strip("_")
