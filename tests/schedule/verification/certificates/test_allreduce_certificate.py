"""Certificates of allreduces added up anew: whatever is changed is found."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from forestcoll import certify, load_topology, verify_certificate
from forestcoll.errors import VerificationError
from forestcoll.problem.allreduce_certificate import AllreduceCertificate
from forestcoll.schedule import write_certificate
from tests.command_line import by_the_script, invoke
from tests.lp.networks import BETTER


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


@cache
def true_document(source: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "true.json"
        write_certificate(certify(SOURCES[source][0], collective="allreduce"), path)
        assert by_the_script(path).returncode == 0
        return path.read_text()


@pytest.mark.parametrize(
    ("source", "change"),
    [(source, change) for source, (_, changes) in SOURCES.items() for change in changes],
)
def test_verify_and_the_script_refuse_every_mutant(
    source: str, change: str, tmp_path: Path
) -> None:
    """64 mutants: one number, name or entry; exit code 1 or 2, and one line of the script."""
    path = tmp_path / "false.json"
    changed = json.loads(true_document(source))
    before = json.dumps(changed)
    SOURCES[source][1][change](changed)
    assert json.dumps(changed) != before
    path.write_text(json.dumps(changed))
    refused = invoke("verify", path)
    assert refused.exit_code in (1, 2)
    assert refused.stderr.count("\n") == 1
    assert by_the_script(path).returncode == 1


def test_the_number_of_mutants() -> None:
    assert sum(len(changes) for _, changes in SOURCES.values()) >= 50


def test_a_bound_that_is_not_attained_is_reported(tmp_path: Path) -> None:
    """Without the program, of the one-way ring with a detour: 3/2 GB/s, and 2 by a single cut."""
    certificate = certify(BETTER[3][0], collective="allreduce", lp_time_limit_s=0)
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


SHARED: dict[str, Callable[[Any], None]] = {
    "a wider limit": lambda c: c["shared"][0].update(bandwidth_gb_s="1000"),
    "a narrower limit": lambda c: c["shared"][0].update(bandwidth_gb_s="1"),
    "no limit": lambda c: c.update(shared=[]),
    "a limit twice": lambda c: c["shared"].append(dict(c["shared"][0])),
    "a limit named as a GPU": lambda c: (
        c["shared"][0].update(name="b0.gpu0"),
        c["bound"]["shared"][0].update(name="b0.gpu0"),
    ),
    "a limit of no link": lambda c: c["shared"][0].update(links=[]),
    "a link less": lambda c: c["shared"][0]["links"].pop(),
    "a link twice": lambda c: c["shared"][0]["links"].append(c["shared"][0]["links"][0]),
    "a link that is not there": lambda c: c["shared"][0]["links"][0].update(to="b0.gpu9"),
    "a price less": lambda c: c["bound"]["shared"].pop(),
    "a higher price": lambda c: c["bound"]["shared"][0].update(price="7"),
    "a price below 0": lambda c: c["bound"]["shared"][0].update(price="-1"),
    "a price twice": lambda c: c["bound"]["shared"].append(c["bound"]["shared"][0]),
    "a price of nothing": lambda c: c["bound"]["shared"][0].update(name="nothing"),
}


@pytest.mark.parametrize("name", [None, *SHARED])
def test_shared_capacities_in_a_certificate(name: str | None, tmp_path: Path) -> None:
    """Proved as it is, by the library and the script alone; refused by both once changed."""
    certificate = certify(load_topology("pcie_box:gpus=4"), collective="allreduce")
    assert isinstance(certificate, AllreduceCertificate)
    path = tmp_path / "certificate.json"
    write_certificate(certificate, path)
    document = json.loads(path.read_text())
    if name is None:
        assert verify_certificate(certificate).optimal
        assert by_the_script(path).returncode == 0
        return
    SHARED[name](document)
    path.write_text(json.dumps(document))
    assert invoke("verify", path).exit_code != 0
    assert by_the_script(path).returncode != 0
