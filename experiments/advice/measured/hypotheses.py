"""Changed networks, and NCCL's algorithms on them, that could explain a measured rate.

Problem: a run is slower than the network allows. Which one fault would give this number?
Input:   the network, the collective, the measured algbw.
Output:  every hypothesis with the bound of its network and the rate of NCCL's best algorithm
         there; those whose bound is below the measurement are ruled out.
Cost:    the rates of some eight networks, within a time limit.
Source:  the questions of NCCL's users: a dead or slow NIC, PCIe in place of NVLink, a lost plane of
         switches, NICs of which one works, switches that do not reduce.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from experiments.advice.expected import Rate, expected
from forestcoll.errors import DisconnectedError, ForestCollError
from forestcoll.topology import Topology
from forestcoll.topology.families.constants import PCIE_LANE
from forestcoll.topology.shared_capacity import kept

__all__ = ["AS_IT_IS", "Explained", "Hypothesis", "explain", "hypotheses"]

AS_IT_IS = "the network as it is"
"""The words of the hypothesis without a fault."""

_PCIE_LANES = 16


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A network as it might be in truth, in words that complete "as if", or AS_IT_IS."""

    words: str
    topology: Topology


@dataclass(frozen=True, slots=True)
class Explained:
    """What a hypothesis would give.

    Parameters
    ----------
    words : str
    bound_gb_s : Fraction or None
        At most so much algbw; None if it did not finish in time.
    method : str
        The fastest of NCCL's algorithms there; empty if there is none.
    rate_gb_s : Fraction or None
        Its algbw, pipelined and without latencies.
    reason : str
        Why there are neither.
    """

    words: str
    bound_gb_s: Fraction | None
    method: str
    rate_gb_s: Fraction | None
    reason: str = ""

    def is_ruled_out(self, measured_gb_s: float) -> bool:
        """Whether the measurement is above what this network can give."""
        return self.bound_gb_s is not None and measured_gb_s > float(self.bound_gb_s)


def explain(
    topology: Topology, collective: str, root: str | int | None, seconds: float
) -> list[Explained]:
    """Return what each hypothesis would give, the network as it is first.

    Raises
    ------
    ForestCollError
        As :func:`experiments.advice.expected.expected`, for the network as it is.
    """
    asked = list(hypotheses(topology))
    each = seconds / len(asked)
    found = []
    for place, one in enumerate(asked):
        try:
            rates = expected(one.topology, collective, root=root, seconds=each)
        except DisconnectedError:
            continue  # the fault cuts GPUs off, so that no run would end
        except ForestCollError as error:
            if place == 0:
                raise
            found.append(Explained(one.words, None, "", None, str(error)))
            continue
        bounds = [rate.algbw_gb_s for rate in rates.bounds if rate.algbw_gb_s is not None]
        bound = max(bounds) if len(bounds) == len(rates.bounds) else None
        nccl = [rate for rate in rates.rates if rate.what.startswith("NCCL") and rate.algbw_gb_s]
        for rate in _faster_first(nccl) if place == 0 else _faster_first(nccl)[:1]:
            found.append(Explained(one.words, bound, rate.what, rate.algbw_gb_s))
        if not nccl:
            found.append(Explained(one.words, bound, "", None))
    return found


def _faster_first(rates: list[Rate]) -> list[Rate]:
    return sorted(rates, key=lambda rate: rate.algbw_gb_s or 0, reverse=True)


def hypotheses(topology: Topology) -> Iterator[Hypothesis]:
    """Yield the network as it is, and with each kind of fault that it can have."""
    yield Hypothesis(AS_IT_IS, topology)
    between = _between_boxes(topology)
    if between:
        yield from _nic_faults(topology, between)
    inside = [place for place in range(len(topology.links)) if place not in between]
    yield from _pcie_faults(topology, inside)
    yield from _plane_faults(topology)


def _nic_faults(topology: Topology, between: Mapping[int, str]) -> Iterator[Hypothesis]:
    """Yield faults of NICs; ``between`` maps links that leave boxes to their end in the box."""
    nics: dict[int, list[str]] = {}
    for end in dict.fromkeys(between.values()):
        nics.setdefault(_box(topology, end), []).append(end)
    number = {end: i for ends in nics.values() for i, end in enumerate(ends)}
    first = between[min(between)]
    own = [place for place, end in between.items() if end == first]
    if len(nics[_box(topology, first)]) > 1:
        yield Hypothesis(f"the NIC of {first} were dead", _scaled(topology, own, 0))
        rest = [place for place, end in between.items() if number[end]]
        yield Hypothesis("one NIC of each box were used", _scaled(topology, rest, 0))
        odd = [place for place, end in between.items() if number[end] % 2]
        yield Hypothesis("every second NIC were dead", _scaled(topology, odd, 0))
    half = Fraction(1, 2)
    yield Hypothesis(f"the NIC of {first} had half its rate", _scaled(topology, own, half))
    yield Hypothesis("every NIC had half its rate", _scaled(topology, between, half))


def _pcie_faults(topology: Topology, inside: Iterable[int]) -> Iterator[Hypothesis]:
    """Yield boxes whose GPUs have the bandwidth of PCIe only."""
    total: dict[int, Fraction] = {}
    for place in inside:
        link = topology.links[place]
        if topology.nodes[link.tail].is_gpu:
            total[link.tail] = total.get(link.tail, Fraction(0)) + link.bandwidth_gb_s
    wide = max(total.values(), default=Fraction(0))
    for generation in (5, 4):
        pcie = _PCIE_LANES * PCIE_LANE[generation].value
        if pcie < wide:
            yield Hypothesis(
                f"boxes had PCIe {generation}.0 only",
                _scaled(topology, inside, pcie / wide),
            )


def _plane_faults(topology: Topology) -> Iterator[Hypothesis]:
    """Yield the network without one of several switches that all GPUs of a box are linked to."""
    boxed = [node for node in topology.nodes if node.is_switch and node.box is not None]
    gpus = [node for node in topology.nodes if node.is_gpu]
    planes = [
        node.name
        for node in boxed
        if node.box == boxed[0].box
        and all(
            (topology.position_of[gpu.name], topology.position_of[node.name])
            in topology.link_between
            for gpu in gpus
            if gpu.box == node.box
        )
    ]
    if len(planes) > 1:
        at = topology.position_of[planes[0]]
        dead = [p for p, link in enumerate(topology.links) if at in (link.tail, link.head)]
        yield Hypothesis(f"switch {planes[0]} were dead", _scaled(topology, dead, 0))


def _between_boxes(topology: Topology) -> dict[int, str]:
    """Return the links between a box and what is outside, with the node at the box's end."""
    if len({node.box for node in topology.nodes if node.box is not None}) < 2:
        return {}
    found = {}
    for place, link in enumerate(topology.links):
        tail, head = topology.nodes[link.tail], topology.nodes[link.head]
        if tail.box != head.box:
            found[place] = tail.name if tail.box is not None else head.name
    return found


def _box(topology: Topology, name: str) -> int:
    box = topology.nodes[topology.position_of[name]].box
    assert box is not None, "the end of a link that leaves a box is in it"
    return box


def _scaled(topology: Topology, places: Iterable[int], factor: Fraction | int) -> Topology:
    """Return the network with some links narrower; a factor of 0 takes links away."""
    chosen = set(places)
    links = tuple(
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s * factor) if place in chosen else link
        for place, link in enumerate(topology.links)
        if factor or place not in chosen
    )
    shared = kept(topology.shared, {(link.tail, link.head) for link in links})
    return topology.like(topology.name, topology.nodes, links, shared=shared)
