"""Certificates of allreduces: exact, equal to the program, refused if anything is changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forestcoll import certify, generate, load_topology, verify, verify_certificate
from forestcoll.errors import UnbalancedError, VerificationError
from forestcoll.problem.allreduce_certificate import AllreduceCertificate
from forestcoll.schedule import certificate_schema, read_certificate, write_certificate
from forestcoll.topology import Topology
from lp.allreduce.cutting_planes import allreduce_optimum
from lp.solver.linear_program import Settings
from tests.command_line import by_the_script, document, invoke
from tests.lp.networks import BETTER
from tests.random_topologies import random_topology

BLOCKS = 8

RANDOM = 200
"""Networks, in so many blocks."""


def networks(block: int) -> list[Topology]:
    """Random networks on which an allreduce is possible."""
    found: list[Topology] = []
    seed = block
    while len(found) < RANDOM // BLOCKS:
        topology = random_topology(seed, ("directed", "bidirectional")[seed % 2])
        seed += BLOCKS
        try:
            topology.num_compute > 1 and found.append(_possible(topology))
        except UnbalancedError:
            continue
    return found


def _possible(topology: Topology) -> Topology:
    generate(topology, collective="allreduce", program_s=0)
    return topology


def assert_proved(topology: Topology, path: Path) -> None:
    """The certificate is exact, both checks accept it, and the program has the same value."""
    certificate = certify(topology, collective="allreduce")
    write_certificate(certificate, path)
    verdict = verify_certificate(read_certificate(path))
    script = by_the_script(path)
    assert (script.returncode, script.stderr) == (0, ""), topology
    value = allreduce_optimum(topology, Settings(seconds=60)).algbw_gb_s
    assert float(verdict.bound_gb_s) == pytest.approx(value, rel=1e-7)
    assert verdict.optimal
    assert script.stdout.endswith(f"takes {verdict.time_s_per_gb} s per GB and none less\n")


@pytest.mark.parametrize("block", range(BLOCKS))
def test_certificates_of_random_networks_equal_the_program(block: int, tmp_path: Path) -> None:
    """200 in all: the bound in fractions is the program's value, and a schedule attains it."""
    for topology in networks(block):
        assert_proved(topology, tmp_path / "certificate.json")


@pytest.mark.parametrize(
    "topology",
    [*(one[0] for one in BETTER), *map(load_topology, ("dgx_a100:boxes=2", "mi250:boxes=2"))],
    ids=lambda topology: topology.name,
)
def test_certificates_of_networks_known_by_hand(topology: Topology, tmp_path: Path) -> None:
    """Those where the combination is slower, and the paper's."""
    assert_proved(topology, tmp_path / "certificate.json")


def test_parts_in_given_proportions_have_a_bound_of_their_own(tmp_path: Path) -> None:
    """Two boxes of 2 and 6 GPUs joined by 1 GB/s, all sums at one GPU of the large box.

    What the small box adds crosses one way, the sums the other way: at most 1 GB/s, attained.
    With a root in each box, the wire has 1/2 of the sums and of what is added each way: 1 GB/s.
    """
    topology = BETTER[4][0]
    path = tmp_path / "certificate.json"
    for weights in ([0] * 7 + [1], [1] + [0] * 6 + [1]):
        certificate = certify(topology, collective="allreduce", weights=weights)
        write_certificate(certificate, path)
        assert by_the_script(path).returncode == 0
        verdict = verify_certificate(certificate)
        assert (verdict.algbw_gb_s, verdict.optimal) == (1, True)
        made = generate(topology, collective="allreduce", weights=weights)
        assert verify(made).algbw_gb_s == 1
        assert [bool(weight) for weight in made.gather.weights] == [bool(w) for w in weights]


def test_the_command_writes_what_the_schema_says(tmp_path: Path) -> None:
    """Sets and potentials a line each; ``verify`` tells time, bound and model."""
    path = tmp_path / "certificate.json"
    made = document("certificate", "dgx_a100:boxes=4", "--collective", "allreduce", "-o", path)
    assert (made["optimal"], made["bound_gb_s"]["exact"]) == (True, "400/3")
    jsonschema.Draft202012Validator(certificate_schema()).validate(json.loads(path.read_text()))
    again = tmp_path / "again.json"
    write_certificate(read_certificate(path), again)
    assert path.read_bytes() == again.read_bytes()
    assert "sums each piece" not in invoke("verify", path).stdout
    assert document("verify", path)["model"].startswith("each piece summed up at one GPU")


# --- what is not true is refused -----------------------------------------------------------------


def _more(text: str) -> str:
    return str(Fraction(text) + Fraction(1, 7))


def _less(text: str) -> str:
    return str(Fraction(text) - Fraction(1, 1000))


MUTATIONS: dict[str, Callable[[Any], None]] = {
    "a higher bound": lambda c: c["bound"].update(algbw_gb_s=_more(c["bound"]["algbw_gb_s"])),
    "a lower bound": lambda c: c["bound"].update(algbw_gb_s=_less(c["bound"]["algbw_gb_s"])),
    "less time": lambda c: c.update(time_s_per_gb=str(Fraction(c["time_s_per_gb"]) / 2)),
    "more time": lambda c: c.update(time_s_per_gb=str(Fraction(c["time_s_per_gb"]) * 2)),
    "a price of the gathering": lambda c: _priced(c).update(gather=_more(_priced(c)["gather"])),
    "a price of the reduction": lambda c: _priced(c).update(reduce=_more(_priced(c)["reduce"])),
    "a set less": lambda c: c["bound"]["sets"].pop(),
    "a node less in a set": lambda c: c["bound"]["sets"][0]["nodes"].pop(0),
    "a node twice in a set": lambda c: c["bound"]["sets"][0]["nodes"].append(
        c["bound"]["sets"][0]["nodes"][0]
    ),
    "a stranger in a set": lambda c: c["bound"]["sets"][0]["nodes"].append("nobody"),
    "a set of switches": lambda c: c["bound"]["sets"].append(
        {"nodes": c["forwarding"][:1], "gather": "1", "reduce": "0"}
    ),
    "a price below 0": lambda c: _priced(c).update(gather="-1"),
    "other proportions": lambda c: (
        c["bound"].update(proportions=True),
        c["bound"]["sets"][0].update(gather="5"),
    ),
    "more trees of the reduction": lambda c: _link(c, "reduce", 1),
    "fewer trees of the reduction": lambda c: _link(c, "reduce", -1),
    "more trees of the gathering": lambda c: _link(c, "gather", 1),
    "fewer trees of the gathering": lambda c: _link(c, "gather", -1),
    "a wider link": lambda c: c["links"][0].update(
        bandwidth_gb_s=_more(c["links"][0]["bandwidth_gb_s"])
    ),
    "a link less": lambda c: c["links"].pop(0),
    "a link twice": lambda c: c["links"].append(dict(c["links"][0])),
    "a link of a GPU to itself": lambda c: c["links"][0].update(to=c["links"][0]["from"]),
    "another weight": lambda c: c["gpus"][0].update(weight=c["gpus"][0]["weight"] + 1),
    "weights doubled": lambda c: [gpu.update(weight=2 * gpu["weight"]) for gpu in c["gpus"]],
    "more trees a weight": lambda c: c.update(k_gather=c["k_gather"] + 1),
    "no trees a weight": lambda c: c.update(k_reduce=0),
    "a GPU less": lambda c: c["gpus"].pop(),
    "a GPU that forwards": lambda c: c["forwarding"].append(c["gpus"].pop()["name"]),
    "another collective": lambda c: c.update(collective="allgather"),
}

POTENTIALS: dict[str, Callable[[Any], None]] = {
    "a potential of the gathering": lambda c: c["bound"]["potentials"][0].update(gather="3"),
    "a potential of the reduction": lambda c: c["bound"]["potentials"][0].update(reduce="3"),
    "a potential twice": lambda c: c["bound"]["potentials"].append(
        dict(c["bound"]["potentials"][0])
    ),
    "a potential of a GPU": lambda c: c["bound"]["potentials"][0].update(
        switch=c["gpus"][0]["name"]
    ),
    "a potential of nobody": lambda c: c["bound"]["potentials"][0].update(switch="nobody"),
    "no potential": lambda c: c["bound"]["potentials"].pop(0),
}

SOURCES = {
    "star": (BETTER[0][0], MUTATIONS),
    "dgx_a100:boxes=2": (load_topology("dgx_a100:boxes=2"), MUTATIONS | POTENTIALS),
}


def _priced(c: Any) -> Any:
    return c["bound"]["sets"][0]


def _link(c: Any, phase: str, by: int) -> None:
    link = next(link for link in c["links"] if link[phase])
    link[phase] += by


@pytest.mark.parametrize(
    ("source", "change"),
    [(source, change) for source, (_, changes) in SOURCES.items() for change in changes],
)
def test_whatever_is_changed_both_refuse(source: str, change: str, tmp_path: Path) -> None:
    """64 mutants: one number, name or entry; exit code 1 or 2, and one line of the script."""
    topology, changes = SOURCES[source]
    path = tmp_path / "false.json"
    write_certificate(certify(topology, collective="allreduce"), path)
    assert by_the_script(path).returncode == 0
    changed = json.loads(path.read_text())
    before = json.dumps(changed)
    changes[change](changed)
    assert json.dumps(changed) != before
    path.write_text(json.dumps(changed))
    refused = invoke("verify", path)
    assert refused.exit_code in (1, 2)
    assert refused.stderr.count("\n") == 1
    assert by_the_script(path).returncode == 1


def test_the_number_of_mutants() -> None:
    assert sum(len(changes) for _, changes in SOURCES.values()) >= 50


def test_a_bound_that_is_not_attained_is_said(tmp_path: Path) -> None:
    """Without the program, of the one-way ring with a detour: 3/2 GB/s, and 2 by a single cut."""
    certificate = certify(BETTER[3][0], collective="allreduce", program_s=0)
    verdict = verify_certificate(certificate)
    assert (verdict.optimal, verdict.algbw_gb_s, verdict.bound_gb_s) == (False, Fraction(3, 2), 2)
    path = tmp_path / "certificate.json"
    write_certificate(certificate, path)
    assert by_the_script(path).stdout.endswith("and none less than 1/2\n")


def test_a_bound_below_the_rate_is_refused() -> None:
    """A certificate that contradicts itself."""
    made = certify(BETTER[0][0], collective="allreduce").model_dump(by_alias=True)
    for link in made["links"]:
        link["bandwidth_gb_s"] = Fraction(link["bandwidth_gb_s"]) / 2
    made["time_s_per_gb"] = Fraction(made["time_s_per_gb"]) / 2
    with pytest.raises(VerificationError):
        verify_certificate(AllreduceCertificate.model_validate(made))
