"""Certificates small enough to add up by hand: what each false claim is refused for."""

import copy
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import certify, verify_certificate
from forestcoll.errors import VerificationError
from forestcoll.problem.allreduce_certificate import AllreduceCertificate
from forestcoll.problem.certificate_document import Certificate, PricedLimitOfK
from tests.core.any_network.networks import half_duplex

Change = Callable[[Any], object]

TWO_WAYS = {
    "network": "two ways",
    "collective": "allgather",
    "k": 1,
    "congestion": "1",
    "time_s_per_gb": "1/2",
    "optimum": {
        "cut": ["a"],
        "gpus": ["a"],
        "weight": 1,
        "bandwidth_gb_s": "3/2",
        "inverse_rate": "2/3",
    },
    "fixed_k": {
        "cut": ["a"],
        "gpus": ["a"],
        "weight": 1,
        "congestion": "1",
        "trees_lacking": 1,
    },
    "gpus": [{"name": name, "weight": 1, "trees": 1} for name in "ab"],
    "forwarding": ["w"],
    "links": [
        {"from": "a", "to": "b", "bandwidth_gb_s": "1", "trees": 1},
        {"from": "b", "to": "a", "bandwidth_gb_s": "1", "trees": 1},
        *({"from": x, "to": y, "bandwidth_gb_s": "1/2", "trees": 0} for x, y in ("aw", "wb")),
        *({"from": x, "to": y, "bandwidth_gb_s": "1/2", "trees": 0} for x, y in ("bw", "wa")),
    ],
    "shared": [
        {
            "name": "wire",
            "links": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
            "bandwidth_gb_s": "2",
            "trees": 2,
        }
    ],
}
"""GPUs a and b, 1 GB/s between them and 1/2 GB/s by w. A tree each, k = 1, takes the link: U = 1
tree per GB/s, 1/2 s per GB. The cut around a says 1 / (3/2). Below U = 1 its links carry no tree.
"""

REDUCED = {
    "network": "pair",
    "collective": "allreduce",
    "k_reduce": 1,
    "k_gather": 1,
    "time_s_per_gb": "1",
    "bound": {
        "algbw_gb_s": "1",
        "proportions": False,
        "sets": [{"nodes": [name], "gather": "1", "reduce": "1"} for name in "ab"],
        "potentials": [],
        "shared": [],
    },
    "gpus": [{"name": name, "weight": 1} for name in "ab"],
    "forwarding": [],
    "links": [
        {"from": "a", "to": "b", "bandwidth_gb_s": "1", "reduce": 1, "gather": 1},
        {"from": "b", "to": "a", "bandwidth_gb_s": "1", "reduce": 1, "gather": 1},
    ],
    "shared": [
        {
            "name": "wire",
            "links": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
            "bandwidth_gb_s": "2",
        }
    ],
}
"""GPUs a and b with 1 GB/s each way: half of a GB crosses each link in each phase, 1 s in all."""


def changed(plain: dict[str, Any], *changes: Change) -> dict[str, Any]:
    made = copy.deepcopy(plain)
    for change in changes:
        change(made)
    return made


def gathered(*changes: Change) -> Certificate:
    return Certificate.model_validate(changed(TWO_WAYS, *changes))


def reduced(*changes: Change) -> AllreduceCertificate:
    return AllreduceCertificate.model_validate(changed(REDUCED, *changes))


def refused(certificate: Certificate | AllreduceCertificate, message: str) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        verify_certificate(certificate)


def forest_by_switch(made: Any) -> None:
    """The trees go by w: U = 2, 1 s per GB, though the link has U = 1."""
    for link in made["links"]:
        link["trees"] = int(link["bandwidth_gb_s"] == "1/2")
    made["shared"][0]["trees"] = 0
    made.update(congestion="2", time_s_per_gb="1")
    made["fixed_k"]["congestion"] = "1"


# --- allgather and the like ----------------------------------------------------------------------


def test_a_certificate_of_two_paths_proves_rate_and_k() -> None:
    """2 GB/s of data in all where 3 is the bound; no tree a GPU is better than U = 1."""
    verdict = verify_certificate(gathered())
    assert (verdict.gpus, verdict.roots, verdict.links, verdict.trees) == (2, 2, 6, 2)
    assert (verdict.congestion, verdict.time_s_per_gb, verdict.algbw_gb_s) == (1, Fraction(1, 2), 2)
    assert (verdict.optimal, verdict.optimal_for_k) == (False, True)
    assert verdict.model == "any schedule"


def test_a_worse_forest_is_not_called_the_best_for_its_k() -> None:
    """No congestion is below 1, which is true, and the trees by w have 2."""
    verdict = verify_certificate(gathered(forest_by_switch))
    assert (verdict.congestion, verdict.algbw_gb_s, verdict.optimal_for_k) == (2, 1, False)


def test_a_limit_that_lacks_no_tree_proves_nothing() -> None:
    """Below U = 3/2 the link carries ceil(3/2) - 1 = 1 tree, all that must cross: 0 are lacking.
    Indeed U = 1 is possible.
    """

    def claim(made: Any) -> None:
        forest_by_switch(made)
        made["fixed_k"].update(congestion="3/2", trees_lacking=0)

    refused(gathered(claim), "carry 1 trees, so 0 are lacking; 0 are claimed, and there must be")


def test_a_limit_above_the_congestion_contradicts_the_forest() -> None:
    """Trees that go in circles between w and x alone, at 8 GB/s: U = 1/8 is claimed."""

    def claim(made: Any) -> None:
        made["forwarding"].append("x")
        made["shared"] = []
        for link in made["links"]:
            link["trees"] = 0
        for x, y in ("wx", "xw"):
            made["links"].append({"from": x, "to": y, "bandwidth_gb_s": "8", "trees": 1})
        made.update(congestion="1/8", time_s_per_gb="1/16")

    refused(gathered(claim), "claims that no congestion is below 1, but the forest has 1/8")


def test_the_weight_of_a_cut_is_that_of_its_gpus() -> None:
    """A weight of 2 would make 2 / (3/2) = 4/3 s per GB the bound."""

    def claim(made: Any) -> None:
        made["optimum"].update(weight=2, inverse_rate="4/3")

    refused(gathered(claim), "the GPUs in the cut of optimum have a weight of 1, not 2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c["optimum"].update(cut=["a", "b"], gpus=["a", "b"], weight=2),
            "the cut of optimum holds every GPU; one must be outside",
        ),
        (
            lambda c: c["fixed_k"].update(cut=["a", "b"], gpus=["a", "b"], weight=2),
            "the cut of fixed_k holds every GPU; one must be outside",
        ),
        (
            lambda c: c["optimum"].update(cut=["a", "c"]),
            "the cut of optimum names c, which is not a node",
        ),
        (lambda c: c["optimum"].update(cut=["a", "a"]), "the cut of optimum names a 2 times"),
        (
            lambda c: c["optimum"].update(gpus=[]),
            "the cut of optimum holds 1 GPUs, not the 0 listed",
        ),
        (
            lambda c: c["optimum"].update(bandwidth_gb_s="1"),
            "the cut of the optimum has links of 3/2 GB/s, not 1",
        ),
        (
            lambda c: c["optimum"].update(inverse_rate="1"),
            "the optimum claims 1/x* = 1; the cut proves 2/3",
        ),
        (
            lambda c: c["shared"][0].update(links=[], trees=0),
            "wire must hold links of the network, one or more",
        ),
        (
            lambda c: c["shared"][0]["links"].append({"from": "a", "to": "c"}),
            "wire must hold links of the network, one or more",
        ),
        (
            lambda c: c["shared"][0]["links"].append({"from": "a", "to": "b"}),
            "wire holds a -> b 2 times; it must be once",
        ),
        (lambda c: c["shared"][0].update(trees=1), "the links of wire carry 2 trees, not 1"),
        (lambda c: c["shared"].append(c["shared"][0]), "the shared capacities name wire 2 times"),
        (
            lambda c: [gpu.update(weight=2, trees=2) for gpu in c["gpus"]],
            "2 GPUs have weights whose common divisor is 2; it must be 1",
        ),
        (
            lambda c: c.update(gpus=c["gpus"][:1], forwarding=["w", "b"]),
            "1 GPUs have weights whose common divisor is 1; it must be 1, for two GPUs or more",
        ),
        (lambda c: c.update(collective="broadcast"), "the weights make it allgather"),
        (lambda c: c.update(k=0), "k is 0; there must be a tree"),
        (lambda c: c["gpus"][1].update(trees=2), "b roots 2 trees; k times its weight is 1"),
        (lambda c: c["links"].append(c["links"][0]), "the links list a -> b 2 times"),
        (lambda c: c["links"][2].update(to="a"), "link a -> a must join two of the nodes"),
        (lambda c: c["links"][2].update(to="c"), "link a -> c must join two of the nodes"),
        (lambda c: c["forwarding"].append("a"), "the nodes name a 2 times; it must be once"),
        (lambda c: c.update(congestion="2"), "1 trees per GB/s, the most of any; the congestion"),
        (lambda c: c.update(time_s_per_gb="1"), "2 trees take 1/2 s per GB, not 1"),
        (lambda c: c.update(fixed_k=None), "the congestion is 1, k / x* is 2/3; fixed_k must be"),
    ],
)
def test_each_false_claim_has_its_own_message(change: Change, message: str) -> None:
    """Named where it is made, not where it does harm."""
    refused(gathered(change), message)


# --- by prices -----------------------------------------------------------------------------------


def of_the_wires() -> tuple[Certificate, PricedLimitOfK]:
    """Three wires of 64 GB/s and one of 50, k = 1: U = 7/64; 1/24 of a tree lacks below."""
    made = certify(half_duplex((64, 64, 64, 50)), k=1)
    assert isinstance(made, Certificate)
    assert isinstance(made.fixed_k, PricedLimitOfK)
    assert made.fixed_k.lacking == Fraction(1, 24)
    return made, made.fixed_k


def test_prices_count_by_their_ratios() -> None:
    """All of them six times as high: six times as much is lacking, and the bound is the same."""
    made, claim = of_the_wires()
    plain = made.model_dump(by_alias=True)
    for bound in (plain["optimum"], plain["fixed_k"]):
        for one in (*bound["cuts"], *bound["switches"], *bound["shared"]):
            one["price"] = 6 * Fraction(one["price"])
    plain["fixed_k"]["lacking"] = 6 * claim.lacking
    assert verify_certificate(Certificate.model_validate(plain)).optimal_for_k


@pytest.mark.parametrize("congestion", [Fraction(8, 64), Fraction(9, 64)])
def test_prices_below_which_nothing_is_lacking_prove_nothing(congestion: Fraction) -> None:
    """Below U = 8/64 the wires carry 3 x 7 + 6 = 27 crossings, and 24 are needed: 3/24 too many."""
    made, claim = of_the_wires()
    wider = made.model_copy(
        update={"fixed_k": claim.model_copy(update={"congestion": congestion, "lacking": 0})}
    )
    refused(wider, "are lacking; 0 are claimed, and it must be positive")
    room = 3 * (64 * congestion - 1) + -(-50 * congestion // 1) - 1
    honest = {"congestion": congestion, "lacking": (24 - room) / 24}
    refused(
        made.model_copy(update={"fixed_k": claim.model_copy(update=honest)}),
        f"{honest['lacking']} are claimed, and it must be positive",
    )


def test_prices_that_lack_nothing_at_all_prove_nothing() -> None:
    """Wires of 64 GB/s: below U = 7/64 they carry 4 x 6 = 24 crossings, just what is needed."""
    made = certify(half_duplex((64, 64, 64, 50)), k=1).model_dump(by_alias=True)
    for link in made["links"]:
        link["bandwidth_gb_s"] = Fraction(64)
    for wire in made["shared"]:
        wire["bandwidth_gb_s"] = Fraction(64)
    made["optimum"]["inverse_rate"] = Fraction(24, 256)
    plain = Certificate.model_validate(made)
    assert plain.fixed_k is not None
    claim = plain.fixed_k.model_copy(update={"lacking": Fraction(0)})
    refused(plain.model_copy(update={"fixed_k": claim}), "so 0 are lacking; 0 are claimed")


def test_prices_above_the_congestion_contradict_the_forest() -> None:
    """A tree less over each link: U = 5/64 is claimed, where the prices prove 7/64."""
    made, _ = of_the_wires()
    plain = made.model_dump(by_alias=True)
    for link in plain["links"]:
        link["trees"] -= 1
    for wire in plain["shared"]:
        wire["trees"] -= 2
    plain.update(congestion=Fraction(5, 64), time_s_per_gb=Fraction(5, 256))
    refused(
        Certificate.model_validate(plain),
        "claims that no congestion is below 7/64, but the forest has 5/64",
    )


# --- allreduce -----------------------------------------------------------------------------------


def test_a_certificate_of_an_allreduce_of_two_proves_the_optimum() -> None:
    verdict = verify_certificate(reduced())
    assert (verdict.gpus, verdict.roots, verdict.links) == (2, 2, 2)
    assert (verdict.time_s_per_gb, verdict.algbw_gb_s, verdict.bound_gb_s) == (1, 1, 1)
    assert verdict.optimal


def test_an_allreduce_may_leave_its_sum_at_one_gpu() -> None:
    """Only a roots: all of b goes there and comes back, a GB each; so too 1 s per GB."""

    def to_a(made: Any) -> None:
        made["gpus"][1]["weight"] = 0
        made["links"][0].update(reduce=0)
        made["links"][1].update(gather=0)

    verdict = verify_certificate(reduced(to_a))
    assert (verdict.gpus, verdict.roots, verdict.optimal) == (2, 1, True)


def test_the_nodes_of_a_priced_set_have_no_order() -> None:
    """Beside a, w: with or without it, 1 GB/s enters the set."""

    def beside(made: Any, nodes: list[str]) -> None:
        made["forwarding"] = ["w", "x"]
        made["bound"]["sets"][0]["nodes"] = nodes

    for nodes in (["a", "w", "x"], ["x", "a", "w"], ["w", "x", "a"]):
        made = reduced(lambda c, nodes=nodes: beside(c, nodes))
        assert verify_certificate(made).optimal


def test_loads_below_the_bound_are_refused() -> None:
    """Without the reduction each link is busy for 1/2 s, but no allreduce takes less than 1 s."""

    def nothing(made: Any) -> None:
        for link in made["links"]:
            link["reduce"] = 0
        made["time_s_per_gb"] = "1/2"

    refused(reduced(nothing), "1/2 s per GB is less than the bound of 1 GB/s admits")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c.update(gpus=c["gpus"][:1], forwarding=["b"]),
            "the weights of 1 GPUs must have the common divisor 1, for 2 or more",
        ),
        (
            lambda c: [gpu.update(weight=2) for gpu in c["gpus"]],
            "the weights of 2 GPUs must have the common divisor 1",
        ),
        (lambda c: c["links"].append(c["links"][0]), "the links list a -> b 2 times; it must"),
        (lambda c: c["links"][0].update(to="a"), "link a -> a must join two of the nodes"),
        (lambda c: c["links"][0].update(to="c"), "link a -> c must join two of the nodes"),
        (lambda c: c.update(links=[], shared=[]), "there are no links"),
        (lambda c: c["forwarding"].append("a"), "the nodes name a 2 times; it must be once"),
        (
            lambda c: c["bound"]["sets"][0].update(nodes=["a", "a"]),
            "a set of the bound names a 2 times; it must be once",
        ),
        (
            lambda c: c["bound"]["sets"][0].update(nodes=["c"]),
            "the bound names c, which is not a node",
        ),
        (
            lambda c: c["bound"]["potentials"].append(
                {"switch": "c", "gather": "1", "reduce": "0"}
            ),
            "the bound names c, which is not a node",
        ),
        (
            lambda c: c["shared"].append(c["shared"][0]),
            "nodes and shared capacities are named wire 2 times; it must be once",
        ),
        (
            lambda c: c["shared"][0].update(name="a"),
            "nodes and shared capacities are named a 2 times; it must be once",
        ),
        (
            lambda c: c["shared"][0].update(links=[]),
            "wire must hold links of the network, one or more, each once",
        ),
        (
            lambda c: c["shared"][0]["links"][0].update(to="c"),
            "wire must hold links of the network, one or more, each once",
        ),
        (
            lambda c: c["shared"][0]["links"].append(c["shared"][0]["links"][0]),
            "wire must hold links of the network, one or more, each once",
        ),
        (lambda c: c.update(time_s_per_gb="2"), "the busiest link takes 1 s per GB, not 2"),
        (
            lambda c: c["shared"][0].update(bandwidth_gb_s="1"),
            "the busiest link takes 2 s per GB, not 1",
        ),
        (lambda c: c.update(k_reduce=0), "k_reduce and k_gather must be 1 or more"),
        (lambda c: c.update(k_gather=0), "k_reduce and k_gather must be 1 or more"),
    ],
)
def test_each_false_claim_of_an_allreduce_has_its_own_message(change: Change, message: str) -> None:
    """Named where it is made, not where it does harm."""
    refused(reduced(change), message)
