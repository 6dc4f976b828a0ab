"""CollNet direct and chain, by hand."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from baselines import METHODS
from baselines.libraries.nccl_collnet import generate_chain, generate_direct
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import Allreduce, MulticastForest, cost, verify
from forestcoll.topology import Topology, load_topology

Trees = MulticastForest | Allreduce[MulticastForest]

BOTH = (generate_direct, generate_chain)


@pytest.mark.parametrize("generate", BOTH)
@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        # In each phase a GPU sends 7/8 of the data to heads, at 450 or 300 GB/s.
        ("dgx_h100:boxes=2,sharp=true", Fraction(450 * 8, 7 * 2)),
        ("dgx_h100:boxes=4,sharp=true", Fraction(450 * 8, 7 * 2)),
        ("dgx_h100:boxes=3,ib_switches=2,sharp=true", Fraction(450 * 8, 7 * 2)),
        ("dgx_a100:boxes=2,sharp=true", Fraction(300 * 8, 7 * 2)),
        # Slow NICs: each sends 1/8 of the data once in each phase, as root the total.
        ("dgx_a100:boxes=2,sharp=true,nic_bandwidth=5", 5 * 8),
    ],
)
def test_rates_by_hand(
    generate: Callable[[Topology], Trees], spec: str, algbw_gb_s: int | Fraction
) -> None:
    made = generate(load_topology(spec))
    verify(made)
    assert cost(made).algbw_gb_s == algbw_gb_s


@pytest.mark.parametrize("name", ["nccl-collnet-direct", "nccl-collnet-chain"])
def test_nvls_is_faster(name: str) -> None:
    topology = load_topology("dgx_h100:boxes=2,sharp=true")
    rate = cost(METHODS[name].run(topology)).algbw_gb_s
    assert rate < cost(METHODS["nccl-nvls"].run(topology)).algbw_gb_s


def test_a_chain_passes_all_gpus_of_a_box() -> None:
    """The walk of a slice: direct has 7 walks to the head, of which none follows another."""
    topology = load_topology("dgx_h100:boxes=2,sharp=true")
    for generate, busiest in ((generate_direct, 7), (generate_chain, 1)):
        made = generate(topology)
        assert isinstance(made, Allreduce)
        near = made.phases[1].ends()[0][made.phases[1].walk[: made.phases[1].first_walk[1]]]
        gpus = [gpu for gpu in near.tolist() if topology.nodes[gpu].is_gpu]
        inside = [gpu for gpu in gpus if topology.nodes[gpu].box == 1]
        assert max(map(inside.count, set(inside))) == busiest


def test_unsupported_networks_and_collectives_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="is a single box"):
        generate_direct(load_topology("dgx_h100:boxes=1"))
    with pytest.raises(UnsupportedError, match="nccl-collnet-chain needs a switch marked"):
        generate_chain(load_topology("dgx_h100:boxes=2"))
    with pytest.raises(InvalidParameterError, match="rails is 0"):
        generate_direct(load_topology("dgx_h100:boxes=2,sharp=true"), rails=0)
    with pytest.raises(UnsupportedError, match="nccl-collnet-direct has no allgather"):
        generate_direct(load_topology("dgx_h100:boxes=2,sharp=true"), "allgather")
