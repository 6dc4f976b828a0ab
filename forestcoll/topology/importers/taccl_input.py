"""Importer of TACCL's topology files.

Problem: which network ``{"gpus_per_node": 8, "node_betas_list": [23, 46], ...}`` means.
Input:   times in us for a chunk of the size at the end of ``name`` (``_32KB``). A beta is the time
         that the chunk occupies a link; an invbw adds the link's latency. Two values of each mean
         an NDv2 (double and single NVLinks); one value means GPUs on a switch, as in a DGX-2;
         matrices [to][from], with the numbers of ``links``, mean any box. ``remote_beta`` and
         ``remote_alpha`` are those of the NICs. Two fields are ours: ``nnodes``, the number of
         boxes (1), and ``chunk_bytes``, which replaces the name's size.
Output:  the boxes, several of them joined by their NICs and a switch; or a typed error with the
         file, the field, the remedy.
Cost:    linear in nodes and links.
Source:  TACCL (NSDI 2023), its published files and the wiring in its code. ``alpha`` and
         ``remote_invbw`` follow from the other fields; they are checked, not used.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.chassis import GPUS_OF_DGX1
from forestcoll.topology.families.constants import DGX1_LINKS
from forestcoll.topology.families.values import Amount, Count, Latency
from forestcoll.topology.importers.section import Section
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact_text
from forestcoll.topology.reading.documents import Document

__all__ = ["is_taccl", "topology_from_taccl"]

MARK = "gpus_per_node"
LISTS = ("node_betas_list", "node_invbws_list")
MATRICES = ("links", "betas", "invbws")
REMOTE = ("remote_alpha", "remote_beta", "remote_invbw")
FIELDS = (
    *("name", MARK, "nics_per_node", "alpha", *LISTS, *MATRICES, *REMOTE),
    *("nnodes", "chunk_bytes"),
)
NO_NICS = -1
MOST_GPUS = 1_000_000
BYTES_PER_US = 1000
"""At 1 GB/s."""

_SIZE = re.compile("_([1-9][0-9]{0,8})(KB|MB|GB)$")
_BYTES = {"KB": 10**3, "MB": 10**6, "GB": 10**9}

_GPUS = Count("GPUs of a box")
_CHUNK = Count("bytes of a chunk", maximum=10**12)
_LINKS = Count("parallel links; 0 for none", minimum=0)
_ALPHA = Latency("us")
_BETA = Amount("us that a chunk keeps a link busy")
_INVBW = Amount("us of a chunk, latency and all")
_REMOTE_ALPHA = Latency("us from a NIC to another")


@dataclass(frozen=True, slots=True)
class _Entries:
    """A list of one of a few lengths."""

    help: str
    lengths: tuple[int, ...]

    @property
    def allowed(self) -> str:
        return f"a list of {' or '.join(map(str, self.lengths))}"

    def read(self, value: object) -> list[object]:
        if not isinstance(value, list) or len(value) not in self.lengths:
            raise ValueError
        return value


_BETAS = _Entries(
    f"1: GPUs on a switch; 2: NDv2, double NVLinks and single ones; for other boxes give "
    f"{', '.join(MATRICES)} instead",
    (1, 2),
)

Pair = tuple[int, int]
"""Two GPUs of a box: from, to."""


def is_taccl(document: Document) -> bool:
    """Whether a document is a TACCL topology."""
    return isinstance(document.data, dict) and MARK in document.data


def topology_from_taccl(document: Document) -> Topology:
    """Make the network that a topology file of TACCL's describes.

    Parameters
    ----------
    document : Document
        One that :func:`is_taccl`.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the field, the value found and the remedy.

    Examples
    --------
    >>> from forestcoll.topology.reading.documents import parse_json
    >>> text = '''{"name": "DGX2_1MB", "gpus_per_node": 16, "nnodes": 2, "nics_per_node": 8,
    ...     "alpha": 0.3, "node_betas_list": [8], "node_invbws_list": [8],
    ...     "remote_alpha": 2.6, "remote_beta": 105, "remote_invbw": 107}'''
    >>> topology = topology_from_taccl(parse_json(text, "dgx2.json"))
    >>> topology.name, topology.num_compute, len(topology.switches)
    ('DGX2_1MB:nnodes=2', 32, 19)
    >>> topology.link_between[0, topology.position_of["b0.nvswitch"]].bandwidth_gb_s
    Fraction(125, 1)
    """
    assert isinstance(document.data, dict), "is_taccl"
    machine = _File(document, (), document.data).machine()
    try:
        return machine.topology()
    except InvalidTopologyError as error:
        raise document.fault((), str(error)) from None


@dataclass(frozen=True, slots=True)
class _Speed:
    """Bandwidth and latency of a link, in GB/s and us."""

    bandwidth: Fraction
    latency: Fraction

    def half(self) -> _Speed:
        """Return the speed of each of two links in its place, with a switch between them."""
        return _Speed(self.bandwidth, self.latency / 2)


@dataclass(frozen=True, slots=True)
class _Network:
    """The network between boxes: one switch, NICs per box, and the speed from NIC to NIC."""

    nics: int
    speed: _Speed

    def join(self, builder: TopologyBuilder, boxes: list[list[str]]) -> None:
        """Add the NICs of all boxes, each for GPUs next to each other, and the switch."""
        to_gpu, to_switch = _Speed(self.speed.bandwidth, Fraction(0)), self.speed.half()
        ib = builder.switch("ib")
        for box, gpus in enumerate(boxes):
            nics = [builder.switch(f"b{box}.nic{i}", box, i) for i in range(self.nics)]
            # TACCL's latency is from NIC to NIC, so the way to a NIC takes no time.
            for i, gpu in enumerate(gpus):
                _join(builder, gpu, nics[i * self.nics // len(gpus)], to_gpu)
            for nic in nics:
                _join(builder, nic, ib, to_switch)


@dataclass(frozen=True, slots=True)
class _Machine:
    """Equal boxes: links between their GPUs, or to a switch in each box; their NICs."""

    name: str
    boxes: int
    gpus: int
    inside: Mapping[Pair, _Speed] | _Speed
    network: _Network | None

    def topology(self) -> Topology:
        builder = TopologyBuilder()
        boxes = [self._box(builder, number) for number in range(self.boxes)]
        if self.boxes == 1:
            return builder.build(self.name)
        assert self.network is not None, "refused with several boxes"
        self.network.join(builder, boxes)
        return builder.build(f"{self.name}:nnodes={self.boxes}")

    def _box(self, builder: TopologyBuilder, number: int) -> list[str]:
        gpus = [builder.gpu(f"b{number}.gpu{i}", number, i) for i in range(self.gpus)]
        if isinstance(self.inside, _Speed):
            nvswitch = builder.switch(f"b{number}.nvswitch", number)
            for gpu in gpus:
                _join(builder, gpu, nvswitch, self.inside.half())
        else:
            for (tail, head), speed in self.inside.items():
                builder.arc(gpus[tail], gpus[head], speed.bandwidth, speed.latency)
        return gpus


def _join(builder: TopologyBuilder, a: str, b: str, speed: _Speed) -> None:
    builder.link(a, b, speed.bandwidth, speed.latency)


class _File(Section):
    """The whole file."""

    __slots__ = ()

    def machine(self) -> _Machine:
        self.refuse_unknown(FIELDS, "TACCL")
        name = self._name()
        chunk = self._chunk(name)
        gpus = self.read(_GPUS, MARK)
        self.read(_ALPHA, "alpha")
        inside = self._inside(gpus, chunk)
        boxes = self._boxes(gpus)
        return _Machine(name, boxes, gpus, inside, self._network(boxes, gpus, chunk))

    def _name(self) -> str:
        if "name" not in self.given:
            raise self.fault("is missing; add it (what to call the network, with _1MB)", "name")
        name = self.given["name"]
        if isinstance(name, str) and name and name.isprintable() and name == name.strip():
            return name
        problem = f"is {reprlib.repr(name)}; write printable text, no spaces at the ends"
        raise self.fault(problem, "name")

    def _chunk(self, name: str) -> int:
        """Return the size in bytes of the chunk that the times refer to."""
        if "chunk_bytes" in self.given:
            return self.read(_CHUNK, "chunk_bytes")
        found = _SIZE.search(name)
        if found:
            return int(found[1]) * _BYTES[found[2]]
        problem = (
            f"is {reprlib.repr(name)}, which does not say what size of chunk the times are of; "
            f"end it with the size, such as _1MB or _32KB, or add chunk_bytes"
        )
        raise self.fault(problem, "name")

    def _boxes(self, gpus: int) -> int:
        if "nnodes" not in self.given:
            return 1
        return self.read(Count("number of boxes", maximum=MOST_GPUS // gpus), "nnodes")

    def _inside(self, gpus: int, chunk: int) -> Mapping[Pair, _Speed] | _Speed:
        """Return the links between the GPUs of a box, or to its switch."""
        if any(field in self.given for field in MATRICES):
            for field in LISTS:
                self.refuse(field, f"beside {', '.join(MATRICES)}; keep it or those three")
            return self._of_matrices(gpus, chunk)
        beta, invbw = LISTS
        kinds = len(self.read(_BETAS, beta))
        self.read(_Entries(f"as many as in {beta}", (kinds,)), invbw)
        speeds = [self._speed(chunk, (beta, i), (invbw, i)) for i in range(kinds)]
        if len(speeds) == 1:
            return speeds[0]
        if gpus != GPUS_OF_DGX1:
            problem = (
                f"is {gpus}, but two entries of {beta} are an NDv2's, which has {GPUS_OF_DGX1}; "
                f"write {GPUS_OF_DGX1}, or give {', '.join(MATRICES)} instead"
            )
            raise self.fault(problem, MARK)
        return _hybrid_cube_mesh(*speeds)

    def _of_matrices(self, gpus: int, chunk: int) -> Mapping[Pair, _Speed]:
        """Return the links of matrices whose rows are the GPUs that links lead to."""
        rows = _Entries("rows, one for each GPU that links lead to", (gpus,))
        row = _Entries("one for each GPU that links come from", (gpus,))
        for field in MATRICES:
            self.read(rows, field)
            for head in range(gpus):
                self.read(row, field, head)
        links, beta, invbw = MATRICES
        inside: dict[Pair, _Speed] = {}
        for head, tail in product(range(gpus), repeat=2):
            count = self.read(_LINKS, links, head, tail)
            if count and head == tail:
                problem = f"is {count}, from a GPU to itself; write 0"
                raise self.fault(problem, links, head, tail)
            if count:
                one = self._speed(chunk, (beta, head, tail), (invbw, head, tail))
                # Parallel links carry chunks side by side; a chunk takes as long as on one.
                inside[tail, head] = _Speed(count * one.bandwidth, one.latency)
        return inside

    def _speed(
        self, chunk: int, beta_at: tuple[str | int, ...], invbw_at: tuple[str | int, ...]
    ) -> _Speed:
        """Return the speed of a link that keeps a chunk for beta and delivers it after invbw."""
        beta, invbw = self.read(_BETA, *beta_at), self.read(_INVBW, *invbw_at)
        if invbw < beta:
            problem = (
                f"is {exact_text(invbw)}, less than the beta of the same link, "
                f"{exact_text(beta)}; it is the beta and the latency in one"
            )
            raise self.fault(problem, *invbw_at)
        return _Speed(chunk / beta / BYTES_PER_US, invbw - beta)

    def _network(self, boxes: int, gpus: int, chunk: int) -> _Network | None:
        if self.given.get("nics_per_node", NO_NICS) == NO_NICS:
            self._refuse_network(boxes)
            return None
        nics = self.read(Count("NICs of a box, at most one a GPU", maximum=gpus), "nics_per_node")
        alpha, beta, invbw = REMOTE
        latency = self.read(_REMOTE_ALPHA, alpha)
        return _Network(nics, _Speed(self._speed(chunk, (beta,), (invbw,)).bandwidth, latency))

    def _refuse_network(self, boxes: int) -> None:
        """Refuse times of NICs, and several boxes, where there are no NICs."""
        for field in REMOTE:
            if self.given.get(field, NO_NICS) != NO_NICS:
                raise self.fault("is given, but no NICs are; add nics_per_node or remove it", field)
        if boxes > 1:
            needed = ", ".join(("nics_per_node", *REMOTE))
            problem = f"is {boxes}, but the boxes have no NICs to meet by; add {needed}, or write 1"
            raise self.fault(problem, "nnodes")


def _hybrid_cube_mesh(double: _Speed, single: _Speed) -> Mapping[Pair, _Speed]:
    """Return the links of an NDv2's box, which is wired as a DGX-1."""
    speeds = {2: double, 1: single}
    return {
        pair: speeds[count]
        for count, pairs in DGX1_LINKS.items()
        for a, b in pairs
        for pair in ((a, b), (b, a))
    }
