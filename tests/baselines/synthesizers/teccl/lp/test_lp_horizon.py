"""The fewest epochs of flows: bounds, limits, and whole chunks beside parts of them."""

import pytest

from baselines.synthesizers.teccl.lp.lp_horizon import (
    fewest_epochs,
    least_epochs_of_flows,
    within_epochs,
)
from baselines.synthesizers.teccl.milp import horizon
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.problem.limits import Limits
from tests.baselines.once_each import every
from tests.baselines.synthesizers.teccl.instances import instance
from tests.random_topologies import random_topology


@pytest.mark.parametrize(
    ("spec", "epoch", "least"),
    [
        ("ring:nodes=5", "fastest", 3),
        ("torus:dims=5,wrap=false", "fastest", 6),  # 2 x 3 over a link next to the middle
        ("ndv2:chassis=2", "slowest", 64),  # 8 x 8 chunks over one link
    ],
)
def test_no_epochs_below_the_bandwidths(spec: str, epoch: str, least: int) -> None:
    network, demand = instance(spec, "all-to-all", epoch=epoch, size_bytes=10**9)
    assert least_epochs_of_flows(network, demand, Limits()) == least


@pytest.mark.parametrize("crossing", ["through", "stored"])
@pytest.mark.parametrize("kind", ["directed", "bidirectional", "unbalanced"])
@pytest.mark.parametrize("seed", every(2, range(2)))
@pytest.mark.each_value_once
def test_parts_take_no_more_epochs_than_whole_chunks(seed: int, kind: str, crossing: str) -> None:
    network, demand = instance(random_topology(seed, kind), "all-to-all", crossing=crossing)
    found = fewest_epochs(network, demand, "highs", Limits())
    assert found.epochs == found.bound
    try:
        whole = horizon.fewest_epochs(network, demand, "cp-sat", Limits(seconds=1))
    except TimeLimitError:
        return
    assert found.epochs <= whole.epochs


def test_the_search_doubles_and_then_bisects(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a bound that is too low: up by 1, 2, 4, then by halves."""
    import baselines.synthesizers.teccl.lp.lp_horizon as module

    network, demand = instance("ring:nodes=7,bidirectional=false", "all-to-all")
    tried: list[int] = []
    real = module.write

    def write(network, demand, epochs):
        tried.append(epochs)
        return real(network, demand, epochs)

    monkeypatch.setattr(module, "least_epochs_of_flows", lambda *_: 6)
    monkeypatch.setattr(module, "write", write)
    found = fewest_epochs(network, demand, "highs", Limits())
    assert (found.epochs, found.bound) == (21, 21)
    assert tried == [6, 8, 12, 20, 36, 28, 24, 22, 21]


def test_a_number_of_epochs_that_is_given() -> None:
    network, demand = instance("ring:nodes=5", "all-to-all")
    assert within_epochs(network, demand, 5, "highs", Limits()).epochs == 5
    with pytest.raises(InfeasibleError, match="2 epochs are too few on ring"):
        within_epochs(network, demand, 2, "highs", Limits())


def test_the_time_limit_reports_the_bound() -> None:
    network, demand = instance("ring:nodes=5", "all-to-all")
    for limits, bound in ((Limits(seconds=0), 2), (Limits(seconds=1e-9), 2)):
        with pytest.raises(TimeLimitError) as caught:
            fewest_epochs(network, demand, "highs", limits)
        assert caught.value.bound == bound
