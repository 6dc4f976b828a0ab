"""Certificates of least times: whatever is changed is found, here and by the script."""

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import certificate_of_time, group, time_bound
from forestcoll.errors import VerificationError
from forestcoll.problem.over_time.time_bound import PassesOverTime
from forestcoll.problem.over_time.time_certificate import TimeCertificate
from forestcoll.schedule import read_certificate, verify_certificate, write_certificate
from forestcoll.schedule.verification.certificates import least_times
from forestcoll.topology import Topology, load_topology
from tests.command_line import assert_refused, by_the_script
from tests.fuzz.any_network import shared
from tests.schedule.verification.certificates.time_certificates import (
    BOXES,
    MAKERS,
    cut,
    of_sums,
    of_trees,
    written,
)
from tests.schedule.verification.test_passes import BY_HAND, sets_named


@pytest.mark.parametrize(
    ("name", "least", "proof", "model"),
    [
        ("cut", "115/4", "cut over time", "any schedule"),
        ("trees", "34", "rate after a delay", "switches only forward"),
        ("sums", "4000090/9", "rate after a delay", "each piece summed up at one GPU; "),
        ("pairs", "1000030/3", "rate after a delay", "any schedule"),
        ("passes", "20", "passes over time", "any allreduce if no switch reduces and mult"),
        ("passes of pairs", "30", "passes over time", "any allreduce if no switch reduces"),
        ("gossip", "22", "gossip over time", "any schedule"),
        ("broadcast", "28", "gossip over time", "any schedule"),
        ("reduce", "28", "gossip over time", "any schedule"),
        ("own", "28", "gossip over time", "any schedule"),
        ("copies", "23", "gossip over time", "any schedule"),
        ("late copies", "23", "gossip over time", "any schedule"),
        ("hops", "60", "gossip over time", "any schedule"),
        ("halves", "40", "gossip over time", "any schedule"),
        ("home", "12", "gossip over time", "any schedule"),
        ("root bus", "18", "gossip over time", "any schedule"),
        ("behind", "49/3", "gossip over time", "any schedule"),
        ("bus", "214/9", "gossip over time", "any schedule"),
        ("inwards", "214/9", "gossip over time", "any schedule"),
        ("wire", "13", "gossip over time", "any schedule"),
        ("buses", "22", "gossip over time", "any schedule"),
    ],
)
def test_right_ones_are_proved_by_both(
    name: str, least: str, proof: str, model: str, tmp_path: Path
) -> None:
    """1 GB on a torus of 9: 10 us and 4/9 ms a MB for sums, 1/3 for pairs."""
    made, path = TimeCertificate.model_validate(MAKERS[name]()), tmp_path / "c.json"
    verdict = verify_certificate(made)
    assert (str(verdict.at_least_us), verdict.proof) == (least, proof)
    assert verdict.model.startswith(model)
    assert verdict.at_most_gb_s == verdict.size_bytes / (1000 * verdict.at_least_us)
    write_certificate(made, path)
    assert read_certificate(path) == made
    assert f"takes {least} us or more" in by_the_script(path).stdout


@pytest.mark.parametrize(("network", "sets", "reach", "size", "least"), BY_HAND)
def test_passes_by_hand_are_proved_by_both_and_no_later_time(
    network: Topology, sets: str, reach: int, size: int, least: int, tmp_path: Path
) -> None:
    proof = PassesOverTime(tuple(map(tuple, sets_named(network, sets))), Fraction(reach))
    bound = replace(time_bound(network, "allreduce", size), proof=proof)
    made = certificate_of_time(replace(bound, time_us=Fraction(least)))
    verify_certificate(made)
    write_certificate(made, tmp_path / "c.json")
    assert f"takes {least} us or more" in by_the_script(tmp_path / "c.json").stdout
    later = made.model_copy(update={"time_us": Fraction(least) + Fraction(1, 1000)})
    with pytest.raises(VerificationError, match="bytes in passes between the sets, more than"):
        verify_certificate(later)
    write_certificate(later, tmp_path / "c.json")
    assert by_the_script(tmp_path / "c.json").returncode == 1


def _label(node: str, us: str) -> Callable[[dict[str, Any]], Any]:
    def change(c: dict[str, Any]) -> None:
        next(one for one in c["proof"]["labels"] if one["node"] == node)["us"] = us

    return change


def _prices(c: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = c["proof"]["prices"]
    return found


def _first(c: dict[str, Any], what: str) -> dict[str, Any]:
    found: dict[str, Any] = c["links" if what == "link" else what][0]
    return found


def _early(document: dict[str, Any]) -> Any:
    """A time by which little is carried, so that the sets alone can be wrong."""
    document["time_us"] = "1/100"
    return document["proof"]


CHANGES: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "later": ("cut", lambda c: c.update(time_us="29")),
    "later than a switch reduces": ("behind", lambda c: c.update(time_us="18")),
    "later gossip over a bus": ("bus", lambda c: c.update(time_us="24")),
    "later gossip over a wire of a bus": ("wire", lambda c: c.update(time_us="30")),
    "later gossip over two buses": ("buses", lambda c: c.update(time_us="221/10")),
    "gossip over a bus that does not count": ("bus", lambda c: c["proof"]["shared"].clear()),
    "gossip over no bus": ("bus", lambda c: c["proof"]["shared"].append("tram")),
    "gossip over a wider bus": ("bus", lambda c: c["shared"][0].update(bandwidth_gb_s="3/2")),
    "gossip over a bus of one link": ("bus", lambda c: c["shared"][0]["links"].pop()),
    "a later broadcast": ("broadcast", lambda c: c.update(time_us="2801/100")),
    "a later reduce": ("reduce", lambda c: c.update(time_us="2801/100")),
    "a later broadcast to own GPUs": ("own", lambda c: c.update(time_us="2801/100")),
    "a later reduce over a bus": ("root bus", lambda c: c.update(time_us="1801/100")),
    "a later broadcast of copies": ("copies", lambda c: c.update(time_us="2301/100")),
    "a later broadcast with hops": ("hops", lambda c: c.update(time_us="6001/100")),
    "copies from the start on": ("copies", lambda c: c["proof"].update(since_us="0")),
    "a later broadcast of late copies": ("late copies", lambda c: c.update(time_us="2301/100")),
    "copies that leave the root too late": (
        "late copies",
        lambda c: (c["proof"].update(since_us="33"), c.update(time_us="2301/100")),
    ),
    "a reduce the other way": ("broadcast", lambda c: c.update(collective="reduce")),
    "later passes": ("passes", lambda c: c.update(time_us="2001/100")),
    "later passes of pairs": ("passes of pairs", lambda c: c.update(time_us="3001/100")),
    "passes of a longer reach": ("passes of pairs", lambda c: c["proof"].update(reach_us="11")),
    "passes of a shorter reach": ("passes of pairs", lambda c: c["proof"].update(reach_us="9")),
    "passes without a GPU": ("passes", lambda c: _early(c)["sets"].pop()),
    "passes of one set": ("passes of pairs", lambda c: _early(c)["sets"].pop()),
    "passes of a GPU twice": ("passes", lambda c: _early(c)["sets"][1].append("c")),
    "passes of nobody": ("passes", lambda c: _early(c)["sets"].append(["s"])),
    "passes of an all-to-all": ("passes", lambda c: c.update(collective="all-to-all")),
    "passes of an allgather": ("passes", lambda c: c.update(collective="allgather")),
    "passes as gossip": ("passes", lambda c: _early(c).pop("reach_us")),
    "passes over faster links": (
        "passes",
        lambda c: [e.update(bandwidth_gb_s="2") for e in c["links"]],
    ),
    "later gossip": ("gossip", lambda c: c.update(time_us="2201/100")),
    "gossip without a GPU": ("gossip", lambda c: _early(c)["sets"][1].pop()),
    "gossip of one set": ("gossip", lambda c: c["proof"]["sets"].pop()),
    "gossip of one GPU in two sets": ("gossip", lambda c: _early(c)["sets"][0].append("c")),
    "gossip of a GPU twice": ("gossip", lambda c: _early(c)["sets"][1].append("c")),
    "gossip of a node that is not there": ("gossip", lambda c: _early(c)["sets"][1].append("x")),
    "gossip of nobody": ("gossip", lambda c: c["proof"]["sets"].append(["s"])),
    "gossip of an allgather": ("gossip", lambda c: c.update(collective="allgather")),
    "later with its sinks": (
        "cut",
        lambda c: (
            c.update(time_us="29"),
            *(_label(n, "29")(c) for n in ("b0.gpu0", "b0.nvswitch")),
        ),
    ),
    "fewer bytes": ("cut", lambda c: c.update(size_bytes=3_999_999)),
    "no bytes": ("cut", lambda c: c.update(size_bytes=0)),
    "less alpha": ("cut", lambda c: c.update(alpha_us="9")),
    "another collective": ("cut", lambda c: c.update(collective="reduce-scatter")),
    "of pairs": ("cut", lambda c: c.update(collective="broadcast")),
    "a label later": ("cut", _label("ib", "20")),
    "a label earlier": ("cut", _label("b0.gpu3", "1")),
    "a label beyond": ("cut", _label("ib", "30")),
    "no sink": ("cut", _label("b0.gpu0", "1")),
    "no label of a node": ("cut", lambda c: c["proof"]["labels"].pop()),
    "a label twice": (
        "cut",
        lambda c: c["proof"]["labels"].append(c["proof"]["labels"][0]),
    ),
    "a label of nobody": ("cut", lambda c: c["proof"]["labels"][0].update(node="nobody")),
    "a source without data": (
        "cut",
        lambda c: [g.update(weight=0) for g in c["gpus"] if g["name"].startswith("b1")],
    ),
    "no data at all": ("cut", lambda c: [g.update(weight=0) for g in c["gpus"]]),
    "wider links": ("cut", lambda c: [e.update(bandwidth_gb_s="301") for e in c["links"]]),
    "a link to nobody": ("cut", lambda c: _first(c, "link").update(to="nobody")),
    "a link to itself": ("cut", lambda c: _first(c, "link").update(to="b0.gpu0")),
    "a link twice": ("cut", lambda c: c["links"].append(c["links"][0])),
    "a GPU twice": ("cut", lambda c: c["gpus"].append(c["gpus"][0])),
    "one GPU": ("cut", lambda c: c.update(gpus=c["gpus"][:1])),
    "a GPU as a switch": ("cut", lambda c: c["forwarding"].append("b0.gpu0")),
    "a relay that is none": ("cut", lambda c: c["relays"].append("b0.gpu0")),
    "a relay that multicasts": (
        "cut",
        lambda c: (c["relays"].append("ib"), c["multicast"].append("ib")),
    ),
    "later after a delay": ("trees", lambda c: c.update(time_us="35")),
    "earlier after a delay": ("trees", lambda c: c.update(time_us="33")),
    "a longer delay": (
        "trees",
        lambda c: (c.update(time_us="35"), c["proof"].update(delay_us="5")),
    ),
    "a lower rate": (
        "trees",
        lambda c: (c.update(time_us="64"), c["proof"].update(algbw_gb_s="1/6")),
    ),
    "another rate alone": ("trees", lambda c: c["proof"].update(algbw_gb_s="1/6")),
    "another rate of pairs": ("pairs", lambda c: c["proof"].update(algbw_gb_s="2")),
    "a wider link after a delay": (
        "trees",
        lambda c: [e.update(bandwidth_gb_s="2") for e in c["links"]],
    ),
    "a faster link": ("trees", lambda c: [e.update(latency_us="0") for e in c["links"]]),
    "a switch that multicasts": ("trees", lambda c: c["multicast"].append("s")),
    "a cut of all": (
        "trees",
        lambda c: _prices(c)["cuts"][0].update(nodes=["r", "a", "b", "c"]),
    ),
    "a cut of nobody": ("trees", lambda c: _prices(c)["cuts"][0].update(nodes=["nobody"])),
    "a price of a GPU": ("trees", lambda c: _prices(c)["switches"][0].update(switch="a")),
    "a price twice": (
        "trees",
        lambda c: _prices(c)["switches"].append(_prices(c)["switches"][0]),
    ),
    "a price of no limit": (
        "trees",
        lambda c: _prices(c)["shared"].append({"name": "wire", "price": "1"}),
    ),
    "trees as sums": ("trees", lambda c: c.update(collective="allreduce")),
    "another weight": ("trees", lambda c: c["gpus"][1].update(weight=1)),
    "a set less": ("sums", lambda c: _prices(c)["sets"].pop()),
    "a set of nobody": ("sums", lambda c: _prices(c)["sets"][0].update(nodes=["nobody"])),
    "a higher price of a set": ("sums", lambda c: _prices(c)["sets"][0].update(gather="7")),
    "a potential of a GPU": (
        "sums",
        lambda c: _prices(c)["potentials"].append(
            {"switch": "gpu0.0", "gather": "1", "reduce": "0"}
        ),
    ),
    "sums as pairs": ("sums", lambda c: c.update(collective="all-to-all")),
    "sums of some": ("sums", lambda c: c["gpus"][0].update(weight=2)),
    "pairs as sums": ("pairs", lambda c: c.update(collective="allreduce")),
    "a price of a link": ("pairs", lambda c: _prices(c)["links"][0].update(price=7)),
    "a price less": ("pairs", lambda c: _prices(c)["links"].pop()),
    "a price of a link twice": (
        "pairs",
        lambda c: _prices(c)["links"].append(_prices(c)["links"][0]),
    ),
    "a price of no link": (
        "pairs",
        lambda c: _prices(c)["links"].append({"from": "gpu0.0", "to": "gpu1.1", "price": 0}),
    ),
    "a price of no shared capacity": (
        "pairs",
        lambda c: _prices(c)["shared"].append({"name": "wire", "price": 1}),
    ),
    "no prices": ("pairs", lambda c: _prices(c).update(links=[])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_both_refuse(change: str, tmp_path: Path) -> None:
    name, apply = CHANGES[change]
    was = MAKERS[name]()
    changed = copy.deepcopy(was)
    apply(changed)
    assert changed != was
    with pytest.raises(VerificationError) as refusal:
        verify_certificate(TimeCertificate.model_validate(changed))
    assert "\n" not in str(refusal.value)
    path = tmp_path / "false.json"
    path.write_text(json.dumps(changed))
    assert by_the_script(path).returncode == 1


def test_the_command_refuses_too(tmp_path: Path) -> None:
    path = tmp_path / "false.json"
    path.write_text(json.dumps({**cut(), "size_bytes": 1}))
    assert_refused("more than the 1/2 that must cross it", "verify", path, code=1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "collective", ["allgather", "reduce-scatter", "broadcast", "reduce", "allreduce", "all-to-all"]
)
def test_both_add_up_what_the_search_finds(collective: str, seed: int, tmp_path: Path) -> None:
    """On random networks with shared capacities; small and large data."""
    network = shared(random.Random(seed))
    root = {"root": 0} if collective in ("broadcast", "reduce") else {}
    if root:
        root["root"] = network.num_compute - 1
    for size in (100, 10**7):
        bound = time_bound(network, collective, size, 3, **root)
        made, path = certificate_of_time(bound), tmp_path / "certificate.json"
        assert verify_certificate(made).at_least_us == bound.time_us
        write_certificate(made, path)
        script = by_the_script(path)
        assert (script.returncode, script.stderr) == (0, ""), network
        assert f"takes {bound.time_us} us or more" in script.stdout


@pytest.mark.parametrize(
    ("network", "collective"),
    [
        ("dgx_h100:boxes=2,sharp=true", "allreduce"),
        (group(load_topology(BOXES), ["b0.gpu0", "b1.gpu1"], idle="forward"), "allgather"),
    ],
)
def test_switches_that_multicast_and_relays_are_named(
    network: Topology | str, collective: str, tmp_path: Path
) -> None:
    made, path = written(network, collective, 10**7), tmp_path / "c.json"
    assert made["multicast"] if collective == "allreduce" else len(made["relays"]) == 14
    path.write_text(json.dumps(made))
    verify_certificate(read_certificate(path))
    assert by_the_script(path).returncode == 0


def test_what_takes_too_long_to_add_up_is_refused_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Latencies without a common denominator, and many sets times many links."""
    odd = cut()
    for place, link in enumerate(odd["links"]):
        link["latency_us"] = f"1/{10**60 + 2 * place + 1}"
    with pytest.raises(VerificationError, match="common denominator of over 2000 bits"):
        verify_certificate(TimeCertificate.model_validate(odd))
    held = [{"from": "b0.gpu0", "to": "ib"}]
    limits = [
        {"name": f"w{i}", "links": held, "bandwidth_gb_s": f"1/{10**60 + 2 * i + 1}"}
        for i in range(30)
    ]
    with pytest.raises(VerificationError, match="common denominator of over 2000 bits"):
        verify_certificate(TimeCertificate.model_validate({**cut(), "shared": limits}))
    for price in ("gather", "reduce"):
        sums = of_sums()
        for place, one in enumerate(_prices(sums)["sets"] * 4):
            _prices(sums)["sets"].append({**one, price: f"1/{10**60 + 2 * place + 1}"})
        with pytest.raises(VerificationError, match="common denominator of over 2000 bits"):
            verify_certificate(TimeCertificate.model_validate(sums))
    monkeypatch.setattr(least_times, "_MOST_WORK", 7)
    many = of_trees()  # 4 links, a cut and a switch
    with pytest.raises(VerificationError, match="too many to check"):
        verify_certificate(TimeCertificate.model_validate(many))


def test_one_gpu_alone_is_named() -> None:
    alone = {**cut(), "gpus": [{"name": "b0.gpu0", "weight": 1}]}
    with pytest.raises(VerificationError, match="1 GPU has no other GPU"):
        verify_certificate(TimeCertificate.model_validate(alone))


def test_equal_numbers_in_another_form_are_as_good() -> None:
    """115/4 as 230/8."""
    made = cut()
    made["time_us"] = "230/8"
    assert verify_certificate(TimeCertificate.model_validate(made)).at_least_us == Fraction(115, 4)
