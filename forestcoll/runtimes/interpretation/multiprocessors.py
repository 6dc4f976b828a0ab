"""Multiprocessor counts of machines: the limit on concurrent threadblocks of a GPU.

Problem: threadblocks wait for each other, so all of a GPU must run at once; no file names the GPU.
Input:   the number of threadblocks; the number that runs at once, if known.
Output:  nothing, or an error, or a note that only some machines suffice.
Source:  NVIDIA A100 and H100 Tensor Core GPU Architecture (108 and 132 SMs of the SXM modules); AMD
         CDNA 3 white paper (304 compute units of the MI300X).
"""

from __future__ import annotations

from types import MappingProxyType

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.findings import Kind

__all__ = ["MACHINES", "MOST_BLOCKS", "blocks_fault", "blocks_of"]

MACHINES = MappingProxyType({"a100": 108, "h100": 132, "mi300x": 304})
"""Multiprocessors, or compute units, of a GPU."""

MOST_BLOCKS = MACHINES["a100"]
"""What runs at once on the smallest of them."""

_LARGEST = 100_000


def blocks_of(machine: str | None, threadblocks: int | None) -> int | None:
    """Return the threadblocks that run at once, as given or of a machine; None without either.

    Raises InvalidParameterError if both are given, the machine is unknown, or the number is out of
    range.

    Examples
    --------
    >>> blocks_of("h100", None), blocks_of(None, 80), blocks_of(None, None)
    (132, 80, None)
    """
    if machine is not None and threadblocks is not None:
        raise InvalidParameterError("--machine says how many threadblocks there are; leave one out")
    if machine is not None and machine not in MACHINES:
        raise InvalidParameterError(
            f"machine is {machine!r}; it must be one of {', '.join(MACHINES)}, or give the number "
            f"of threadblocks that run at once"
        )
    if threadblocks is not None and not 1 <= threadblocks <= _LARGEST:
        raise InvalidParameterError(f"threadblocks is {threadblocks}; it must be 1 to {_LARGEST}")
    return threadblocks if machine is None else MACHINES[machine]


def blocks_fault(count: int, most: int | None) -> tuple[Kind, str] | None:
    """Return the error of a number of threadblocks; a note if only some machines suffice.

    Examples
    --------
    >>> blocks_fault(121, 132), blocks_fault(121, 108)[1]
    (None, '121 threadblocks; there must be at most 108 for all to run at once')
    """
    if most is None and MOST_BLOCKS < count <= max(MACHINES.values()):
        known = ", ".join(f"{name} {number}" for name, number in MACHINES.items())
        return Kind.NOTE, (
            f"{count} threadblocks, which must all run at once: {known}; the file does not say the "
            f"machine, so give --machine or --threadblocks"
        )
    limit = max(MACHINES.values()) if most is None else most
    if count <= limit:
        return None
    return Kind.LIMIT, f"{count} threadblocks; there must be at most {limit} for all to run at once"
