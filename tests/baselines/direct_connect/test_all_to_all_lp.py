"""All-to-alls by their linear program, as a method."""

from fractions import Fraction

import pytest

from baselines.direct_connect.all_to_all_lp import generate
from forestcoll.all_to_all import near_optimum
from forestcoll.errors import TimeLimitError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import cost, verify
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "rate"),
    [
        ("generalized_kautz:degree=4,nodes=64", 2.17e-2),  # table 7
        ("line_graph:of=(complete_bipartite:degree=4)", 5.71e-2),
        ("distance_regular:graph=ag-2-4-minus-class", 5.26e-2),
    ],
)
def test_published_rates(spec: str, rate: float) -> None:
    """F is the rate between each pair, in links; algbw is N f."""
    topology = load_topology(spec)
    made = generate(topology)
    verify(made)
    found = float(cost(made).algbw_gb_s) / topology.num_compute
    assert found == pytest.approx(rate, abs=0.5e-4)


def test_large_irregular_networks_are_within_a_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bounds that meet, here on a small one, beside the program itself."""
    topology = load_topology("generalized_kautz:degree=4,nodes=26")
    exact = cost(generate(topology)).algbw_gb_s
    monkeypatch.setattr(near_optimum, "MOST_UNKNOWNS", 0)
    made = generate(topology)
    verify(made)
    assert 0.985 * exact <= cost(made).algbw_gb_s <= exact * (1 + Fraction(1, 10**5))


def test_switches_forward() -> None:
    """Each of 16 GPUs has 8 of 15 parts for the other box, over a NIC of 25 GB/s."""
    made = generate(load_topology("dgx_a100:boxes=2"))
    assert made.method == "all-to-all-lp"
    assert verify(made).algbw_gb_s == 25 * Fraction(16, 8)


def test_unsupported_requests_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="has 1 GPUs"):
        generate(load_topology("ring:nodes=4").without("gpu1", "gpu2", "gpu3"))
    with pytest.raises(TimeLimitError):
        generate(load_topology("generalized_kautz:degree=4,nodes=300"), limits=Limits(seconds=0.01))
