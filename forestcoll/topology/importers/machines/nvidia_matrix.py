"""Importer of the matrix that ``nvidia-smi topo -m`` prints.

Problem: how each pair of GPUs, and each GPU and NIC, are connected inside a machine.
Input:   a header of names, a row for each of them (tabs or spaces), a legend of NIC names.
Output:  a :class:`NvidiaMatrix`: numbers of NVLinks, and how near NICs are.
Cost:    the size of the matrix.
Source:  the legend that the tool prints. ``NV4`` means four NVLinks of the pair on machines that
         are wired directly. Behind NVSwitches it means four links that all pairs share, which
         :mod:`nvidia_machine` tells apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.text_lines import Line, text_lines

__all__ = ["NEARNESS", "NvidiaMatrix", "nvidia_matrix"]

NEARNESS: Mapping[str, int] = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4, "SOC": 4}
"""Order of PCIe paths, the nearest first: one switch, several, a host bridge, and beyond."""

_MOST_DEVICES = 600
_GPU = re.compile(r"GPU[0-9]{1,4}")
_DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}")
_NVLINKS = re.compile(r"NV([0-9]{1,3})")
_LEGEND = re.compile(r"\s*(NIC[0-9]{1,4}):\s*(\S{1,64})")
_AFTER = {"CPU", "NUMA"}
"""First words of the columns that are no devices."""


@dataclass(frozen=True, slots=True)
class NvidiaMatrix:
    """GPUs and NICs of one machine with their connections.

    Parameters
    ----------
    machine, source : str
        The name of the machine, and the file for errors.
    gpus, nics : tuple of str
        Names; those of NICs are from the legend.
    nvlinks : mapping
        Number of NVLinks of a pair of GPUs, by their places, smaller first.
    near : tuple of tuple of int
        For each NIC how near each GPU is, as in NEARNESS.
    """

    machine: str
    source: str
    gpus: tuple[str, ...]
    nics: tuple[str, ...]
    nvlinks: Mapping[tuple[int, int], int]
    near: tuple[tuple[int, ...], ...]


def nvidia_matrix(text: str, source: str, machine: str) -> NvidiaMatrix:
    """Read a matrix of ``nvidia-smi topo -m``.

    Raises
    ------
    InvalidTopologyError
        If rows are missing or a connection is unknown, or two GPUs count different NVLinks.
    """
    lines = list(text_lines(text, source))
    header = next((line for line in lines if _is_header(line)), None)
    if header is None:
        raise InvalidTopologyError(f"{source}: has no header of GPUs; write nvidia-smi topo -m")
    names = _names(header)
    rows = _rows(lines[lines.index(header) + 1 :], names, header)
    legend = {match[1]: match[2] for line in lines if (match := _LEGEND.fullmatch(line.text))}
    gpus = [i for i, name in enumerate(names) if _GPU.fullmatch(name)]
    nics = [i for i in range(len(names)) if i not in set(gpus)]
    nvlinks = {}
    for one, other in combinations(range(len(gpus)), 2):
        count = _count(rows, names, gpus[one], gpus[other])
        if count:
            nvlinks[one, other] = count
    near = tuple(tuple(_nearness(rows, names, nic, gpu) for gpu in gpus) for nic in nics)
    called = [legend.get(names[nic], names[nic]) for nic in nics]
    if len(set(called)) < len(called):
        raise InvalidTopologyError(f"{source}: the legend gives two NICs one name; correct it")
    return NvidiaMatrix(
        machine, source, tuple(names[gpu].lower() for gpu in gpus), tuple(called), nvlinks, near
    )


def _is_header(line: Line) -> bool:
    words = line.text.split()
    return _GPU.fullmatch(words[0]) is not None and (len(words) == 1 or "X" not in words)


def _names(header: Line) -> list[str]:
    names = []
    for word in header.text.split():
        if word in _AFTER:
            break
        if not _DEVICE.fullmatch(word) or word in names:
            raise header.fault(f"{word[:40]!r} is not a device, or is there twice; write it again")
        names.append(word)
    if len(names) > _MOST_DEVICES:
        raise header.fault(f"over {_MOST_DEVICES} devices; give one file a machine")
    return names


_Rows = Mapping[str, tuple[Line, Sequence[str]]]


def _rows(lines: Sequence[Line], names: Sequence[str], header: Line) -> _Rows:
    """Return the connections in the row of each device."""
    found: dict[str, tuple[Line, Sequence[str]]] = {}
    for line in lines:
        name, *cells = line.text.split()
        if name not in names or name in found:
            continue
        if len(cells) < len(names):
            raise line.fault(
                f"{name} has {len(cells)} connections to {len(names)} devices; the file may be "
                f"cut off, write it again"
            )
        found[name] = (line, cells[: len(names)])
    if missing := [name for name in names if name not in found]:
        raise header.fault(f"no row for {missing[0]}; the file may be cut off, write it again")
    return found


def _count(rows: _Rows, names: Sequence[str], one: int, other: int) -> int:
    """Return the NVLinks of a pair of GPUs, which both rows must give."""
    counts = []
    for here, there in ((one, other), (other, one)):
        line, cells = rows[names[here]]
        match = _NVLINKS.fullmatch(cells[there])
        if match is None and cells[there] not in NEARNESS:
            raise _unknown(line, cells[there], names[one], names[other])
        counts.append(int(match[1]) if match else 0)
    if counts[0] != counts[1]:
        raise line.fault(
            f"{names[one]} and {names[other]} count {counts[0]} and {counts[1]} NVLinks to each "
            f"other; write the file again"
        )
    return counts[0]


def _nearness(rows: _Rows, names: Sequence[str], nic: int, gpu: int) -> int:
    line, cells = rows[names[nic]]
    if cells[gpu] not in NEARNESS:
        raise _unknown(line, cells[gpu], names[nic], names[gpu])
    return NEARNESS[cells[gpu]]


def _unknown(line: Line, cell: str, one: str, other: str) -> InvalidTopologyError:
    known = ", ".join(("NV#", *NEARNESS))
    return line.fault(
        f"unknown connection {cell[:20]!r} between {one} and {other}; the known ones are {known}"
    )
