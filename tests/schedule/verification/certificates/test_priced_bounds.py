"""Certificates by prices: written, added up by verify and by the script, and false ones refused."""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forestcoll import certify, verify_certificate, write_certificate
from forestcoll.errors import VerificationError
from forestcoll.schedule import certificate_schema
from tests.command_line import by_the_script
from tests.core.any_network.networks import damaged_network, fan, four_routes, half_duplex
from tests.schedule.verification.certificates.by_command import refused_by_both

MADE = {
    "fan": lambda: certify(fan(), collective="broadcast", root="r"),
    "reversed": lambda: certify(fan().reversed(), collective="reduce", root="r"),
    "wires": lambda: certify(half_duplex()),
    "k": lambda: certify(half_duplex((64, 64, 64, 50)), k=1),
    "routes": lambda: certify(four_routes(), collective="broadcast", root="a", k=2),
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("certificates")
    found = {}
    for name, make in MADE.items():
        write_certificate(make(), folder / name)
        found[name] = (folder / name).read_text()
    return found


@pytest.mark.parametrize("name", MADE)
def test_both_checks_accept_truth(name: str, certificates: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(certificates[name])
    made = MADE[name]()
    jsonschema.Draft202012Validator(certificate_schema()).validate(json.loads(path.read_text()))
    verdict = verify_certificate(made)
    assert verdict.time_s_per_gb == made.time_s_per_gb
    assert verdict.optimal is (made.fixed_k is None)
    script = by_the_script(path)
    assert (script.returncode, script.stderr) == (0, "")


def test_the_numbers_of_the_wires() -> None:
    """X = 256 / 24; U b = 64 k 24 / 256 on a wire, which carries 3 k in and 3 k out."""
    made = certify(half_duplex())
    assert made.optimum.inverse_rate == Fraction(24, 256)
    assert made.congestion == made.k * Fraction(24, 256)
    assert [one.trees for one in made.shared] == [6 * made.k] * 4


def test_the_limit_of_k_by_hand() -> None:
    """24 trees over three wires of 64 GB/s and one of 50: below U = 7/64 they carry 3 x 6 + 5."""
    made = certify(half_duplex((64, 64, 64, 50)), k=1)
    assert made.fixed_k is not None
    assert made.fixed_k.congestion == made.congestion == Fraction(7, 64)
    assert made.optimum.inverse_rate == Fraction(24, 242)
    verdict = verify_certificate(made)
    assert (verdict.optimal, verdict.optimal_for_k) == (False, True)


FALSE: dict[str, tuple[str, Sequence[str | int], Callable[[Any], Any]]] = {
    "price of a cut": ("fan", ("optimum", "cuts", 0, "price"), lambda _: "1"),
    "a node less": ("fan", ("optimum", "cuts", 0, "nodes"), lambda nodes: nodes[1:]),
    "a node twice": ("fan", ("optimum", "cuts", 0, "nodes"), lambda nodes: [*nodes, nodes[0]]),
    "all GPUs inside": (
        "fan",
        ("optimum", "cuts", 0, "nodes"),
        lambda _: ["r", "s", "a", "b", "c"],
    ),
    "a stranger": ("fan", ("optimum", "cuts", 0, "nodes"), lambda nodes: [*nodes, "x"]),
    "no cuts": ("fan", ("optimum", "cuts"), lambda _: []),
    "price of a switch": ("fan", ("optimum", "switches", 0, "price"), lambda _: "1/4"),
    "another switch": ("fan", ("optimum", "switches", 0, "switch"), lambda _: "a"),
    "a switch twice": ("fan", ("optimum", "switches"), lambda one: [*one, *one]),
    "a rate that is not proved": ("fan", ("optimum", "inverse_rate"), lambda _: "4"),
    "the reverse": ("reversed", ("optimum", "switches", 0, "price"), lambda _: "2/3"),
    "price of a wire": ("wires", ("optimum", "shared", 0, "price"), lambda _: "5"),
    "a wire without a price": ("wires", ("optimum", "shared"), lambda one: one[1:]),
    "a wire twice": ("wires", ("optimum", "shared"), lambda one: [*one, one[0]]),
    "a wire that is none": ("wires", ("optimum", "shared", 0, "name"), lambda _: "x"),
    "limit of a wire": ("wires", ("shared", 0, "bandwidth_gb_s"), lambda _: "65"),
    "load of a wire": ("wires", ("shared", 0, "trees"), lambda trees: trees - 1),
    "a wire with a link less": ("wires", ("shared", 0, "links"), lambda links: links[1:]),
    "a wire without links": ("wires", ("shared", 0, "links"), lambda _: []),
    "a wire with a link twice": ("wires", ("shared", 0, "links"), lambda ls: [*ls, ls[0]]),
    "a wire of no link": ("wires", ("shared", 0, "links", 0, "to"), lambda _: "g1"),
    "a limit of k": ("k", ("fixed_k", "congestion"), lambda u: str(2 * Fraction(u))),
    "what is lacking": ("k", ("fixed_k", "lacking"), lambda one: str(2 * Fraction(one))),
    "prices of k": ("k", ("fixed_k", "shared"), lambda one: one[1:]),
}


@pytest.mark.parametrize("name", FALSE)
def test_both_refuse_any_change(name: str, certificates: dict[str, str], tmp_path: Path) -> None:
    """One number, name or entry at a time; exit code 1 and one line."""
    source, where, new = FALSE[name]
    changed = json.loads(certificates[source])
    place = changed
    for key in where[:-1]:
        place = place[key]
    was = place[where[-1]]
    place[where[-1]] = new(was)
    assert place[where[-1]] != was
    refused_by_both(changed, tmp_path / "false.json")


@pytest.mark.parametrize("seed", range(20))
def test_random_networks_have_certificates(seed: int, tmp_path: Path) -> None:
    """Both checks agree; a rate that is a little better is refused."""
    if (made := damaged_network(seed, groups=seed % 2 == 0)) is None:
        return
    network, weights = made
    certificate = certify(network, weights=weights, k=None if seed % 3 else 2)
    verdict = verify_certificate(certificate)
    path = tmp_path / "certificate.json"
    write_certificate(certificate, path)
    assert by_the_script(path).returncode == 0
    assert verdict.time_s_per_gb == certificate.time_s_per_gb
    better = certificate.optimum.inverse_rate * Fraction(999, 1000)
    claim = certificate.optimum.model_copy(update={"inverse_rate": better})
    with pytest.raises(VerificationError):
        verify_certificate(certificate.model_copy(update={"optimum": claim}))
