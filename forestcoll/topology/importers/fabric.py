"""Description of the network between machines: switches, their cables, and ports of NICs.

Bandwidths are exact, in GB/s and per direction. Parallel cables are summed up by the importer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Cable", "Fabric", "Port"]


@dataclass(frozen=True, slots=True)
class Cable:
    """All cables between two switches, in both directions."""

    one: str
    other: str
    bandwidth_gb_s: Fraction


@dataclass(frozen=True, slots=True)
class Port:
    """A switch's port to a NIC, which is named by its GUID or by its machine and its name.

    Parameters
    ----------
    switch : str
    machine, nic : str
        Patterns of the names, such as ``node*`` and ``mlx5_[0-3]``; empty if the file names the NIC
        by its GUID only.
    guid : str
        Empty if unknown.
    bandwidth_gb_s : Fraction or None
        Of the cable; None if the file does not have it, so that the NIC's own speed counts.
    """

    switch: str
    machine: str = ""
    nic: str = ""
    guid: str = ""
    bandwidth_gb_s: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Fabric:
    """Switches in the order of the file, cables between them, ports to NICs.

    ``domains`` are names of NVLink domains with the machines whose NVSwitches they share.
    ``notes`` are the facts of the file that the description leaves out or assumes, a sentence each.
    """

    switches: tuple[str, ...]
    cables: tuple[Cable, ...]
    ports: tuple[Port, ...]
    multicast: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    domains: tuple[tuple[str, tuple[str, ...]], ...] = ()
