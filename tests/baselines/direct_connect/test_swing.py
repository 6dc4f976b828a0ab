"""Swing's peers, steps and loads."""

from fractions import Fraction

import pytest

from baselines.building.peer_rounds import rho
from baselines.direct_connect.swing import generate
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.schedule import synchronous, verify
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "steps"), [("ring:nodes=8", 3), ("torus:dims=4x4", 4), ("torus:dims=2x4", 3)]
)
def test_steps_are_log2(spec: str, steps: int) -> None:
    """2 log2 N for the bandwidth form, log2 N for the latency form."""
    topology = load_topology(spec)
    assert verify(generate(topology)).steps == 2 * steps
    assert verify(generate(topology, form="latency")).steps == steps


@pytest.mark.parametrize(("dimensions", "turns"), [(1, 3), (2, 2), (2, 3), (3, 2)])
def test_the_congestion_is_the_sum_of_distances(dimensions: int, turns: int) -> None:
    """Step s halves the data and crosses |rho(s / D)| links; 2 D links a GPU share it evenly.

    Ring of 8: (1/2 1 + 1/4 1 + 1/8 3) / 2 = 9/16, and 9/7 of the optimum.
    """
    dims = "x".join([str(2**turns)] * dimensions)
    made = generate(load_topology(f"torus:dims={dims}"), "allgather")
    total = sum(
        Fraction(abs(rho(s // dimensions)), 2 ** (s + 1)) for s in range(dimensions * turns)
    )
    assert verify(made).time_s_per_gb == total / (2 * dimensions)
    assert synchronous(made).time_s_per_gb == total / (2 * dimensions)


def test_even_dimensions_send_no_block_twice() -> None:
    """Section 3.2. Ring of 6: one block 3 links on, then 2 and 2 over a link: (3 + 2 + 2) / 12."""
    ring = generate(load_topology("ring:nodes=6"), "allgather")
    assert verify(ring).time_s_per_gb == Fraction(7, 12)
    for spec, steps in (("ring:nodes=6", 3), ("ring:nodes=22", 5), ("torus:dims=6x10", 7)):
        topology = load_topology(spec)
        made = generate(topology, "reduce-scatter")
        assert verify(made).steps == steps
        size, parts = topology.num_compute, 2 * spec.count("x") + 2
        assert len(made.sends) == parts * size * (size - 1)


@pytest.mark.parametrize("nodes", [4, 6])
def test_it_becomes_an_algorithm_of_msccl(nodes: int) -> None:
    topology = load_topology(f"ring:nodes={nodes}")
    found = export(compile_program(generate(topology)), MscclOptions())
    assert f'ngpus="{nodes}"' in found.text


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("torus:dims=3x4", "is a 3 x 4 torus; swing takes even dimensions"),
        ("dgx_a100:boxes=1", "is not a torus"),
    ],
)
def test_other_networks_are_refused(spec: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: .*{message}"):
        generate(load_topology(spec))


def test_forms_are_checked() -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(UnsupportedError, match="swing has no allgather of its latency form"):
        generate(ring, "allgather", form="latency")
    with pytest.raises(UnsupportedError, match="the latency form of swing takes dimensions that"):
        generate(load_topology("ring:nodes=6"), form="latency")
    with pytest.raises(InvalidParameterError, match="form is 'fast'"):
        generate(ring, form="fast")
