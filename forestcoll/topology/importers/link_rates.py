"""Rates of links that files count but do not measure: NVLink, xGMI, PCIe, links between sockets.

Problem: a file says "18 NVLinks of an sm_90 GPU" or "PCIe, 32 GT/s, 16 lanes", and no bandwidth.
         Vendor, runtime and measurement disagree on it.
Input:   the kind of link and a table chosen by name: ``nominal`` (the vendor's number),
         ``runtime`` (the constant in the source of NCCL or RCCL), or a file of measured rates.
Output:  GB/s of one link, one lane or one path between sockets, exact and per direction.
Source:  each rate has its own. NVIDIA/nccl 2.29 and ROCm/rccl, ``src/graph/topo.h``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.reading.documents import parse_yaml
from forestcoll.topology.reading.units import bandwidth_gb_s
from forestcoll.topology.reading.whole_text import whole_text

__all__ = ["RATES", "TABLES", "LinkRate", "RateTable", "rate_table"]

TABLES = ("nominal", "runtime")
"""Tables that are built in; any other name is that of a file."""


@dataclass(frozen=True, slots=True)
class LinkRate:
    """What vendor and runtime have for one kind of link, in GB/s per direction.

    One of both is None where the vendor or the runtime has no such number. ``per`` is what the
    rate belongs to: a link, a lane, or all links between two sockets.
    """

    link: str
    per: str
    nominal: Fraction | None
    nominal_source: str
    runtime: Fraction | None
    runtime_source: str


_NCCL = "NVIDIA/nccl src/graph/topo.h"
_RCCL = "ROCm/rccl src/graph/topo.h"


_SOCKETS = (
    ("amd", "16", "AMD_BW"),
    ("intel_broadwell", "6", "BDW_QPI_BW"),
    ("intel_skylake", "10", "SKL_QPI_BW"),
    ("intel_sapphire_rapids", "22", "SRP_QPI_BW"),
    ("intel_emerald_rapids", "40", "ERP_QPI_BW"),
    ("arm", "6", "ARM_BW"),
)
_UNKNOWN = "depends on how many links the board has"


def _rate(
    link: str, per: str, nominal: str, nominal_source: str, runtime: str, runtime_source: str
) -> LinkRate:
    return LinkRate(
        link,
        per,
        Fraction(nominal) if nominal else None,
        nominal_source,
        Fraction(runtime) if runtime else None,
        runtime_source,
    )


def _pcie(generation: int, transfers: str, coding: str, share: str) -> LinkRate:
    """Return the rate of a lane; NCCL counts 15 for generation 1 and doubles it for each next."""
    raw = Fraction(transfers) / 8
    return LinkRate(
        f"pcie.gen{generation}",
        "lane",
        raw * Fraction(share),
        f"PCI Express Base Specification: {transfers} GT/s, {coding}",
        Fraction(15 * 2 ** (generation - 1), 80),
        f"{_NCCL}, kvDictPciGen: speed x width / 80",
    )


RATES: Mapping[str, LinkRate] = MappingProxyType(
    {
        rate.link: rate
        for rate in (
            _rate("nvlink.sm_60", "link", "20", "P100 data sheet: 4 NVLinks, 160 GB/s both ways",
                  "18", f"{_NCCL}, SM60_NVLINK_BW"),
            _rate("nvlink.sm_70", "link", "25", "V100 data sheet: 6 NVLinks, 300 GB/s both ways",
                  "20", f"{_NCCL}, SM70_NVLINK_BW"),
            _rate("nvlink.sm_80", "link", "25", "A100 data sheet: 12 NVLinks, 600 GB/s both ways",
                  "20", f"{_NCCL}, SM80_NVLINK_BW"),
            _rate("nvlink.sm_86", "link", "225/16",
                  "A40 data sheet: bridge of 4 NVLinks, 112.5 GB/s both ways",
                  "12", f"{_NCCL}, SM86_NVLINK_BW"),
            _rate("nvlink.sm_90", "link", "25", "H100 data sheet: 18 NVLinks, 900 GB/s both ways",
                  "20.6", f"{_NCCL}, SM90_NVLINK_BW"),
            _rate("nvlink.sm_100", "link", "50", "B200 data sheet: 18 NVLinks, 1800 GB/s both ways",
                  "40.1", f"{_NCCL}, SM100_NVLINK_BW"),
            _rate("nvlink.sm_103", "link", "50", "B300 data sheet: 18 NVLinks, 1800 GB/s both ways",
                  "40.1", f"{_NCCL}, SM100_NVLINK_BW"),
            _rate("xgmi.gfx906", "link", "50", "MI50/MI60 data sheet: 100 GB/s a link, both ways",
                  "24", f"{_RCCL}, VEGA_XGMI_WIDTH"),
            _rate("xgmi.gfx908", "link", "46", "MI100 data sheet: 3 links, 276 GB/s both ways",
                  "24", f"{_RCCL}, VEGA_XGMI_WIDTH"),
            _rate("xgmi.gfx90a", "link", "50",
                  "MI250 microarchitecture, ROCm documentation: 25 GT/s on 16 lanes",
                  "36", f"{_RCCL}, MI200_XGMI_WIDTH"),
            _rate("xgmi.gfx942", "link", "64", "MI300X data sheet: 7 links of 128 GB/s both ways",
                  "48", f"{_RCCL}, GFX94X_XGMI_WIDTH"),
            _rate("xgmi.gfx950", "link", "76.8",
                  "MI355X data sheet: 7 links of 153.6 GB/s both ways",
                  "48", f"{_RCCL}, GFX95X_XGMI_WIDTH"),
            *(
                _rate(f"socket.{cpu}", "pair of sockets", "", _UNKNOWN, rate, f"{_NCCL}, {name}")
                for cpu, rate, name in _SOCKETS
            ),
            _pcie(1, "2.5", "8b/10b encoding", "8/10"),
            _pcie(2, "5", "8b/10b encoding", "8/10"),
            _pcie(3, "8", "128b/130b encoding", "128/130"),
            _pcie(4, "16", "128b/130b encoding", "128/130"),
            _pcie(5, "32", "128b/130b encoding", "128/130"),
            _pcie(6, "64", "236 bytes of data in a flit of 256", "236/256"),
        )
    }
)  # fmt: skip
"""Every rate by the name of its link."""


@dataclass(frozen=True, slots=True)
class RateTable:
    """Rates of one table, in GB/s, by the name of the link."""

    name: str
    rates: Mapping[str, Fraction]

    def of(self, link: str, source: str) -> Fraction:
        """Return the rate of a kind of link that the file ``source`` counts.

        Raises
        ------
        InvalidTopologyError
            If the table lacks it; the remedy is a file of rates.
        """
        if link in self.rates:
            return self.rates[link]
        hint = did_you_mean(link, self.rates, "")
        per = f" a {RATES[link].per}" if link in RATES else ""
        advice = (
            f"write `{link}: ... GB/s` (GB/s{per}) to a file, and add it: --rates {self.name},FILE"
        )
        raise InvalidTopologyError(
            f"{source}: the table of rates {self.name!r} has no {link}; "
            + (f"{hint} or {advice}" if hint else advice)
        )


def rate_table(name: str) -> RateTable:
    """Return a built-in table, or read one from a YAML file such as ``nvlink.sm_90: 23.4 GB/s``.

    Names joined by commas are tables of which each overrides the ones before it.

    Raises
    ------
    InvalidTopologyError
        If there is no such table or file, or an entry is unknown or no bandwidth.
    """
    rates: dict[str, Fraction] = {}
    for part in name.split(","):
        rates |= _builtin(part) if part in TABLES else _measured(part)
    return RateTable(name, rates)


def _builtin(name: str) -> dict[str, Fraction]:
    found = {
        link: rate.nominal if name == "nominal" else rate.runtime for link, rate in RATES.items()
    }
    return {link: rate for link, rate in found.items() if rate is not None}


def _measured(name: str) -> dict[str, Fraction]:
    """Read a file of rates."""
    if not name.endswith((".yaml", ".yml")):
        raise InvalidTopologyError(
            f"{name!r} is no table of rates; choose {' or '.join(TABLES)}, or name a .yaml file"
        )
    document = parse_yaml(whole_text(Path(name), InvalidTopologyError), name)
    if not isinstance(document.data, dict):
        raise document.fault((), "is no mapping of links to rates; write nvlink.sm_90: 23.4 GB/s")
    rates: dict[str, Fraction] = {}
    for link, value in document.data.items():
        if link not in RATES:
            hint = did_you_mean(str(link), RATES, f"they are {', '.join(RATES)}")
            raise document.fault((str(link),), f"is no kind of link; {hint}")
        try:
            rates[link] = bandwidth_gb_s(value)
        except InvalidTopologyError as error:
            raise document.fault((link,), str(error)) from None
        if rates[link] <= 0:
            raise document.fault((link,), f"is {value}; it must be above 0")
    return rates
