"""The rates that decide claims, by hand."""

from fractions import Fraction

import pytest

from baselines import METHODS
from experiments.reproduction.claim_rates import (
    base_rate,
    decided,
    network_of,
    printed_rate,
    swing,
)
from experiments.reproduction.claims import Base, Claim, read_claims
from forestcoll import cost, load_topology


def _claim(network: str, **others: object) -> Claim:
    whole: dict[str, object] = {
        "source": "A", "place": "b", "said": "c", "printed": "2", "kind": "theory",
        "network": network, "collective": "allreduce", "rate": "3/2",
    }  # fmt: skip
    return Claim(**(whole | others))  # type: ignore[arg-type]


@pytest.mark.parametrize(("side", "rate"), [(3, "3/2"), (4, "8/5"), (5, "5/3")])
def test_the_optimum_of_a_mesh_follows_from_its_number_of_links(side: int, rate: str) -> None:
    """4 n (n - 1) directed links over 2 (n^2 - 1): 2 n / (n + 1)."""
    found = decided(_claim(f"torus:dims={side}x{side},wrap=false"))
    assert found.bound == found.reached == Fraction(rate) == Fraction(2 * side, side + 1)
    sent, links = 2 * (side**2 - 1), 4 * side * (side - 1)
    assert found.binds == f"{side**2} GPUs must send {sent} times the data over {links} GB/s in all"


def test_without_one_corner_a_mesh_is_faster_than_three_trees() -> None:
    """The corner only forwards: 22 links leave the 8 GPUs, which send the data 14 times."""
    found = decided(_claim("torus:dims=3x3,wrap=false", left_out=("gpu2.0",)))
    assert found.bound == Fraction(22, 14) > Fraction(3, 2)


def test_the_rate_of_three_trees_is_that_of_our_reimplementation() -> None:
    """Each tree has a third of the data and links of its own, for reduction and broadcast."""
    three_trees = [
        claim
        for claim in read_claims().claims
        if claim.source == "TTO" and claim.kind == "theory" and claim.left_out
    ]
    assert len(three_trees) == 4
    for claim in three_trees:
        made = METHODS["tto"].run(network_of(claim), "allreduce")
        assert 1 / cost(made).time_s_per_gb == printed_rate(claim)


def test_rates_of_public_code_are_those_of_our_reimplementations() -> None:
    """Trivance's simulator, the reference code of Bine trees and NCCL's PAT send what ours do."""
    methods = {"Trivance": "trivance", "Bine": "bine", "PAT": "pat"}
    of_code = [
        claim
        for claim in read_claims().claims
        if claim.source in methods and claim.kind == "theory" and claim.of is None
    ]
    assert len(of_code) == 10
    for claim in of_code:
        made = METHODS[methods[claim.source]].run(network_of(claim), claim.collective)
        assert 1 / cost(made).time_s_per_gb == printed_rate(claim), claim.said


def test_trivances_latency_form_has_three_times_brucks_rate() -> None:
    """A ring of 27: Bruck's steps cross 3 + 9 + 27 links with all data, Trivance's a third."""
    made = METHODS["trivance"].run("ring:nodes=27", "allreduce", {"form": "latency"})
    assert 1 / cost(made).time_s_per_gb == 3 * Fraction(1, 3 + 9 + 27)


def test_swing_is_slower_than_equation_3_on_unequal_dimensions() -> None:
    """16 x 4: after 16 of 64 GPUs 1/16 of the data is left, on two ports of four.

    Its steps cross 3 and 5 links: 1/32 (3/2 + 5/4) beside the 15/64 of 4 x 4, in each phase.
    Equation 3 adds a quarter of that: it lacks the factor D, and counts one phase of two.
    """
    phase = Fraction(15, 64) + Fraction(1, 32) * (Fraction(3, 2) + Fraction(5, 4))
    made = METHODS["swing"].run("torus:dims=16x4", "allreduce")
    assert 1 / cost(made).time_s_per_gb == 1 / (2 * phase) == Fraction(64, 41) < swing("16x4")


def test_an_all_to_all_is_decided_by_its_prices() -> None:
    """3/4 of what a GPU has leaves its box, over 50 GB/s."""
    found = decided(_claim("dgx_h100:boxes=4,nvls=false", collective="all-to-all"))
    assert found.bound == found.reached == Fraction(200, 3)
    assert "8 x 50 GB/s from GPUs 0-7 of box 0 to switch ib" in found.binds


def test_gpus_are_left_out_by_pattern() -> None:
    """A row of an 8 x 8 mesh: its first two GPUs get 12 eighths of the data over three links.

    Direct exchange sends 16 eighths over the link in the row's middle.
    """
    claim = _claim("torus:dims=8x8,wrap=false", collective="all-to-all", left_out=("gpu[1-7].*",))
    topology = network_of(claim)
    assert [topology.nodes[v].name for v in topology.compute] == [f"gpu0.{i}" for i in range(8)]
    assert decided(claim).bound == 2
    direct = METHODS["direct"].run(load_topology("torus:dims=1x8,wrap=false"), "all-to-all")
    assert 1 / cost(direct).time_s_per_gb == Fraction(1, 2)


@pytest.mark.parametrize(
    ("share", "rate", "binds"),
    [
        ("7/8", 225, "8 boxes must send 14 times the data over 3150 GB/s in all"),
        ("1/2", 200, "all data must leave box 0 over 200 GB/s, and enter it"),
    ],
)
def test_a_slow_box_costs_less_than_it_lost(share: str, rate: int, binds: str) -> None:
    """Seven boxes of 400 GB/s and one with a share of it; 1600/7 GB/s without a fault."""
    network = "dgx_h100:boxes=8,nvls=false"
    found = decided(_claim(network, scale={"b0.* - ib": share}))
    assert (found.bound, found.reached, found.binds) == (rate, rate, binds)
    assert base_rate(Base(optimum=network), "allreduce") == Fraction(1600, 7)
    assert base_rate(Base(method="ring", network=network), "allreduce") == Fraction(12800, 63)


def test_prices_bind_if_no_count_does() -> None:
    found = decided(_claim("dgx_h100:boxes=2,nvls=false", scale={"b0.* - ib": "7/8"}))
    assert found.bound == 265
    assert found.binds == "prices of links, the dual of the allreduce program"


def test_an_allgather_has_its_bottleneck_cut() -> None:
    """A corner of the mesh receives 8 shards over 2 links."""
    found = decided(_claim("torus:dims=3x3,wrap=false", collective="allgather"))
    assert found.bound == found.reached == Fraction(9, 4)
    assert found.binds.startswith("everything but GPU gpu0.0: 8 shards must enter it over 2 links")


@pytest.mark.parametrize(
    ("dims", "rate"),
    [("4x4", "32/15"), ("8x8", "128/69"), ("4x4x4", "64/21"), ("16x4", "96/49")],
)
def test_swings_model_by_hand(dims: str, rate: str) -> None:
    """On 8 x 8: 2 / (3/4 + 3/16 + 3 (1/32 + 1/64)), with partners 1, 1 and 3 apart.

    On 16 x 4 equation 3 adds log2(4) / (6 x 4) to the 15/16 of 4 x 4.
    """
    assert swing(dims) == Fraction(rate)


def test_swings_deficiency_tends_to_the_printed_one() -> None:
    """Table 2: 1.19 in two dimensions, 1.03 in three."""
    assert abs(2 / swing("128x128") - Fraction("1.19")) < Fraction(1, 100)
    assert abs(3 / swing("16x16x16") - Fraction("1.03")) < Fraction(1, 100)


def test_a_printed_rate_is_a_number_or_a_formula() -> None:
    by_formula = _claim("torus:dims=4x4", kind="formula", rate="", by_formula="swing:4x4")
    assert printed_rate(by_formula) == Fraction(32, 15)
    assert printed_rate(_claim("torus:dims=4x4")) == Fraction(3, 2)
    assert base_rate(None, "allreduce") == 1
    assert base_rate(Base(rate="3/2"), "allreduce") == Fraction(3, 2)
