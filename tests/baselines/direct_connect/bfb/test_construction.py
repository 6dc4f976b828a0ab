"""Schedules by the names of networks: what their bases have, carried over."""

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.direct_connect.bfb.construction import generate
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import load_topology

DE_BRUIJN = "(modified_de_bruijn:degree=4,length=2)"


@pytest.mark.parametrize(
    ("spec", "steps", "time"),
    [
        (f"line_graph:of={DE_BRUIJN}", 4, Fraction(1)),  # table 7
        ("cartesian_power:of=(diamond),exponent=2", 6, Fraction(63, 64)),
        ("line_graph:of=(circulant:nodes=16,offsets=3+4),times=2", 5, Fraction(65, 64)),
        ("degree_expansion:of=(complete:nodes=3),times=2", 2, Fraction(5, 6)),
        ("line_graph:of=(cartesian_power:of=(diamond),exponent=2)", 7, Fraction(1)),
        ("both_ways:of=(diamond)", 3, Fraction(7, 8)),
        ("both_ways:of=(line_graph:of=(diamond))", 4, Fraction(1)),
        ("line_graph:of=(circulant:nodes=8,offsets=1+1+4)", 3, Fraction(5, 4)),
        ("cartesian_product:of=(ring:nodes=3)(ring:nodes=4)", 3, Fraction(11, 12)),
        ("modified_de_bruijn:degree=2,length=3", 4, Fraction(7, 8)),
    ],
)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.each_value_once
def test_steps_and_times_are_those_of_the_theorems(
    spec: str, steps: int, time: Fraction, collective: str
) -> None:
    """Reduce-scatters too, on bases that differ from their reverse."""
    topology = load_topology(spec)
    made = generate(topology, collective)
    verify(made)
    both = 2 if collective == "allreduce" else 1
    assert made.collective == collective
    assert made.num_steps == both * steps
    assert synchronous(made).time_s_per_gb * topology.egress_gb_s[0] == both * time


def test_a_network_must_match_its_name() -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(UnsupportedError, match="not named by what it is made of; the families"):
        generate(ring)
    with pytest.raises(UnsupportedError, match="is not what its name says"):
        generate(replace(ring, name="diamond"))
    with pytest.raises(UnsupportedError, match="degree is 'many'"):
        generate(replace(ring, name="modified_de_bruijn:degree=many,length=2"))
