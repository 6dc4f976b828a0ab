"""Certificates of all-to-alls and demands: whatever is changed is found, here and by the script."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.all_to_all.bound_certificate import certificate_of, certify_demand
from forestcoll.errors import VerificationError
from forestcoll.problem.all_to_all_certificate import AllToAllCertificate
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import verify_certificate, write_certificate
from forestcoll.topology import load_topology
from forestcoll.topology.builder import TopologyBuilder
from tests.command_line import DEMAND_SCRIPT, assert_refused, by_the_script
from tests.random_topologies import KINDS, random_topology

LINE = load_topology("torus:dims=3,wrap=false")

COPIES = Demand.of_chunks(3, [(0, 8, [1, 2]), (2, 6, [0])], "copies")


def plain() -> dict[str, Any]:
    """Two GPUs over a switch whose links share 3 GB/s, of 2 each; 12 and 10 bytes."""
    builder = TopologyBuilder()
    builder.gpu("a")
    builder.gpu("b")
    builder.switch("s")
    for gpu in ("a", "b"):
        builder.link(gpu, "s", 2)
    builder.share("wire", ["a -> s", "b -> s"], 3)
    made = certify_demand(builder.build("shared"), Demand.of_matrix([[0, 12], [10, 0]], "two"))
    return made.model_dump(mode="json", by_alias=True)


def test_by_hand_chunks_for_several_pay_for_the_farthest() -> None:
    """Price 1 on 0 -> 1 and 2 on 2 -> 1: 8 bytes pay 1, 6 pay 2, by 3 GB/s: 20 / 3 ns."""
    price = [0] * 4
    for place, link in enumerate(LINE.links):
        price[place] = {(0, 1): 1, (2, 1): 2}.get((link.tail, link.head), 0)
    made = certificate_of(PriceBound.of(LINE, COPIES, price))
    verdict = verify_certificate(made)
    assert verdict.least_us == Fraction(20, 3000)
    assert verdict.at_most_gb_s == Fraction(14 * 3, 20)
    assert (verdict.gpus, verdict.chunks, verdict.bytes, verdict.links) == (3, 2, 14, 4)
    assert verdict.collective == "all-to-all"


def test_by_hand_links_that_share_a_limit() -> None:
    """22 bytes enter the switch by 3 GB/s together; one way alone 12 by 2."""
    assert plain()["least_ns"] == "22/3"


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "less time": lambda c: c.update(least_ns="7"),
    "more time": lambda c: c.update(least_ns="8"),
    "more bytes": lambda c: c["chunks"][0].update(size=13),
    "no bytes": lambda c: c["chunks"][0].update(size=0),
    "no chunk": lambda c: c.update(chunks=[]),
    "a chunk less": lambda c: c["chunks"].pop(),
    "a chunk of nobody": lambda c: c["chunks"][0].update({"from": "c"}),
    "a chunk for nobody": lambda c: c["chunks"][0].update(to=["c"]),
    "a chunk for a switch": lambda c: c["chunks"][0].update(to=["s"]),
    "a chunk for none": lambda c: c["chunks"][0].update(to=[]),
    "a chunk for one twice": lambda c: c["chunks"][0].update(to=["b", "b"]),
    "a chunk for its source": lambda c: c["chunks"][0].update(to=["a", "b"]),
    "equal parts": lambda c: c.update(chunks=None),
    "a price of a link": lambda c: c["links"][0].update(price=7),
    "a price of the wire": lambda c: c["shared"][0].update(price=0),
    "bandwidth": lambda c: c["shared"][0].update(bandwidth_gb_s="4"),
    "a link twice": lambda c: c["links"].append(c["links"][0]),
    "a link to nowhere": lambda c: c["links"][0].update(to="c"),
    "one more link to nowhere": lambda c: c["links"].append(
        {**c["links"][0], "to": "c", "price": 0}
    ),
    "a link to itself": lambda c: c["links"][0].update(to=c["links"][0]["from"]),
    "a link away": lambda c: c["links"].pop(),
    "a GPU twice": lambda c: c.update(gpus=["a", "a", "b"]),
    "one GPU": lambda c: c.update(gpus=["a"], chunks=None),
    "the wire twice": lambda c: c["shared"].append(c["shared"][0]),
    "the wire as a node": lambda c: c["shared"][0].update(name="s"),
    "the wire without links": lambda c: c["shared"][0].update(links=[]),
    "a link of the wire twice": lambda c: c["shared"][0]["links"].append(
        c["shared"][0]["links"][0]
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_verify_and_the_script_refuse_every_mutant(change: str, tmp_path: Path) -> None:
    changed, was = plain(), plain()
    CHANGES[change](changed)
    assert changed != was
    with pytest.raises(VerificationError):
        verify_certificate(AllToAllCertificate.model_validate(changed))
    path = tmp_path / "false.json"
    path.write_text(json.dumps(changed))
    assert by_the_script(path, DEMAND_SCRIPT).returncode == 1


def test_the_command_refuses_too(tmp_path: Path) -> None:
    path = tmp_path / "false.json"
    path.write_text(json.dumps({**plain(), "least_ns": "7"}))
    assert_refused("that is no 7 ns", "verify", path, code=1)


def test_every_price_and_size_counts() -> None:
    """On the links of a demand of all pairs; by one more each, and half the bandwidth."""
    right = certify_demand("dgx_a100:boxes=2").model_dump(by_alias=True)
    busy = [i for i, link in enumerate(right["links"]) if link["price"]]
    for place in (*busy[:2], busy[-1]):
        for key, value in (("price", 5), ("bandwidth_gb_s", Fraction(1))):
            changed = copy.deepcopy(right)
            changed["links"][place][key] = value
            with pytest.raises(VerificationError):
                verify_certificate(AllToAllCertificate.model_validate(changed))
    assert verify_certificate(AllToAllCertificate.model_validate(right)).at_most_gb_s == 50


@pytest.mark.parametrize("seed", range(6))
def test_verify_and_the_script_compute_the_bound_of_any_prices(seed: int, tmp_path: Path) -> None:
    """On random networks with random whole prices, demands of several targets included."""
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    gpus = topology.num_compute
    if gpus < 2:
        return
    draw = np.random.default_rng(seed)
    price = draw.integers(0, 4, len(topology.links) + len(topology.shared)).tolist()
    chunks = [(s, int(draw.integers(1, 99)), draw.integers(0, gpus, 2).tolist()) for s in (0, 1)]
    chunks.append((0, 5, [1]))
    for demand in (None, Demand.of_chunks(gpus, chunks)):
        bound = PriceBound.of(topology, demand, price)
        if not bound.inverse_rate:
            continue
        made, path = certificate_of(bound), tmp_path / "certificate.json"
        assert verify_certificate(made).least_us == bound.inverse_rate / 1000
        write_certificate(made, path)
        script = by_the_script(path, DEMAND_SCRIPT)
        assert (script.returncode, script.stderr) == (0, ""), topology
        assert f"takes {bound.inverse_rate} ns, not less" in script.stdout


def test_certificates_too_large_to_check_are_refused_early() -> None:
    """Many GPUs, a price that no float holds, and bandwidths without a common denominator."""
    right = certify_demand("ring:nodes=4").model_dump(by_alias=True)
    many = {**right, "gpus": [f"g{i}" for i in range(4000)], "links": [], "shared": []}
    with pytest.raises(VerificationError, match="too many to check"):
        verify_certificate(AllToAllCertificate.model_validate(many))
    dear = copy.deepcopy(right)
    dear["links"][0]["price"] = 2**33
    with pytest.raises(VerificationError, match="a price is above"):
        verify_certificate(AllToAllCertificate.model_validate(dear))
    odd = copy.deepcopy(right)
    for place, link in enumerate(odd["links"]):
        link.update(price=1, bandwidth_gb_s=Fraction(1, 10**290 + 2 * place + 1))
    with pytest.raises(VerificationError, match="common denominator of over 300 digits"):
        verify_certificate(AllToAllCertificate.model_validate(odd))
    heavy = {**right, "chunks": [{"from": "gpu0", "to": ["gpu1"], "size": 10**15}]}
    with pytest.raises(VerificationError, match="in all"):
        verify_certificate(AllToAllCertificate.model_validate(heavy))
    free = copy.deepcopy(right)
    for link in free["links"]:
        link["price"] = 0
    with pytest.raises(VerificationError, match="they prove nothing"):
        verify_certificate(AllToAllCertificate.model_validate(free))
