"""Programs as algorithms of MSCCL.

Problem: a runtime of threadblocks that wait for each other is to do what a program says.
Input:   a program, and how it is to be run: protocol, channels, instances, in place or not.
Output:  an algorithm within the limits of the runtime; the data comes out right, nothing races and
         nothing deadlocks, whatever the depth of queues.
Cost:    that of the passes below, for each number of channels that is tried: with the load shared
         out, with few queues, and at last with few queues and nothing passed on at once. A try ends
         where a limit is known to be broken.
Source:  ours; the passes are the modules of this package.
"""

from __future__ import annotations

from itertools import product

from forestcoll.errors import ExportError, RuntimeLimitError
from forestcoll.schedule.export.between_gpus import between_gpus
from forestcoll.schedule.export.excess import Excess
from forestcoll.schedule.export.msccl.algorithm_draft import Draft
from forestcoll.schedule.export.msccl.export_options import MscclOptions
from forestcoll.schedule.msccl.algorithm import Algorithm
from forestcoll.schedule.program import Program

__all__ = ["to_msccl"]

_TRIED = (8, 4, 2, 1, 16, 32)  # numbers of channels, of all instances together


def to_msccl(program: Program, options: MscclOptions | None = None) -> Algorithm:
    """Write a program as an algorithm of MSCCL.

    Parameters
    ----------
    program : Program
        Of a schedule that is right; :func:`forestcoll.schedule.verify` proves that.
    options : MscclOptions, optional

    Raises
    ------
    UnsupportedError
        If the runtime has no such transfers or shares, or the sums of this program do not come
        together in its buffers.
    ExportError
        If nothing moves, or the chunks are not all of the data.
    RuntimeLimitError
        If it breaks a limit of the runtime; the message says which, what it would need in the try
        that was the least beyond it when it was given up, and which channels were tried.
    """
    options = options or MscclOptions()
    if not program.num_transfers:
        raise ExportError("nothing moves in this schedule, so there is nothing to export")
    program = between_gpus(program)
    draft = Draft.of(program, options)
    if (excess := draft.excess_of_data()) is not None:
        raise _too_much(program, excess, "whatever the channels")
    ways = ((draft, False), (draft, True), (draft.unchained(), True))
    nearest: tuple[float, Draft, bool, int, Excess] | None = None
    for (way, thrifty), channels in product(ways, _numbers(options)):
        found = way.attempt(channels, thrifty)
        if isinstance(found, Algorithm):
            return found
        if nearest is None or found.share < nearest[0]:
            nearest = found.share, way, thrifty, channels, found
    assert nearest is not None  # some number of channels is tried
    raise _nearest(program, options, *nearest[1:])


def _numbers(options: MscclOptions) -> list[int]:
    """How many channels an instance may have, in the order to try them."""
    if options.channels is not None:
        return [options.channels]
    shares = [max(1, many // options.instances) for many in _TRIED]
    return list(dict.fromkeys(shares))


def _nearest(
    program: Program,
    options: MscclOptions,
    way: Draft,
    thrifty: bool,
    channels: int,
    excess: Excess,
) -> RuntimeLimitError:
    """Tell of the try least beyond a limit when it was given up, counted to its end."""
    exact = way.exact_excess(channels, thrifty) or excess
    tried = ", ".join(str(many) for many in sorted(_numbers(options)))
    each = " for each instance" if options.instances > 1 else ""
    with_so_many = f"with {channels} channel{'s' * (channels != 1)}{each} (tried: {tried})"
    return _too_much(program, exact, with_so_many)


def _too_much(program: Program, excess: Excess, when: str) -> RuntimeLimitError:
    return RuntimeLimitError(
        f"{program.method}-{program.collective}-{program.topology.name} does not fit the runtime "
        f"of MSCCL: it needs {excess}, {when}"
    )
