"""The paper's own program of the allreduce, on published networks."""

import pytest

from forestcoll.allreduce.result import AGREEMENT, combination_algbw
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import load_topology
from lp.allreduce.reference import allreduce_reference, build
from tests.lp.networks import line

SETTINGS = Settings(seconds=60)


@pytest.mark.parametrize("spec", ["mi250:boxes=1", "paper_example", "dgx_a100:boxes=1"])
def test_the_reference_on_published_networks(spec: str) -> None:
    topology = load_topology(spec)
    found = allreduce_reference(topology, SETTINGS)
    assert found.algbw_gb_s == pytest.approx(float(combination_algbw(topology)), rel=1e-7)
    assert found.is_attained_by(found.algbw_gb_s)


def test_the_reference_can_be_built_and_looked_at_before_it_is_solved() -> None:
    """Two GPUs, a link each way: x, c_RE, c_BC are 2 + 2 + 2; flows of both phases 2 (4 + 4)."""
    program = build(line(2))
    assert program.problem.size_metrics.num_scalar_variables == 22
    assert program.problem.status is None
    assert AGREEMENT == 1e-7
