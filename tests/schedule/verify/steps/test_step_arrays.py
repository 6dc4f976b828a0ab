"""Whether a step schedule can be read: its parts, chunks, ways and steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import Intervals, StepSchedule, verify
from forestcoll.topology import NodeKind, Topology
from tests.schedule.literals import LITERALS, star


def test_a_relay_neither_sends_nor_keeps() -> None:
    """A GPU outside the group is on paths only."""
    made = LITERALS["adding in the switch"].make()
    nodes = tuple(
        replace(node, kind=NodeKind.RELAY, multicast=False) if node.is_switch else node
        for node in made.topology.nodes
    )
    relayed = replace(made, topology=Topology("relayed", nodes, made.topology.links))
    with pytest.raises(VerificationError, match="outside the group; it only forwards"):
        verify(relayed)
    assert star(3).ends == (0, 1, 2, 3)


NONE: Any = None

RAGGED: Any = [[1], [2, 3]]

EMPTY = np.zeros(0, dtype=np.int64)


def spoilt() -> dict[str, tuple[StepSchedule, str]]:
    """Schedules whose parts are not what they must be, and what is said of them."""
    made = LITERALS["TE-CCL, delays"].make()
    sends, chunks, clock = made.sends, made.chunks, made.clock
    assert clock is not None
    masked: Any = np.ma.masked_array(sends.chunk, mask=True)
    text: Any = "now"
    return {
        "no chunks": (replace(made, chunks=NONE), "the chunks is of type NoneType"),
        "no sends": (replace(made, sends=NONE), "the sends is of type NoneType"),
        "no routes": (replace(made, routes=NONE), "the routes is of type NoneType"),
        "no topology": (replace(made, topology=NONE), "the topology is of type NoneType"),
        "another clock": (replace(made, clock=text), "the clock is of type str"),
        "no method": (replace(made, method=""), "the method is ''"),
        "a list as collective": (replace(made, collective=RAGGED), "collective is of type list"),
        "other intervals": (
            replace(made, sends=replace(sends, interval=text)),
            "the interval of the sends is of type str",
        ),
        "too few intervals": (
            replace(made, sends=replace(sends, interval=Intervals(EMPTY, EMPTY))),
            r"sends.interval.first has shape \(0,\)",
        ),
        "a list of steps": (
            replace(made, sends=replace(sends, step=RAGGED)),
            "array sends.step is list; it must be a numpy array of one dimension",
        ),
        "masked chunks": (replace(made, sends=replace(sends, chunk=masked)), "array sends.chunk"),
        "adding, and too few intervals": (
            replace(
                made,
                sends=replace(sends, reduce=~sends.reduce, interval=Intervals(EMPTY, EMPTY)),
            ),
            r"sends.interval.first has shape \(0,\)",
        ),
        "a whole of many digits": (
            replace(made, chunks=replace(chunks, whole=10**301)),
            "of at most 300 digits",
        ),
        "a size of many digits": (
            replace(
                made,
                clock=replace(clock, size_bytes=10**301),
            ),
            "of at most 300 digits",
        ),
        "a tick of many digits": (
            replace(
                made,
                clock=replace(clock, tick_us=Fraction(1, 10**301)),
            ),
            "more than 300 digits",
        ),
    }


@pytest.mark.parametrize("name", spoilt())
def test_a_malformed_part_is_named(name: str) -> None:
    """Whatever a field holds, verify says so in a line."""
    made, message = spoilt()[name]
    with pytest.raises(VerificationError, match=message):
        verify(made)
