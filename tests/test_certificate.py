"""Certificates: made from schedules, checked twice without what made them, false ones refused."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import certify, generate, optimum, verify, verify_certificate
from forestcoll import write_certificate as write
from forestcoll.errors import VerificationError
from forestcoll.problem.certificate_document import Certificate
from forestcoll.schedule import certificate_schema
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.command_line import SCRIPT, assert_one_line, by_the_script, document, invoke
from tests.core.test_fixed_k import overdrawn
from tests.core.test_pipeline import ONE_WAY, bound_by_enumeration, demands, fit
from tests.strategies import topologies

NETWORKS = {
    "allgather": ["dgx_a100:boxes=2"],
    "reduce-scatter": ["mi250:boxes=2", "--collective", "reduce-scatter", "--group", "*/0-3"],
    "broadcast": ["dgx_h100:boxes=2", "--collective", "broadcast", "--root", "3"],
    "reduce": ["ring:nodes=5", "--collective", "reduce", "--root", "gpu2"],
    "weighted": ["ring:nodes=3", "--weights", "WEIGHTS"],
    "k = 3": ["mi250:boxes=2", "--k", "3"],
    "k = 83": ["mi250:boxes=2", "--k", "83"],
}
FALSE = tuple[Sequence[str | int], Callable[[Any], Any]]


def certificate_of(name: str, path: Path) -> Any:
    """Write a certificate with the command line and return it as plain data."""
    weights = path.with_suffix(".yaml")
    weights.write_text("[2, 0, 3]")
    options = [weights if option == "WEIGHTS" else option for option in NETWORKS[name]]
    assert invoke("certificate", *options, "-o", path).exit_code == 0
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", NETWORKS)
def test_verify_and_the_script_accept_what_the_command_writes(name: str, tmp_path: Path) -> None:
    """They agree on the time, which is that of a generated schedule; the file is in the schema."""
    path = tmp_path / "certificate.json"
    made = certificate_of(name, path)
    jsonschema.Draft202012Validator(certificate_schema()).validate(made)
    verdict = document("verify", path)
    assert verdict["certificate"] is verdict["verified"] is verdict["optimal_for_k"] is True
    assert verdict["optimal"] is (name != "k = 3")
    assert verdict["time_s_per_gb"]["exact"] == made["time_s_per_gb"]
    script = by_the_script(path)
    assert (script.returncode, script.stderr) == (0, "")
    said = f"takes {made['time_s_per_gb']} s per GB with k = {made['k']}"
    assert script.stdout.startswith("true: ")
    assert script.stdout.endswith(f"{said}\n")


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


def test_a_gap_that_fixed_k_leaves_is_not_hidden() -> None:
    """No trees at U = 1, all flows pass there: the certificate proves no more than that."""
    certificate = certify(overdrawn(spare=False), k=1)
    assert certificate.fixed_k is not None
    assert certificate.fixed_k.congestion == 1
    assert certificate.congestion > 1
    assert not verify_certificate(certificate).optimal_for_k


@pytest.mark.parametrize("collective", ONE_WAY)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), topology=topologies())
def test_every_optimum_has_a_certificate(
    collective: str, data: st.DataObject, topology: Topology
) -> None:
    """On random digraphs, with the worst of all cuts; whatever k, it proves what verify proves."""
    network = fit(topology, collective)
    demand = data.draw(demands(network, collective))
    k = data.draw(st.none() | st.integers(1, 4))
    certificate = certify(network, collective=collective, k=k, **demand)
    proved = verify_certificate(certificate)
    verdict = verify(generate(network, collective=collective, k=k, **demand))
    assert proved.time_s_per_gb == verdict.time_s_per_gb
    weights = [gpu.weight for gpu in certificate.gpus]
    bound = bound_by_enumeration(network, weights, reduction=certificate.is_reduction)
    assert certificate.optimum.inverse_rate == bound
    assert proved.optimal == (proved.time_s_per_gb == bound / sum(weights))


# --- false ones --------------------------------------------------------------------------------

MUTATIONS: dict[str, FALSE] = {
    "a node twice in the cut": (("optimum", "cut"), lambda cut: [*cut, "b0.gpu9"]),
    "a switch less in the cut": (("optimum", "cut"), lambda cut: cut[:-1]),
    "a GPU of the cut outside": (("optimum", "cut"), lambda cut: cut[1:]),
    "all GPUs in the cut": (("optimum", "cut"), lambda cut: ["b0.gpu0", *cut]),
    "a stranger in the cut": (("optimum", "cut"), lambda cut: [*cut, "nobody"]),
    "a GPU of the cut unlisted": (("optimum", "gpus"), lambda gpus: gpus[1:]),
    "weight of the cut": (("optimum", "weight"), lambda weight: weight + 1),
    "bandwidth of the cut": (("optimum", "bandwidth_gb_s"), lambda _: "1/3"),
    "ratio of the cut": (("optimum", "inverse_rate"), lambda _: "1/3"),
    "k": (("k",), lambda k: k + 1),
    "no k": (("k",), lambda _: 0),
    "congestion": (("congestion",), lambda u: str(Fraction(u) * 2)),
    "lower congestion": (("congestion",), lambda u: str(Fraction(u) / 2)),
    "time": (("time_s_per_gb",), lambda time: str(Fraction(time) / 2)),
    "collective": (("collective",), lambda _: "broadcast"),
    "weight of a GPU": (("gpus", 0, "weight"), lambda weight: weight + 1),
    "trees of a GPU": (("gpus", 0, "trees"), lambda trees: trees + 1),
    "a GPU twice": (("gpus", 1, "name"), lambda _: "b0.gpu0"),
    "a switch twice": (("forwarding",), lambda names: [*names, names[0]]),
    "a link away": (("links",), lambda links: links[1:]),
    "a link twice": (("links",), lambda links: [*links, links[0]]),
    "a link to nowhere": (("links", 0, "to"), lambda _: "nobody"),
    "load": (("links", 0, "trees"), lambda trees: trees + 1),
}
LIMITS: dict[str, FALSE] = {
    "no limit": (("fixed_k",), lambda _: None),
    "trees lacking": (("fixed_k", "trees_lacking"), lambda trees: trees + 1),
    "higher limit": (("fixed_k", "congestion"), lambda u: str(Fraction(u) * 2)),
    "lower limit": (("fixed_k", "congestion"), lambda u: str(Fraction(u) / 2)),
    "cut of the limit": (("fixed_k", "cut"), lambda cut: cut[1:]),
    "a GPU less in the limit": (("fixed_k", "gpus"), lambda gpus: gpus[1:]),
    "weight of the limit": (("fixed_k", "weight"), lambda weight: weight - 1),
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    path = tmp_path_factory.mktemp("certificates") / "certificate.json"
    return {name: json.dumps(certificate_of(name, path)) for name in ("reduce-scatter", "k = 3")}


def refused_by_both(changed: Any, path: Path) -> None:
    path.write_text(json.dumps(changed))
    result = invoke("verify", path)
    assert result.exit_code == 1, result.output
    assert_one_line(result.stderr, "")
    script = by_the_script(path)
    assert script.returncode == 1
    assert script.stderr.startswith("false: ")
    assert script.stderr.count("\n") == 1
    assert script.stdout == ""


@pytest.mark.parametrize(
    ("source", "change"),
    [
        *(("reduce-scatter", name) for name in MUTATIONS),
        *(("k = 3", name) for name in LIMITS),
    ],
)
def test_whatever_is_changed_both_refuse(
    source: str, change: str, certificates: dict[str, str], tmp_path: Path
) -> None:
    """One number, name or entry at a time; exit code 1 and one line."""
    changed = json.loads(certificates[source])
    where, new = (MUTATIONS | LIMITS)[change]
    place = changed
    for key in where[:-1]:
        place = place[key]
    was = place[where[-1]]
    place[where[-1]] = new(was)
    assert place[where[-1]] != was
    refused_by_both(changed, tmp_path / "false.json")


def test_any_link_changed_is_found() -> None:
    """A tree more or less on any link; 1 % less bandwidth, as every link of a ring is full."""
    plain = certify(load_topology("ring:nodes=4")).model_dump(by_alias=True)
    for link in plain["links"]:
        for change in (
            {"trees": link["trees"] + 1},
            {"trees": link["trees"] - 1},
            {"bandwidth_gb_s": Fraction(link["bandwidth_gb_s"]) * Fraction(99, 100)},
        ):
            was = dict(link)
            link.update(change)
            with pytest.raises(VerificationError):
                verify_certificate(Certificate.model_validate(plain))
            link.update(was)
    assert verify_certificate(Certificate.model_validate(plain)).optimal


def test_the_other_direction_is_found(tmp_path: Path) -> None:
    """A broadcast is no reduce: to a root that sends but receives nothing."""
    path = tmp_path / "false.json"
    changed = certificate_of("broadcast", path)
    changed["collective"] = "reduce"
    refused_by_both(changed, path)


def test_a_cut_link_of_other_bandwidth_is_found(
    certificates: dict[str, str], tmp_path: Path
) -> None:
    """More bandwidth into the cut than was added up."""
    changed = json.loads(certificates["reduce-scatter"])
    inside = set(changed["optimum"]["cut"])
    for link in changed["links"]:
        if link["to"] in inside and link["from"] not in inside:
            link["bandwidth_gb_s"] = "1000"
            break
    refused_by_both(changed, tmp_path / "false.json")


def two_pairs() -> Topology:
    """Pairs a, b and c, d with 3 GB/s each way inside, and 10 GB/s between a and c."""
    builder = TopologyBuilder()
    a, b, c, d = (builder.gpu(name) for name in "abcd")
    builder.link(a, b, 3)
    builder.link(c, d, 3)
    builder.link(a, c, 10)
    return builder.build("two pairs")


def test_loads_that_no_trees_can_have_are_found(tmp_path: Path) -> None:
    """All add up at every GPU, but each pair sends in circles and nothing to the other."""
    certificate = certify(two_pairs())
    assert (certificate.k, certificate.congestion) == (1, 1)
    path = tmp_path / "false.json"
    write(certificate, path)
    forged = json.loads(path.read_text())
    for link in forged["links"]:
        link["trees"] = 0 if {link["from"], link["to"]} == {"a", "c"} else 3
    refused_by_both(forged, path)
    result = invoke("verify", path)
    assert "only 2 of 4 trees can flow over the loads" in result.stderr
    assert "the trees of all roots can flow to a" in by_the_script(path).stderr


def test_a_switch_that_keeps_trees_is_found(tmp_path: Path) -> None:
    """Loads that are right at every GPU; the switch gets one tree more than it sends."""
    path = tmp_path / "false.json"
    builder = TopologyBuilder()
    a, b, w = builder.gpu("a"), builder.gpu("b"), builder.switch("w")
    builder.link(a, b, 1)
    builder.link(a, w, 1)
    builder.link(b, w, 1)
    write(certify(builder.build("triangle")), path)
    forged = json.loads(path.read_text())
    link = next(link for link in forged["links"] if link["to"] == "w")
    link["trees"] -= 1
    refused_by_both(forged, path)
    assert "w only forwards, but receives" in invoke("verify", path).stderr


# --- form --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["ring:nodes=3", "--group", "gpu1"], "has a single GPU: there is nothing to certify"),
        (["ring:nodes=3", "--k", "0"], "k is 0; it must be a whole number from 1 up"),
        (["ring:nodes=3", "--collective", "reduce"], "reduce needs a root"),
    ],
)
def test_what_cannot_be_certified_is_told(options: list[str], message: str, tmp_path: Path) -> None:
    """Exit code 2, one line, no file."""
    result = invoke("certificate", *options, "-o", tmp_path / "never.json")
    assert result.exit_code == 2
    assert_one_line(result.stderr, message)
    assert list(tmp_path.iterdir()) == []
    result = invoke("certificate", "ring:nodes=3", "-o", tmp_path / "no" / "where.json")
    assert_one_line(result.stderr, "there is no directory")


def test_the_script_is_short_and_needs_the_standard_library_only() -> None:
    """At most 130 lines; -S and -I keep installed packages away when it runs."""
    text = SCRIPT.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 130
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
