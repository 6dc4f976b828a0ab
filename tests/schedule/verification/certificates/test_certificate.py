"""Certificates added up anew: whatever is changed is found, here and by the script."""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import certify, time_bound, verify_certificate
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.problem.certificate_document import Certificate
from forestcoll.topology import load_topology
from tests.schedule.verification.certificates.by_command import certificate_of, refused_by_both

FALSE = tuple[Sequence[str | int], Callable[[Any], Any]]

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


@pytest.mark.parametrize(
    ("source", "change"),
    [
        *(("reduce-scatter", name) for name in MUTATIONS),
        *(("k = 3", name) for name in LIMITS),
    ],
)
def test_verify_and_the_script_refuse_every_mutant(
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


def test_what_is_no_certificate_is_refused_with_the_remedy() -> None:
    for other in ("certificate.json", time_bound("ring:nodes=4")):
        with pytest.raises(UnsupportedError, match=r"read_certificate .* certificate_of_time"):
            verify_certificate(other)  # type: ignore[call-overload]


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


def test_another_bandwidth_is_found(certificates: dict[str, str], tmp_path: Path) -> None:
    """More bandwidth into the cut than was added up."""
    changed = json.loads(certificates["reduce-scatter"])
    inside = set(changed["optimum"]["cut"])
    for link in changed["links"]:
        if link["to"] in inside and link["from"] not in inside:
            link["bandwidth_gb_s"] = "1000"
            break
    refused_by_both(changed, tmp_path / "false.json")
