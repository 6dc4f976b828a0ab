"""MSCCL exporter: compile a program to an algorithm within the executor's limits.

Problem: execute a program on threadblocks that wait for each other.
Input:   a program and its options: protocol, channels, instances, in place or not.
Output:  an algorithm within the limits of the runtime. Its result is correct, without races, and
         without deadlocks at any depth of the queues.
Cost:    that of the passes, for each number of channels tried: with balanced load, with few queues,
         and finally with few queues and without forwarding steps. A try ends at the first limit
         that it breaks.
Source:  ours; the passes are the modules of this package.
"""

from __future__ import annotations

from itertools import product

from forestcoll.errors import ExportError, RuntimeLimitError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.excess import Excess
from forestcoll.runtimes.msccl.algorithm import Algorithm
from forestcoll.runtimes.msccl.exporter.algorithm_draft import Draft
from forestcoll.runtimes.msccl.exporter.export_options import MscclOptions
from forestcoll.schedule.program import Program

__all__ = ["to_msccl"]

_TRIED = (8, 4, 2, 1, 16, 32)  # numbers of channels, of all instances together


def to_msccl(program: Program, options: MscclOptions | None = None) -> Algorithm:
    """Write a program as an algorithm of MSCCL.

    Parameters
    ----------
    program : Program
        Of a correct schedule; :func:`forestcoll.schedule.verify` proves that.
    options : MscclOptions, optional

    Raises
    ------
    UnsupportedError
        If the runtime has no such transfers or shares, or a sum of this program never forms in its
        buffers.
    ExportError
        If nothing moves, or the chunks do not cover the data.
    RuntimeLimitError
        If it breaks a limit of the runtime. The message names the limit, the need of the try that
        came closest, and the numbers of channels tried.
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
    """Numbers of channels of an instance, in the order of the tries."""
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
    """Return the broken limit of the closest try, with its exact need."""
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
