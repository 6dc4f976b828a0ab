"""All-to-alls to within 1 + eps."""

import itertools
import time

import numpy as np
import pytest

from forestcoll.all_to_all.concurrent_flow import approximate_flow
from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.errors import (
    InvalidParameterError,
    TimeLimitError,
)
from forestcoll.topology import (
    load_topology,
)
from tests.all_to_all.rates import (
    delivered,
    optimum,
)
from tests.random_topologies import random_topology


def test_bounds_of_the_approximation_enclose_the_rate_of_table_7() -> None:
    """Pi_4,64, 2.17e-2: within 1 %, of flows that meet demands and bandwidths."""
    topology = load_topology("generalized_kautz:degree=4,nodes=64")
    near = approximate_flow(flow_problem(topology), eps=0.01, seconds=60)
    assert near.gap <= 0.01
    assert near.rate_gb_s <= 15 / 691 <= near.bound_gb_s  # what the program finds, as a fraction
    load = near.flow_gb_s.sum(axis=0)
    assert load.max() <= 1 + 1e-9
    arrived = np.zeros((64, 64))
    np.add.at(arrived.T, near.demands.head, near.flow_gb_s.T)
    np.subtract.at(arrived.T, near.demands.tail, near.flow_gb_s.T)
    wanted = near.rate_gb_s * near.demands.amount
    wanted -= np.diag(wanted.sum(axis=1))
    np.testing.assert_allclose(arrived, wanted, atol=1e-7 * near.rate_gb_s)


def test_no_spending_is_not_the_end_of_the_prices() -> None:
    """A network on which the quasi-Newton steps once priced every link at 0, and never ended."""
    demands = flow_problem(random_topology(826, "bidirectional"))
    near = approximate_flow(demands, seconds=20)
    assert near.gap <= 0.01
    assert np.isfinite(near.price).all()


@pytest.mark.parametrize("seed", [2, 6])
def test_phases_go_on_where_softened_routing_ends(seed: int) -> None:
    """On small networks, softening does not get to 0.1 %; Garg and Koenemann's phases do."""
    topology = random_topology(seed, "bidirectional" if seed < 6 else "unbalanced")
    demands = flow_problem(topology)
    near = approximate_flow(demands, eps=0.001, seconds=20)
    assert near.phases > 0
    assert near.gap <= 0.001
    assert (near.flow_gb_s.sum(axis=0) <= demands.bandwidth * (1 + 1e-9)).all()
    assert delivered(near.demands, near.flow_gb_s) == pytest.approx(near.rate_gb_s)
    found = optimum(topology)
    assert near.rate_gb_s <= found.bound_gb_s * (1 + 1e-9)
    assert near.bound_gb_s >= found.rate_gb_s * (1 - 1e-9)


def test_an_approximation_at_its_limit_leaves_flow_and_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A second passes between two looks at the clock, so that the end comes early on any machine.
    seconds = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))
    topology = load_topology("generalized_kautz:degree=4,nodes=64")
    with pytest.raises(TimeLimitError, match="allow more time") as limit:
        approximate_flow(flow_problem(topology), eps=0.001, seconds=100)
    found = limit.value.incumbent
    assert found is not None
    assert found.rate_gb_s <= 15 / 691 <= limit.value.bound
    with pytest.raises(InvalidParameterError, match="eps"):
        approximate_flow(flow_problem(topology), eps=0)
