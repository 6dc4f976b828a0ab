"""What collectives of given sizes cost on a candidate, in the alpha-beta model of the paper.

Problem: choose among networks, of which one has fewer hops and another one less T_B.
Input:   latency of a hop, bandwidth of a GPU, sizes with their weights.
Output:  exact seconds.
Cost:    constant.
Source:  Zhao et al. (NSDI 2025), sections 2 and 5.4: T_L alpha + T_B M / B; an all-to-all of m
         bytes from each GPU takes (m / N) / (f B / d).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from baselines.topology_finder.candidate import Candidate
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import read_size

__all__ = ["GATHERINGS", "Fabric", "Workload", "read_workload"]

GATHERINGS = ("allgather", "reduce-scatter", "allreduce")
"""Collectives whose time follows from T_L and T_B."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """What all links have in common.

    Parameters
    ----------
    alpha_s : Fraction
        Latency of a hop, in seconds.
    bytes_s : Fraction
        B: bytes/s that leave a GPU, over all its links together.
    """

    alpha_s: Fraction
    bytes_s: Fraction


@dataclass(frozen=True, slots=True)
class Workload:
    """Sizes of data in bytes, each with the number of times that it occurs."""

    sizes: tuple[tuple[int, Fraction], ...]

    @property
    def calls(self) -> Fraction:
        """Number of collectives."""
        return sum((count for _, count in self.sizes), Fraction(0))

    @property
    def num_bytes(self) -> Fraction:
        """Bytes of all collectives."""
        return sum((size * count for size, count in self.sizes), Fraction(0))

    def seconds(self, one: Candidate, collective: str, fabric: Fabric) -> Fraction:
        """Return the time of all collectives of the workload, one after another."""
        hops, time = self._parts(one, collective)
        return self.calls * hops * fabric.alpha_s + self.num_bytes * time / fabric.bytes_s

    @staticmethod
    def _parts(one: Candidate, collective: str) -> tuple[int, Fraction]:
        there, back = (one.hops, one.time), (one.reverse_hops, one.reverse_time)
        if collective == "allgather":
            return there
        if collective == "reduce-scatter":
            return back
        return there[0] + back[0], there[1] + back[1]

    def all_to_all_seconds(self, one: Candidate, rate: Fraction, fabric: Fabric) -> Fraction:
        """Return the time of all-to-alls at a rate in links a pair; sizes are those of one GPU.

        Latencies are left out, as in the paper.
        """
        return self.num_bytes * one.degree / (one.nodes * rate * fabric.bytes_s)


def read_workload(given: Iterable[str]) -> Workload:
    """Read sizes such as 1MB, or 25MB:40 for forty of them.

    Raises
    ------
    InvalidParameterError
        If there is no size, or one is not a size.
    """
    sizes = tuple(_read_part(text) for text in given)
    if not sizes:
        raise InvalidParameterError("the workload is empty; give a size, such as 1MB or 25MB:40")
    return Workload(sizes)


def _read_part(text: str) -> tuple[int, Fraction]:
    size, colon, count = text.partition(":")
    try:
        times = Fraction(count) if colon else Fraction(1)
    except (ValueError, ZeroDivisionError):
        times = Fraction(0)
    if not 0 < times <= 10**12:
        raise InvalidParameterError(
            f"size {text!r} has {count!r} calls; write a number above 0, such as 25MB:40"
        )
    try:
        return read_size(size), times
    except ValueError as error:
        raise InvalidParameterError(f"size {error}") from None
