"""Simulators of measured curves.

The schedule of a curve is made for one network and may run on another that has the same nodes and
links: what a method assumed a link to carry is not always what it carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from experiments.config.methods import method_names, run_method
from experiments.simulation_fit.measurements import Curve
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, did_you_mean
from forestcoll.schedule import verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import Simulator
from forestcoll.topology import Topology, load_topology

__all__ = ["simulator_of", "simulators"]

_SECONDS = 120.0
"""Limit of a method that searches."""


def simulators(curves: Iterable[Curve]) -> dict[Curve, Simulator]:
    """Return the simulators of curves; schedules are made once for all networks they run on.

    Raises
    ------
    InvalidParameterError
        For an unknown method, or two networks that differ in more than their bandwidths.
    ForestCollError
        As the method or the topology says.
    """
    made: dict[tuple[str, str, str], Program] = {}
    found = {}
    for curve in curves:
        key = (curve.schedule_for or curve.topology, curve.collective, curve.method)
        if key not in made:
            made[key] = _program(*key)
        found[curve] = _on(made[key], curve)
    return found


def simulator_of(curve: Curve) -> Simulator:
    """Return the simulator of one curve."""
    return simulators([curve])[curve]


def _program(topology: str, collective: str, text: str) -> Program:
    name, _, rest = text.partition(":")
    if name not in method_names():
        hint = did_you_mean(name, method_names(), f"known: {', '.join(method_names())}")
        raise InvalidParameterError(f"there is no method {name!r}; {hint}")
    given = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    parameters = {key: _value(value) for key, value in given.items()}
    schedule, _ = run_method(
        name, load_topology(topology), collective, parameters, _SECONDS, lambda stage: None
    )
    verify(schedule)
    return compile_program(schedule)


def _value(text: str) -> int | bool | str:
    if re.fullmatch(r"\d{1,9}", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def _on(program: Program, curve: Curve) -> Simulator:
    if not curve.schedule_for:
        return Simulator(program)
    topology = load_topology(curve.topology)
    if _wiring(topology) != _wiring(program.topology):
        raise InvalidParameterError(
            f"{curve.schedule_for} and {curve.topology} have different nodes or links; a schedule "
            f"for one runs on the other only if they differ in nothing but bandwidths"
        )
    return Simulator(replace(program, topology=topology))


def _wiring(topology: Topology) -> tuple[object, ...]:
    return topology.nodes, tuple((link.tail, link.head) for link in topology.links)
