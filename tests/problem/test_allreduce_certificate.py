"""Certificates of allreduces: exact, equal to the program, refused if anything is changed."""

import json
from pathlib import Path

import jsonschema
import pytest

from forestcoll import certify, generate, load_topology, verify, verify_certificate
from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.errors import UnbalancedError
from forestcoll.schedule import certificate_schema, read_certificate, write_certificate
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology
from tests.baselines.once_each import every
from tests.command_line import by_the_script, document, invoke
from tests.lp.networks import BETTER
from tests.random_topologies import random_topology

BLOCKS = 8

RANDOM = 120
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
    generate(topology, collective="allreduce", lp_time_limit_s=0)
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


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("block", every(6, range(BLOCKS)))
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
        made = generate(topology, collective="allreduce", weights=weights).schedule
        assert verify(made).algbw_gb_s == 1
        assert [bool(weight) for weight in made.gather.weights] == [bool(w) for w in weights]


def test_the_command_writes_files_of_the_schema(tmp_path: Path) -> None:
    """Sets and potentials a line each; ``verify`` prints time, bound and model."""
    path = tmp_path / "certificate.json"
    made = document("certificate", "dgx_a100:boxes=4", "--collective", "allreduce", "-o", path)
    assert (made["optimal"], made["bound_gb_s"]["exact"]) == (True, "400/3")
    jsonschema.Draft202012Validator(certificate_schema()).validate(json.loads(path.read_text()))
    again = tmp_path / "again.json"
    write_certificate(read_certificate(path), again)
    assert path.read_bytes() == again.read_bytes()
    assert "sums each piece" not in invoke("verify", path).stdout
    assert document("verify", path)["model"].startswith("each piece summed up at one GPU")
