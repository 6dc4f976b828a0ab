"""Schedules of networks that are built from smaller networks by expansions.

Problem: a network such as L^2(diamond^[]2) inherits the schedule of its base; build it from the
         network's name.
Input:   a network of one of the families of :mod:`forestcoll.topology.expanded`, or any family.
Output:  an allgather; and one of the reverse network, which gives the reduce-scatter.
Cost:    that of the base's schedule, and linear in the transfers.
Source:  Zhao et al. (NSDI 2025), section 5; corollaries 1.1 and 1.2 for the reverse.

Small bases whose best schedule is not breadth first use stored searches (``optimal_search``). Other
bases, and products, broadcast breadth first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from baselines.direct_connect.bfb.bfb import generate as breadth_first
from baselines.direct_connect.bfb.expansions import (
    on_both_ways,
    on_degree_expansion,
    on_line_graph,
    on_power,
    parallel_links,
)
from baselines.direct_connect.bfb.optimal_search import SEARCHED, stored_schedule
from baselines.direct_connect.bfb.reverse_symmetry import carried_over
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.switch_paths import check_size
from forestcoll.errors import InvalidTopologyError, UnsupportedError
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform import sequential, time_reversed
from forestcoll.topology.families.family_spec import parse_spec
from forestcoll.topology.model import Topology
from forestcoll.topology.operations import line_graph
from forestcoll.topology.spec import load_topology

__all__ = ["METHODS", "generate"]

Ints = npt.NDArray[np.int64]
Values = dict[str, object]


def generate(topology: Topology, collective: str = "allgather") -> StepSchedule:
    """Build the schedule of a network by its name.

    Parameters
    ----------
    topology : Topology
        Named by its specification, of a family of expansions, products, or searched networks.
    collective : str
        "allgather", "reduce-scatter" or "allreduce".

    Raises
    ------
    UnsupportedError
        If the name is not that of a network of a family, or there are switches.
    """
    check_size(topology)
    _check_name(topology)
    gather = replace(_forwards(topology), method="bfb-expansion")
    if collective == "allgather":
        return gather
    there, place = _backwards(topology)
    reverse = carried_over(there, np.argsort(place), topology.reversed())
    reduction = replace(time_reversed(reverse, topology), method="bfb-expansion")
    return sequential(reduction, gather) if collective == "allreduce" else reduction


def _check_name(topology: Topology) -> None:
    """Refuse a network whose name does not give its construction, or gives another one."""
    family = topology.name.partition(":")[0]
    searched = {spec.partition(":")[0] for spec in SEARCHED}
    if family not in (*_EXPANSIONS, "both_ways", "cartesian_product", *searched):
        raise UnsupportedError(
            f"unsupported: {topology.name} is not named by what it is made of; the families of "
            f"such networks are {', '.join(_EXPANSIONS)}, both_ways and cartesian_product"
        )
    try:
        named = load_topology(topology.name)
    except InvalidTopologyError as error:
        raise UnsupportedError(f"unsupported: {error}") from None
    if named.links != topology.links or named.nodes != topology.nodes:
        raise UnsupportedError(f"unsupported: {topology.name} is not what its name says")


def _forwards(topology: Topology) -> StepSchedule:
    name, values = _made_of(topology)
    if name in _EXPANSIONS:
        made = _EXPANSIONS[name].carry(_forwards(_base(values)), values)
    elif name == "both_ways":
        base = _base(values)
        there, place = _backwards(base)
        reverse = carried_over(there, np.argsort(place), base.reversed())
        made = on_both_ways(_forwards(base), reverse)
    else:
        made = stored_schedule(topology) or breadth_first(topology)
    return replace(made, topology=topology)  # the same links under its own name


def _backwards(topology: Topology) -> tuple[StepSchedule, Ints]:
    """Build an allgather on a network like the reverse one.

    The expansion of the reverse base is isomorphic to the reverse of the expansion: rank r of the
    former corresponds to rank ``place[r]`` of the latter.
    """
    name, values = _made_of(topology)
    if name not in _EXPANSIONS:
        reverse = topology.reversed()
        same = np.arange(topology.num_compute)
        if name == "both_ways":  # its own reverse
            return _forwards(topology), same
        return stored_schedule(reverse) or breadth_first(reverse), same
    base = _base(values)
    there, place = _backwards(base)
    expansion = _EXPANSIONS[name]
    return expansion.carry(there, values), expansion.places(base, there.topology, place, values)


def _made_of(topology: Topology) -> tuple[str, Values]:
    family, values = parse_spec(topology.name)
    return family.name, values


def _base(values: Values) -> Topology:
    return cast(Topology, values["of"])


def _line_graphs(schedule: StepSchedule, values: Values) -> StepSchedule:
    for _ in range(cast(int, values.get("times", 1))):
        schedule = on_line_graph(schedule, _unit(values))
    return schedule


def _unit(values: Values) -> Fraction | None:
    """Return the bandwidth of one link; None for the largest that divides all."""
    unit = values.get("unit")
    return unit if isinstance(unit, Fraction) else None


def _places_of_links(base: Topology, there: Topology, place: Ints, values: Values) -> Ints:
    """Map the link from u to v to that from v's place to u's, and parallel links likewise."""
    for _ in range(cast(int, values.get("times", 1))):
        larger, larger_there = (line_graph(each, unit_gb_s=_unit(values)) for each in (base, there))
        copies = parallel_links(base, larger)[0]
        first_there = parallel_links(there, larger_there)[1]
        number = {(link.tail, link.head): i for i, link in enumerate(there.links)}
        mirrored = [number[int(place[link.head]), int(place[link.tail])] for link in base.links]
        place = np.concatenate(
            [
                np.arange(first, first + count)
                for first, count in zip(first_there[mirrored], copies, strict=True)
            ]
        )
        base, there = larger, larger_there
    return place


def _places_of_copies(base: Topology, there: Topology, place: Ints, values: Values) -> Ints:
    times = cast(int, values["times"])
    return (place[:, None] * times + np.arange(times)).ravel()


def _places_of_choices(base: Topology, there: Topology, place: Ints, values: Values) -> Ints:
    size, exponent = base.num_compute, cast(int, values["exponent"])
    coordinates = np.indices((size,) * exponent).reshape(exponent, -1)
    return np.asarray(np.ravel_multi_index(tuple(place[coordinates]), (size,) * exponent))


@dataclass(frozen=True, slots=True)
class _Expansion:
    carry: Callable[[StepSchedule, Values], StepSchedule]
    places: Callable[[Topology, Topology, Ints, Values], Ints]


_EXPANSIONS = {
    "line_graph": _Expansion(_line_graphs, _places_of_links),
    "degree_expansion": _Expansion(
        lambda schedule, values: on_degree_expansion(schedule, cast(int, values["times"])),
        _places_of_copies,
    ),
    "cartesian_power": _Expansion(
        lambda schedule, values: on_power(schedule, cast(int, values["exponent"])),
        _places_of_choices,
    ),
}

METHODS = (
    Method(
        name="bfb-expansion",
        summary="schedules of small networks carried over to the larger ones made of them",
        source="Zhao et al. (NSDI 2025)",
        generate=generate,
        collectives=GATHERING,
        notes="networks without switches, of a family; line graphs of unit links",
        libraries=(
            "forestcoll.topology.symmetry.automorphism",
            "forestcoll.topology.symmetry.stabilizer",
        ),
    ),
)
