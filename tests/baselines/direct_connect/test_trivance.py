"""Trivance's steps and congestion."""

from fractions import Fraction

import pytest

from baselines.direct_connect.trivance import generate
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.schedule import verify
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "steps"), [("ring:nodes=9", 2), ("ring:nodes=27", 3), ("torus:dims=3x9", 3)]
)
def test_steps_are_log3(spec: str, steps: int) -> None:
    """As in the abstract; twice that for the bandwidth form."""
    topology = load_topology(spec)
    assert verify(generate(topology, form="latency")).steps == steps
    assert verify(generate(topology)).steps == 2 * steps


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_congestion_is_a_third_of_brucks(turns: int) -> None:
    """Step k crosses 3^k links each way; Bruck's 3^k + 2 3^k = 3^(k+1) one way (abstract)."""
    made = generate(load_topology(f"ring:nodes={3**turns}"), form="latency")
    bruck = sum(3 ** (k + 1) for k in range(turns))
    assert verify(made).synchronous_s_per_gb == Fraction(bruck, 3)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_every_step_of_the_bandwidth_form_takes_a_third(turns: int) -> None:
    """N / 3^(k+1) shards over 3^k links: log3 N thirds of the data in each phase."""
    made = generate(load_topology(f"ring:nodes={3**turns}"), "allgather")
    assert verify(made).synchronous_s_per_gb == Fraction(turns, 3)


def test_it_becomes_an_algorithm_of_msccl() -> None:
    found = export(compile_program(generate(load_topology("ring:nodes=3"))), MscclOptions())
    assert 'ngpus="3"' in found.text


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("torus:dims=3x4", "is a 3 x 4 torus; trivance takes dimensions that are powers of three"),
        ("dgx_a100:boxes=1", "is not a torus"),
    ],
)
def test_other_networks_are_refused(spec: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: .*{message}"):
        generate(load_topology(spec))
