"""A machine with NVLinks from the outputs of nvidia-smi.

Problem: ``nvidia-smi topo -m`` prints NV18 for two GPUs with 18 links of their own, and for two of
         eight behind NVSwitches, where each GPU has 18 links for all others together.
Input:   the matrix, and the links of each GPU: from ``nvidia-smi nvlink --status``, or as many as
         GPUs of the given kind have.
Output:  a :class:`Host`: direct links if every GPU has as many as its pairs count. One NVSwitch if
         all pairs count the same, and all links of their GPUs: those of the list, or, without
         one, at most as many as the kind has. Any other counts are refused.
Source:  none. Counted as pairs, an HGX A100 would have seven times its bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.host import (
    Host,
    HostLink,
    HostSwitch,
    Nic,
    both_ways,
    islands,
    shared_out,
)
from forestcoll.topology.importers.machines.gpu_models import LINKS
from forestcoll.topology.importers.machines.nvidia_link_status import NvidiaLinks
from forestcoll.topology.importers.machines.nvidia_matrix import NvidiaMatrix
from forestcoll.topology.importers.supplied import MissingFactError, Supplied

__all__ = ["nvidia_host"]

_STATUS = "add the output of nvidia-smi nvlink --status of the machine, under the same name"
_DUMP = "give a dump of NCCL_TOPO_DUMP_FILE instead"
_MULTICAST_KINDS = {"sm_90", "sm_100", "sm_103"}


def nvidia_host(matrix: NvidiaMatrix, links: NvidiaLinks | None, supplied: Supplied) -> Host:
    """Return the machine of a matrix and, if there is one, of the list of its links.

    Raises
    ------
    InvalidTopologyError
        If the GPUs have no NVLinks, their kind or rate is unknown, or the counts fit neither
        direct links nor a switch.
    """
    if not matrix.nvlinks:
        raise InvalidTopologyError(
            f"{matrix.source}: has no NVLinks, and no speeds of PCIe links; {_DUMP}"
        )
    ends = _ends(matrix, links, supplied)
    notes = list(links.notes) if links else []
    if links and supplied.rates is None:
        notes.append("NVLinks have the rate of the line; --rates nominal has the data sheet's.")
    needed = _needed(matrix)
    switched = any(needed[i] > end.count for i, end in enumerate(ends))
    if not switched:
        direct = _direct(matrix, ends)
        if len(apart := islands(matrix.gpus, direct)) > 1:
            raise InvalidTopologyError(
                f"{matrix.source}: {apart[0]} and {apart[1]} meet by PCIe only, whose speeds the "
                f"file does not have; {_DUMP}"
            )
        if links and any(needed[i] < end.count for i, end in enumerate(ends)):
            notes.append("Some NVLinks lead to none of the GPUs; they are left out.")
        return _host(matrix, (), direct, supplied, notes)
    _expect_switch(matrix, ends, exactly=links is not None)
    if links is None:
        count = max(matrix.nvlinks.values())
        if count < ends[0].count:
            notes.append(
                f"GPUs count {count} NVLinks of the {ends[0].count} that {supplied.gpu} has: "
                f"check --gpu, unless the others are down."
            )
        ends = [_End(count, end.gb_s) for end in ends]
    kind = supplied.kind_of_gpus() or (links.kind if links else None)
    switch = HostSwitch("nvswitch0", kind in _MULTICAST_KINDS)
    notes.append("Every pair of GPUs shares the NVLinks: the NVSwitches count as one.")
    widths = [end.count * end.gb_s for end in ends]
    arcs = [
        arc
        for gpu, width in zip(matrix.gpus, widths, strict=True)
        for arc in both_ways(gpu, switch.name, width)
    ]
    return _host(matrix, (switch,), arcs, supplied, notes)


@dataclass(frozen=True, slots=True)
class _End:
    """The NVLinks of one GPU: how many, and the rate of each."""

    count: int
    gb_s: Fraction


def _ends(matrix: NvidiaMatrix, links: NvidiaLinks | None, supplied: Supplied) -> list[_End]:
    kind = supplied.kind_of_gpus() or (links.kind if links else None)
    if links is None:
        if kind is None:
            count = max(matrix.nvlinks.values())
            raise MissingFactError(
                f"{matrix.source}: does not have the kind of its GPUs; give it, such as --gpu "
                f"sm_90 or --gpu H100, or {_STATUS}",
                "--gpu",
                {"gpu": next((kind for kind, links in LINKS.items() if links == count), "sm_90")},
            )
        rate = supplied.expect_rates(matrix.source).of(f"nvlink.{kind}", matrix.source)
        return [_End(LINKS.get(kind, 0), rate)] * len(matrix.gpus)
    ends = []
    for gpu in matrix.gpus:
        if gpu not in links.rates_gb_s:
            raise InvalidTopologyError(
                f"{links.source}: does not list {gpu}, which {matrix.source} has; write both files "
                f"on the same machine"
            )
        rates = links.rates_gb_s[gpu]
        if supplied.rates is None:
            ends.append(_End(len(rates), min(rates, default=Fraction(0))))
        elif kind is None:
            raise MissingFactError(
                f"{links.source}: the model of {gpu} is not known; give its kind, such as --gpu "
                f"sm_90, or leave --rates out to take the rates of the file",
                "--gpu",
                {"gpu": "sm_90"},
            )
        else:
            rate = supplied.rates.of(f"nvlink.{kind}", links.source)
            ends.append(_End(len(rates), rate))
    return ends


def _needed(matrix: NvidiaMatrix) -> list[int]:
    """Return how many links each GPU has if no two pairs share one."""
    needed = [0] * len(matrix.gpus)
    for pair, count in matrix.nvlinks.items():
        for gpu in pair:
            needed[gpu] += count
    return needed


def _expect_switch(matrix: NvidiaMatrix, ends: list[_End], exactly: bool) -> None:
    """Refuse counts that are not those of GPUs with all their links to switches."""
    gpus = range(len(matrix.gpus))
    pairs = [(one, other) for one in gpus for other in gpus[one + 1 :]]
    counts = [matrix.nvlinks.get(pair, 0) for pair in pairs]
    if exactly:
        fits = all(
            count == min(ends[one].count, ends[other].count)
            for (one, other), count in zip(pairs, counts, strict=True)
        )
    else:
        fits = len(set(counts)) == 1 and counts[0] <= ends[0].count
    if not fits:
        remedy = _DUMP if exactly else f"{_STATUS}, or {_DUMP}"
        most = max(_needed(matrix))
        why = "its pairs do not count the same"
        if len(set(counts)) == 1:
            why = f"its pairs count {counts[0]} each, which are not the links that are up"
        raise InvalidTopologyError(
            f"{matrix.source}: a GPU counts {most} NVLinks in all and has "
            f"{max(end.count for end in ends)}, and {why}; the file fits neither direct links nor "
            f"NVSwitches; {remedy}"
        )


def _direct(matrix: NvidiaMatrix, ends: list[_End]) -> list[HostLink]:
    arcs: list[HostLink] = []
    for (one, other), count in matrix.nvlinks.items():
        width = count * min(ends[one].gb_s, ends[other].gb_s)
        arcs += both_ways(matrix.gpus[one], matrix.gpus[other], width)
    return arcs


def _host(
    matrix: NvidiaMatrix,
    switches: tuple[HostSwitch, ...],
    links: list[HostLink],
    supplied: Supplied,
    notes: list[str],
) -> Host:
    nics = []
    for name, near in zip(matrix.nics, matrix.near, strict=True):
        best = min(near)
        nodes = tuple(gpu for gpu, at in zip(matrix.gpus, near, strict=True) if at == best)
        nics.append(Nic(name, supplied.speed_of_nics(), nodes))
    return Host(
        matrix.machine, matrix.gpus, switches, tuple(links), shared_out(nics), (), tuple(notes)
    )
