"""Hypothesis strategies for networks; what a network is made of is in ``random_topologies``."""

from collections.abc import Sequence

from hypothesis import strategies as st

from forestcoll.topology.model import Topology
from tests.random_topologies import KINDS, build_topology


@st.composite
def topologies(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> Topology:
    """Draw a network of at most 10 nodes on which an allgather is possible.

    It shrinks towards two GPUs and one link of 1 GB/s each way.
    """
    kind = draw(st.sampled_from(kinds))
    return build_topology(kind, lambda low, high: draw(st.integers(low, high)))
