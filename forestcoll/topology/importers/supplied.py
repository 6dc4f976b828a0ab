"""What users supply where files lack it: rates of links, kind of GPU, speeds of NICs, uplinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.link_rates import RateTable, rate_table

__all__ = ["MissingFactError", "Supplied"]


class MissingFactError(InvalidTopologyError):
    """The files lack a fact, which an option supplies.

    Parameters
    ----------
    message : str
    option : str
        Such as ``--gpu``.
    stand_in : mapping
        A possible value of the fact, by its field of :class:`Supplied`; with it the import goes on
        to what else is missing.
    """

    def __init__(
        self, message: str, option: str = "", stand_in: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.option = option
        self.stand_in = dict(stand_in or {})


@dataclass(frozen=True, slots=True)
class Supplied:
    """Facts beside the files; None where the user gave none.

    Parameters
    ----------
    rates : RateTable or None
        Bandwidths of links that files count.
    gpu : str or None
        The kind of all GPUs, as in tables of rates: ``sm_90``, ``gfx942``.
    nic_gb_s : Fraction or None
        Bandwidth of each NIC.
    uplink_gb_s : Fraction or None
        Bandwidth of all cables from a switch to the one above it.
    """

    rates: RateTable | None = None
    gpu: str | None = None
    nic_gb_s: Fraction | None = None
    uplink_gb_s: Fraction | None = None
    # the facts that files have asked for, by their options; copies share the set
    asked_for: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def unused(self) -> tuple[str, ...]:
        """The options of the facts that the user gave and no file asked for."""
        given = {
            "--gpu": self.gpu,
            "--nic-speed": self.nic_gb_s,
            "--uplink": self.uplink_gb_s,
        }
        return tuple(
            option
            for option, fact in given.items()
            if fact is not None and option not in self.asked_for
        )

    def kind_of_gpus(self) -> str | None:
        """Return the kind of all GPUs, which a file lacks."""
        self.asked_for.add("--gpu")
        return self.gpu

    def speed_of_nics(self) -> Fraction | None:
        """Return the bandwidth of each NIC, which a file lacks."""
        self.asked_for.add("--nic-speed")
        return self.nic_gb_s

    def expect_rates(self, source: str) -> RateTable:
        """Return the table of rates, which the file ``source`` needs.

        Raises
        ------
        MissingFactError
            If the user named none.
        """
        if self.rates is None:
            raise MissingFactError(
                f"{source}: counts links and does not have their bandwidths; choose --rates "
                f"nominal (data sheets), --rates runtime (what NCCL and RCCL assume) or a file of "
                f"rates (`forestcoll topology rates` prints them)",
                "--rates",
                {"rates": rate_table("nominal")},
            )
        return self.rates

    def expect_uplink(self, source: str) -> Fraction:
        """Return the bandwidth of uplinks, which the file ``source`` needs.

        Raises
        ------
        MissingFactError
            If the user gave none.
        """
        self.asked_for.add("--uplink")
        if self.uplink_gb_s is None:
            raise MissingFactError(
                f"{source}: has the tree of switches and no bandwidths; give that from a switch to "
                f"the one above as --uplink, such as '3.2 Tb/s' for 8 cables of 400 Gb/s",
                "--uplink",
                {"uplink_gb_s": Fraction(1)},
            )
        return self.uplink_gb_s
