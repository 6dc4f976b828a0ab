"""Certificates: made from schedules, checked twice without what made them, false ones refused."""

import ast
import sys
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import certify, generate, optimum, verify, verify_certificate
from forestcoll.problem.certificate_document import PricedLimitOfK
from forestcoll.schedule import certificate_schema
from forestcoll.topology import Topology, load_topology
from tests.command_line import DEMAND_SCRIPT, SCRIPT, as_anybody_runs, document
from tests.core.test_fixed_k import overdrawn
from tests.core.test_pipeline import ONE_WAY, bound_by_enumeration, demands, fit
from tests.random_topologies import rounds
from tests.schedule.verification.certificates.by_command import NETWORKS, certificate_of
from tests.strategies import topologies


@pytest.mark.parametrize("name", NETWORKS)
def test_verify_and_the_script_accept_certificates_of_the_command(
    name: str, tmp_path: Path
) -> None:
    """They agree on the time, which is that of a generated schedule; the file is in the schema."""
    path = tmp_path / "certificate.json"
    made = certificate_of(name, path)
    jsonschema.Draft202012Validator(certificate_schema()).validate(made)
    verdict = document("verify", path)
    assert verdict["certificate"] is verdict["verified"] is verdict["optimal_for_k"] is True
    assert verdict["optimal"] is (name != "k = 3")
    assert verdict["time_s_per_gb"]["exact"] == made["time_s_per_gb"]
    script = as_anybody_runs(path)
    assert (script.returncode, script.stderr) == (0, "")
    shown = f"takes {made['time_s_per_gb']} s per GB with k = {made['k']}"
    assert script.stdout.startswith("true: ")
    assert script.stdout.endswith(f"{shown}\n")


def test_the_numbers_of_a_ring() -> None:
    """Three GPUs, links of 1 GB/s: 2 shards leave a pair over 2 GB/s, so 1/x* = 1; with k = 1
    every GPU gets two trees, one over each link.
    """
    certificate = certify(load_topology("ring:nodes=3"))
    best = certificate.optimum
    assert (best.weight, best.bandwidth_gb_s, best.inverse_rate) == (2, 2, 1)
    assert len(best.cut) == len(best.gpus) == 2
    assert (certificate.k, certificate.congestion, certificate.fixed_k) == (1, 1, None)
    assert certificate.time_s_per_gb == Fraction(1, 3)
    assert [(link.bandwidth_gb_s, link.trees) for link in certificate.links] == [(1, 1)] * 6
    assert [(gpu.weight, gpu.trees) for gpu in certificate.gpus] == [(1, 1)] * 3


def test_the_cut_that_limits_k_is_certified() -> None:
    """MI250 2x16: k = 3 gives 2400/7 GB/s (Table 1), where 83 give 5312/15."""
    certificate = certify(load_topology("mi250:boxes=2"), k=3)
    assert certificate.fixed_k is not None
    assert certificate.fixed_k.trees_lacking == 3
    assert certificate.fixed_k.congestion == certificate.congestion == Fraction(7, 25)
    assert 32 / certificate.optimum.inverse_rate == Fraction(5312, 15)
    verdict = verify_certificate(certificate)
    assert (verdict.algbw_gb_s, verdict.optimal, verdict.optimal_for_k) == (
        Fraction(2400, 7),
        False,
        True,
    )


def test_prices_limit_k_if_no_cut_does() -> None:
    """No trees at U = 1, though all flows pass there: the price of the switch proves U = 2."""
    certificate = certify(overdrawn(spare=False), k=1)
    assert isinstance(certificate.fixed_k, PricedLimitOfK)
    assert certificate.fixed_k.congestion == 2
    assert certificate.congestion == 2
    assert verify_certificate(certificate).optimal_for_k


@pytest.mark.parametrize("collective", ONE_WAY)
@settings(max_examples=rounds(60), deadline=None)
@given(data=st.data(), topology=topologies())
def test_optima_have_certificates(collective: str, data: st.DataObject, topology: Topology) -> None:
    """On random digraphs, with the worst of all cuts; whatever k, it proves what verify proves."""
    network = fit(topology, collective)
    demand = data.draw(demands(network, collective))
    k = data.draw(st.none() | st.integers(1, 4))
    certificate = certify(network, collective=collective, k=k, **demand)
    proved = verify_certificate(certificate)
    verdict = verify(generate(network, collective=collective, k=k, **demand).schedule)
    assert proved.time_s_per_gb == verdict.time_s_per_gb
    weights = [gpu.weight for gpu in certificate.gpus]
    bound = bound_by_enumeration(network, weights, reduction=certificate.is_reduction)
    assert certificate.optimum.inverse_rate == bound
    assert proved.optimal == (proved.time_s_per_gb == bound / sum(weights))


# --- form --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("script", "lines"), [(SCRIPT, 350), (DEMAND_SCRIPT, 70)])
def test_the_script_is_short_and_needs_the_standard_library_only(script: Path, lines: int) -> None:
    """So few lines; -S and -I keep installed packages away when it runs."""
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= lines
    tree = ast.walk(ast.parse(text))
    imported = {name.name for node in tree if isinstance(node, ast.Import) for name in node.names}
    tree = ast.walk(ast.parse(text))
    imported |= {str(node.module) for node in tree if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names


def test_the_optimum_is_that_of_the_search() -> None:
    """Whatever forest it comes from."""
    topology = load_topology("dgx_a100:boxes=2")
    assert certify(topology, k=1).optimum.inverse_rate == optimum(topology).inverse_rate
    assert certify(topology, collective="allreduce").bound.algbw_gb_s == Fraction(520, 3)
