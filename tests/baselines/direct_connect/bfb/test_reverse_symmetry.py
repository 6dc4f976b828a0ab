"""Networks like their reverse, and what that is good for."""

import numpy as np
import pytest

from baselines.direct_connect.bfb.bfb import generate
from baselines.direct_connect.bfb.reverse_symmetry import carried_over, mirrored
from forestcoll.errors import VerificationError
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.schedule.transform import time_reversed
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    "spec",
    [
        "torus:dims=3x4",
        "de_bruijn:degree=2,length=3",
        "directed_circulant:degree=4",
        "ring:nodes=5,bidirectional=false",
        "modified_de_bruijn:degree=2,length=3",
    ],
)
def test_the_reduce_scatter_takes_as_long_as_the_allgather(spec: str) -> None:
    """Theorem 2; the map found takes every link to one of the reverse."""
    topology = load_topology(spec)
    place = mirrored(topology)
    assert place is not None
    links = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
    assert {(int(place[h]), int(place[t])): b for (t, h), b in links.items()} == links
    gather = generate(topology)
    reverse = carried_over(gather, place, topology.reversed())
    verify(reverse)
    reduction = time_reversed(reverse, topology)
    verify(reduction)
    assert reduction.collective == "reduce-scatter"
    assert reduction.num_steps == gather.num_steps
    assert synchronous(reduction).time_s_per_gb == synchronous(gather).time_s_per_gb


@pytest.mark.parametrize(
    "spec",
    ["generalized_kautz:degree=4,nodes=9", "diamond", "modified_de_bruijn:degree=2,length=4"],
)
def test_some_are_not_like_their_reverse(spec: str) -> None:
    """Table 9 says so of these."""
    assert mirrored(load_topology(spec)) is None


def test_a_wrong_map_is_no_schedule_of_the_network() -> None:
    """GPUs 1 and 2 change places, though they are on different sides."""
    topology = load_topology("complete_bipartite:degree=2")
    with pytest.raises(VerificationError):
        verify(carried_over(generate(topology), np.array([0, 2, 1, 3]), topology))
