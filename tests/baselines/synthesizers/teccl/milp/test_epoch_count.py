"""Algorithm 1: what it estimates is enough, or made enough."""

from fractions import Fraction

import pytest

import baselines.synthesizers.teccl.milp.epoch_count as epoch_count
from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from baselines.synthesizers.teccl.milp.epoch_count import (
    COUNTS,
    estimated_epochs,
    within_estimate,
)
from baselines.synthesizers.teccl.milp.horizon import fewest_epochs
from forestcoll.errors import TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.topology import load_topology


def asked(spec: str, crossing: str = "through"):
    topology = load_topology(spec)
    demand = demand_of(topology.num_compute, "allgather", 1, 10**6)
    epoch = epoch_us(topology, demand.chunk_kb, "fastest")

    def rounded(length: Fraction) -> EpochNetwork:
        return EpochNetwork.of(topology, demand.chunk_kb, length, crossing)

    return rounded, demand, epoch


@pytest.mark.parametrize(
    ("spec", "crossing"),
    [
        *(("dgx1", "through"), ("dgx1", "stored"), ("ring:nodes=7", "through")),
        ("hypercube:dimension=3", "through"),
        pytest.param("paper_example", "stored", marks=pytest.mark.slow),
    ],
)
def test_the_estimate_is_enough(spec: str, crossing: str) -> None:
    rounded, demand, epoch = asked(spec, crossing)
    least = fewest_epochs(rounded(epoch), demand, "cp-sat", Limits())
    assert least.epochs == least.bound
    epochs, found = within_estimate(rounded, demand, epoch, "cp-sat", Limits())
    assert least.epochs <= found.epochs <= epochs <= 3 * least.epochs
    assert found.bound <= least.epochs


def test_the_estimate_is_a_time_in_coarse_epochs() -> None:
    rounded, demand, epoch = asked("ring:nodes=7")
    estimate = estimated_epochs(rounded, demand, epoch, "cp-sat", Limits())
    assert estimate.coarse in COUNTS
    assert estimate.epochs == -(-estimate.total_us // epoch)


def test_an_estimate_that_is_too_small_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path of 5 takes 4 epochs; asked for 2, then 3, then 4 of them."""
    rounded, demand, epoch = asked("torus:dims=5,wrap=false")
    small = epoch_count.Estimate(2, 2 * epoch, 4)
    monkeypatch.setattr(epoch_count, "estimated_epochs", lambda *asked: small)
    epochs, found = within_estimate(rounded, demand, epoch, "cp-sat", Limits())
    assert (epochs, found.epochs, found.bound) == (4, 4, 4)


def test_no_time_is_reported() -> None:
    for search in (estimated_epochs, within_estimate):
        with pytest.raises(TimeLimitError, match="nothing found on ring") as caught:
            search(*asked("ring:nodes=5"), "cp-sat", Limits(seconds=0))
        assert caught.value.bound == 2
