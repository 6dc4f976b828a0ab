"""Bounds on all-to-alls in closed form."""

from fractions import Fraction

import pytest

from forestcoll.all_to_all.closed_forms import degree_bound, product_rate
from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.topology import (
    Topology,
    cartesian_product,
    load_topology,
)
from tests.all_to_all.rates import (
    exact_rate,
    optimum,
    uni,
)


def test_theoretical_bounds_of_table_7() -> None:
    """And 382.3 us for 1 MiB a GPU at 4 x 25 Gb/s among 1024 (table 4)."""
    published = {
        32: "5.80e-02",
        64: "2.42e-02",
        128: "1.00e-02",
        256: "4.39e-03",
        512: "1.90e-03",
        1024: "8.57e-04",
    }
    assert {gpus: f"{float(degree_bound(gpus, 4)):.2e}" for gpus in published} == published
    part_bits = Fraction(2**20 * 8, 1024)
    rate_bits_per_us = degree_bound(1024, 4) * 25_000
    assert f"{float(part_bits / rate_bits_per_us):.1f}" == "382.3"


def test_rates_of_products_of_table_7() -> None:
    """Each by the product rule, from the exact rates of the factors.

    Table 7 prints 1.87e-2 where the exact value is 0.01875, half a digit more.
    """
    ring, diamond = load_topology("ring:nodes=8"), load_topology("diamond")
    mod = load_topology("modified_de_bruijn:degree=2,length=4")
    rates = {t.name: exact_rate(t) for t in (ring, diamond, mod, uni(4), uni(8))}

    def product(*factors: Topology) -> Fraction:
        rate, gpus = rates[factors[0].name], factors[0].num_compute
        for factor in factors[1:]:
            rate = product_rate(rate, gpus, rates[factor.name], factor.num_compute)
            gpus *= factor.num_compute
        return rate

    assert product(diamond, diamond) == Fraction(3, 160)
    assert f"{float(product(ring, uni(4), uni(4))):.2e}" == "5.21e-03"
    assert f"{float(product(mod, mod)):.2e}" == "2.94e-03"
    assert f"{float(product(uni(4), uni(4), uni(4), uni(8))):.2e}" == "5.58e-04"
    assert f"{float(product(uni(4), uni(8), uni(4), uni(8))):.2e}" == "2.79e-04"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("diamond", "ring:nodes=3"),
        ("ring:nodes=5", "complete:nodes=3"),
        ("ring:nodes=4", "diamond"),
    ],
)
def test_the_product_rule_is_exact(first: str, second: str) -> None:
    one, other = load_topology(first), load_topology(second)
    rule = product_rate(exact_rate(one), one.num_compute, exact_rate(other), other.num_compute)
    assert optimum(cartesian_product(one, other)).rate_gb_s == pytest.approx(float(rule), rel=1e-7)


@pytest.mark.parametrize("nodes", [5, 9, 16])
def test_no_network_beats_the_degree_bound(nodes: int) -> None:
    """Generalized Kautz graphs of 5 nodes, complete, attain it."""
    found = optimum(load_topology(f"generalized_kautz:degree=4,nodes={nodes}"))
    bound = float(degree_bound(nodes, 4))
    assert found.rate_gb_s <= bound * (1 + 1e-9)
    if nodes == 5:
        assert found.rate_gb_s == pytest.approx(bound)


def test_bounds_need_two_gpus_and_a_link() -> None:
    for gpus, degree in ((1, 4), (4, 0)):
        with pytest.raises(InvalidParameterError, match="at least 2 GPUs"):
            degree_bound(gpus, degree)
