"""Importer of TE-CCL's input files, which name one of its machines with a few parameters.

Problem: which network ``{"TopologyParams": {"name": "NDv2", "chassis": 2, ...}, ...}`` means.
Input:   its ``TopologyParams``: ``name``; ``chassis``; ``alpha``, the latencies in seconds between
         GPUs and at switches; ``chunk_size`` (GB) and ``option``, which are not about the network.
         The parts about its solver and the collective are not read.
Output:  one of the families of ``chassis``, or a typed error with the file, the field, the remedy.
Source:  TE-CCL's published input files and their documentation. TE-CCL silently ignores misspelt
         fields, and ``chassis`` or ``alpha`` of a machine without them; here they are errors. By
         default ``chassis`` is 1 (2 for DGX2) and ``alpha`` 0, as in TE-CCL.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.families.chassis import dgx1, dgx2, mi250_teccl, ndv2
from forestcoll.topology.families.values import Amount, Count, Latency
from forestcoll.topology.importers.section import Section
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact
from forestcoll.topology.reading.documents import Document

__all__ = ["is_teccl", "topology_from_teccl"]

SECTION = "TopologyParams"
FIELDS = ("name", "chassis", "chunk_size", "alpha", "side_length", "option")
MICROSECONDS = 10**6

_CHASSIS = Count("number of chassis")
_ALPHA = Latency("seconds")
_CHUNK_SIZE = Amount("GB")
_SIDE = Count("nodes along one side")


def is_teccl(document: Document) -> bool:
    """Whether a document is an input of TE-CCL."""
    return isinstance(document.data, dict) and SECTION in document.data


def topology_from_teccl(document: Document) -> Topology:
    """Make the network that an input of TE-CCL names.

    Parameters
    ----------
    document : Document
        One that :func:`is_teccl`.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the field, the value found and the remedy; for a machine that
        TE-CCL does not have, or ``Mesh``, whose rows run into the next there.

    Examples
    --------
    >>> from forestcoll.topology.reading.documents import parse_json
    >>> text = '{"TopologyParams": {"name": "AMD", "chassis": 2, "alpha": [6e-7, 7.5e-7]}}'
    >>> topology_from_teccl(parse_json(text, "amd.json")).name
    'mi250_teccl:chassis=2'
    """
    params = _params(document)
    name = params.name()
    if "chunk_size" in params.given:
        params.read(_CHUNK_SIZE, "chunk_size")
    if name != "Mesh":
        params.refuse("side_length", f"which {name} does not have; remove it")
    return _MACHINES[name](params)


class _Params(Section):
    """The section on the network."""

    __slots__ = ()

    def name(self) -> str:
        if "name" not in self.given:
            raise self.fault(f"is missing; write one of {', '.join(_MACHINES)}", "name")
        name = self.given["name"]
        if isinstance(name, str) and name in _MACHINES:
            return name
        hint = did_you_mean(name, _MACHINES, f"they are {', '.join(_MACHINES)}")
        raise self.fault(f"is {reprlib.repr(name)}, no machine of TE-CCL's; {hint}", "name")

    def chassis(self, default: int, only: int | None = None) -> int:
        """Return the number of chassis, which is fixed for some machines."""
        if "chassis" not in self.given:
            return default
        chassis = self.read(_CHASSIS, "chassis")
        if only is not None and chassis != only:
            problem = f"is {chassis}, but TE-CCL makes {only} of {self.name()}; write {only}"
            raise self.fault(problem, "chassis")
        return chassis

    def alpha_us(self) -> tuple[Fraction, Fraction]:
        """Return the latencies of links between GPUs and of links at switches."""
        if "alpha" not in self.given:
            return Fraction(0), Fraction(0)
        alpha = self.given["alpha"]
        if not isinstance(alpha, list) or len(alpha) != 2:
            problem = f"is {reprlib.repr(alpha)}; write [between GPUs, at switches] in seconds"
            raise self.fault(problem, "alpha")
        return self._microseconds(0), self._microseconds(1)

    def _microseconds(self, place: int) -> Fraction:
        seconds = self.read(_ALPHA, "alpha", place)
        try:
            return exact(seconds * MICROSECONDS, "in microseconds")
        except InvalidTopologyError as error:
            raise self.fault(str(error), "alpha", place) from None


def _params(document: Document) -> _Params:
    assert isinstance(document.data, dict), "is_teccl"
    section = document.data[SECTION]
    if not isinstance(section, dict):
        problem = f"is {reprlib.repr(section)}; it must hold the fields {', '.join(FIELDS[:4])}"
        raise document.fault((SECTION,), problem)
    params = _Params(document, (SECTION,), section)
    params.refuse_unknown(FIELDS, "TE-CCL")
    return params


def _dgx1(params: _Params) -> Topology:
    params.chassis(default=1, only=1)
    gpus, _ = params.alpha_us()
    return dgx1(nvlink_latency=gpus)


def _dgx2(params: _Params) -> Topology:
    params.refuse("alpha", "but TE-CCL has its own for DGX2; remove it")
    return dgx2(params.chassis(default=2, only=2))


def _ndv2(params: _Params) -> Topology:
    """Make TE-CCL's NDv2: two chassis are joined by links, more by a switch."""
    params.refuse("alpha", "but TE-CCL has its own for NDv2; remove it")
    chassis = params.chassis(default=1)
    return ndv2(chassis, between="direct" if chassis == 2 else "switch")


def _amd(params: _Params) -> Topology:
    gpus, switches = params.alpha_us()
    return mi250_teccl(params.chassis(default=1), xgmi_latency=gpus, switch_latency=switches)


def _mesh(params: _Params) -> Topology:
    side = params.read(_SIDE, "side_length") if "side_length" in params.given else 4
    remedy = f"torus:dims={side}x{side},wrap=false,bandwidth=100"
    problem = f"is 'Mesh', whose rows run into the next in TE-CCL; for a mesh ask for {remedy}"
    raise params.fault(problem, "name")


_MACHINES: Mapping[str, Callable[[_Params], Topology]] = {
    "DGX1": _dgx1,
    "DGX2": _dgx2,
    "NDv2": _ndv2,
    "AMD": _amd,
    "Mesh": _mesh,
}
